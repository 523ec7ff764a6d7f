"""WatchGame: every version of a game once and in order, to thousands of watchers, without a thread for each.

How a change reaches a watcher:

    a commit, on any process                           the store
      │  hint on the game's channel                    `service.store.notifications`: one connection a process
      ▼
    the game is read, once for all its watchers        `watchers.Watchers`: two threads
      │  what happened since it was last read
      ▼
    each watcher that lags is sent what it lacks       `senders.Senders`: a few threads; a message that several
                                                       watchers need is built once (`game.WatchedGame`)

**Nothing is queued.** A watcher has a cursor: the head of the game that it has been told. It is sent one message at a
time, made when its turn comes, from its cursor to the newest version. So a watcher that is behind catches up in one
message, and none costs more memory than another.

**Nothing is lost.** A hint is only a hint. Whatever the reason for which a game is read (a hint, a channel subscribed
anew, a heartbeat), it is read from the log, from the version that was read last. Its nonce must be the one known;
otherwise the store has lost what was shown (a failover), and everybody starts again from a snapshot.

**Nobody waits for another.** gRPC blocks the thread that sends until the reader's flow control admits the message.
Other threads take the place of those that wait; a reader that keeps one waiting for long is told that it `STALLED`, or
cut off if it still does not read, sooner while very many do not. Readers that are prompt have threads of their own.
Each message waits in line for a thread anew, so that no game keeps another's watchers waiting.
"""

from service.watching.resume import resume_head, resume_token
from service.watching.watcher import Audience, Stream
from service.watching.watchers import Watchers

__all__ = ["Audience", "Stream", "Watchers", "resume_head", "resume_token"]
