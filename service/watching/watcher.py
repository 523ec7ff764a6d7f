"""A watcher: who watches, what it has received, and the stream to it."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from engine.game import Viewer
from service.contract import game_service_pb2 as pb
from service.games import version_of

EndReason: TypeAlias = pb.WatchEndReason.ValueType


class Audience(NamedTuple):
    """A viewer, and whether it wants legal moves. All watchers of one audience receive the same messages."""

    viewer: Viewer
    legal_moves: bool


class Stream(Protocol):
    """A stream of encoded messages to a caller.

    No method raises if the caller has disconnected, or has any effect once the stream has ended.
    """

    def send(self, message: bytes) -> None:
        """Send a message; block until the transport accepts it."""

    def end(self, reason: str) -> None:
        """End the stream with status OK. `reason` is for the log."""

    def fail(self) -> None:
        """End the stream with an error: the service failed."""

    def cancel(self, reason: str) -> None:
        """Cancel the stream, and any message in progress. `reason` is for the log."""

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the stream has ended for any reason; immediately if it has."""


class Watcher:
    """A watcher of a game. Its attributes are guarded by the lock of the game.

    Attributes:
        audience: who watches.
        stream: the stream to the watcher.
        first: the first message, until it is sent.
        head: the head of the game up to which messages were built for the watcher.
        branch: the branch of the game's history that `head` is on, as the game counts them.
        end: the reason if the stream must be ended, otherwise None.
        needs_heartbeat: whether a heartbeat must be sent.
        busy: whether a sender is working on the watcher.
        gone: whether the stream has ended.
        trust: above 0 for a prompt reader; otherwise minus the number of messages it must accept promptly first.
        sent_at: when a message was last built, on the monotonic clock.
    """

    __slots__ = (
        "audience",
        "branch",
        "busy",
        "end",
        "first",
        "gone",
        "head",
        "needs_heartbeat",
        "sent_at",
        "stream",
        "trust",
    )

    def __init__(self, audience: Audience, stream: Stream) -> None:
        self.audience = audience
        self.stream = stream
        self.first: bytes | None = None
        self.head = ""
        self.branch = 0
        self.end: EndReason | None = None
        self.needs_heartbeat = False
        self.busy = False
        self.gone = False
        self.sent_at = 0.0
        self.trust = 0

    @property
    def version(self) -> int:
        """The version of the head."""
        return version_of(self.head)
