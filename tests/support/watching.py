"""Watches of games, and checks of what they received."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grpc

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS, GameClient


class Watch:
    """A stream of WatchGame that the test reads.

    Attributes:
        messages: the messages read so far.
    """

    def __init__(self, caller: GameClient, *, timeout: float = SECONDS, **fields: Any) -> None:
        self._call: Any = caller.watch(timeout=timeout, **fields)
        self.messages: list[pb.WatchGameResponse] = []

    def next(self) -> pb.WatchGameResponse:
        """Wait for the next message."""
        message: pb.WatchGameResponse = next(self._call)
        self.messages.append(message)
        return message

    def until(self, condition: Callable[[pb.WatchGameResponse], bool]) -> pb.WatchGameResponse:
        """Read until the first message that satisfies a condition."""
        while not condition(message := self.next()):
            pass
        return message

    def until_version(self, version: int) -> pb.WatchGameResponse:
        """Read until the first message with this version or a later one."""
        return self.until(lambda message: state_of(message).version >= version)

    def rest(self) -> list[pb.WatchGameResponse]:
        """Read to the end of the stream, which must be OK; return the messages."""
        found = list(self._call)
        self.messages += found
        return found

    def cancel(self) -> None:
        """Cancel the stream."""
        self._call.cancel()

    def code(self) -> grpc.StatusCode:
        """Wait for the end of the stream and return its status."""
        code: grpc.StatusCode = self._call.code()
        return code

    @property
    def resume_token(self) -> str:
        """The token of the last message."""
        return self.messages[-1].resume_token


def state_of(message: pb.WatchGameResponse) -> game_pb2.GameState:
    """Return the state in a message; an empty one for other messages."""
    return message.snapshot if message.HasField("snapshot") else message.update.state


def events_of(messages: Iterable[pb.WatchGameResponse]) -> list[game_pb2.Event]:
    """Return all events in order."""
    return [event for message in messages for event in message.update.events]


def ends_of(messages: Iterable[pb.WatchGameResponse]) -> list[str]:
    """Return the reasons of all ends."""
    names = pb.WatchEndReason.Name
    return [
        names(message.end.reason).removeprefix("WATCH_END_REASON_") for message in messages if message.HasField("end")
    ]


def check_complete(messages: Iterable[pb.WatchGameResponse], *, after: int | None = None) -> int:
    """Check that each version's events were received once and in order; return the last version.

    Args:
        messages: the messages of a watcher; streams that resumed may follow each other.
        after: the version that was known before; None if the first message contains it.
    """
    version = after
    for message in messages:
        if message.HasField("snapshot"):
            assert version is None, "a second snapshot"
            version = message.snapshot.version
        elif message.HasField("update"):
            update = message.update
            assert version is not None, "an update before the snapshot"
            assert update.first_version == version + 1
            assert list(_runs(update.events)) == list(range(version + 1, update.state.version + 1))
            version = update.state.version
        elif message.HasField("heartbeat"):
            assert version in {None, message.heartbeat.version}
            version = message.heartbeat.version
    assert version is not None
    return version


def _runs(events: Iterable[game_pb2.Event]) -> Iterator[int]:
    """Yield the version of each run of events."""
    last = None
    for event in events:
        if event.version != last:
            last = event.version
            yield last
