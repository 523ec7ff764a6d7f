"""WatchGame: sends every version of a game once and in order to thousands of watchers, without a thread per watcher.

How a change reaches a watcher:

    a commit, by any process                           the store
      │  notification on the game's channel            `service.store.notifications`: one connection per process
      ▼
    the game is read, once for all its watchers        `watchers.Watchers`: two threads
      │  the commits since the last read
      ▼
    each watcher that is behind is sent an update      `senders.Senders`: a few threads; a message that several
                                                       watchers need is built once (`watched_game.WatchedGame`)

**Nothing is queued per watcher.** A watcher has a cursor: the head of the game up to which it has received messages. It
is sent one message at a time, built when it is sent, from its cursor to the newest version. A watcher that is behind
catches up in one message, and none needs more memory than another.

**Nothing is lost.** Whatever triggers a read (a notification, a new subscription, a heartbeat), the game is read from
the log, from the version that was read last. The nonce of that version must be the known one; otherwise the store has
lost commits in a failover, and every watcher receives a snapshot.

**No watcher waits for another.** gRPC blocks the sending thread until the reader's flow control admits the message.
Blocked threads are replaced. A reader that blocks a thread for long receives STALLED, or is cancelled if it still does
not read. This happens earlier if very many readers are slow. Prompt readers have separate threads. Each message is
queued separately, so that a busy game does not delay the watchers of other games.
"""

from service.watching.errors import WatchLimitReached
from service.watching.limits import Claim, Limits
from service.watching.resume import resume_head, resume_token
from service.watching.watcher import Audience, Stream
from service.watching.watchers import Watchers

__all__ = ["Audience", "Claim", "Limits", "Stream", "WatchLimitReached", "Watchers", "resume_head", "resume_token"]
