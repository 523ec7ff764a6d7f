"""A watcher: who looks, how far it has been told, and the stream to it."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias

from engine.game import Viewer
from service.games.game import version_of
from sodafountain.v1 import game_service_pb2 as pb

EndReason: TypeAlias = pb.WatchEndReason.ValueType


class Audience(NamedTuple):
    """What decides how a message looks, apart from what happened: whoever is of the same audience is sent the same."""

    viewer: Viewer
    legal_moves: bool


class Stream(Protocol):
    """A stream of encoded messages to a caller.

    None of its methods raises when the caller has gone, or does anything once the stream has been ended.
    """

    def send(self, message: bytes) -> None:
        """Sends a message; blocks until the transport has taken it."""

    def end(self, reason: str) -> None:
        """Ends the stream in good order. `reason` is for the log."""

    def fail(self) -> None:
        """Ends the stream with an error: the service has failed."""

    def cut(self, reason: str) -> None:
        """Cuts the stream off, a message under way too. `reason` is for the log."""

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Has `callback` called once the stream has ended for whatever reason, at once if it has."""


class Watcher:
    """A watcher of a game. What changes belongs to the game's lock.

    Attributes:
        audience: who looks.
        stream: the stream to it.
        first: the first message, until it is sent.
        head: the head of the game that it has been told, with all messages that were made.
        branch: the branch of the game's history that `head` is on, as the game counts them.
        end: why it is to be ended; None while it is not.
        beat: whether it is to be sent a sign of life.
        busy: whether a sender is at it.
        gone: whether it has been ended, or has left.
        trust: above 0 for a reader that is prompt; below, how many messages it must take promptly to count as that.
        told_at: when it was last sent something, on the monotonic clock.
    """

    __slots__ = ("audience", "beat", "branch", "busy", "end", "first", "gone", "head", "stream", "told_at", "trust")

    def __init__(self, audience: Audience, stream: Stream) -> None:
        self.audience = audience
        self.stream = stream
        self.first: bytes | None = None
        self.head = ""
        self.branch = 0
        self.end: EndReason | None = None
        self.beat = False
        self.busy = False
        self.gone = False
        self.told_at = 0.0
        self.trust = 0

    @property
    def version(self) -> int:
        """The version of the head."""
        return version_of(self.head)
