"""Watchers of games, and what they must have been told in the end."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import grpc

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS, GameClient


class Watch:
    """A stream of WatchGame, read by the test.

    Attributes:
        messages: what has been read.
    """

    def __init__(self, caller: GameClient, *, timeout: float = SECONDS, **fields: Any) -> None:
        self._call: Any = caller.watch(timeout=timeout, **fields)
        self.messages: list[pb.WatchGameResponse] = []

    def next(self) -> pb.WatchGameResponse:
        """Waits for the next message."""
        message: pb.WatchGameResponse = next(self._call)
        self.messages.append(message)
        return message

    def until(self, wanted: Callable[[pb.WatchGameResponse], bool]) -> pb.WatchGameResponse:
        """Reads on to the first message like this."""
        while not wanted(message := self.next()):
            pass
        return message

    def until_version(self, version: int) -> pb.WatchGameResponse:
        """Reads on to the message that tells of this version or a later one."""
        return self.until(lambda message: state_of(message).version >= version)

    def rest(self) -> list[pb.WatchGameResponse]:
        """Reads to the end of the stream, which must be a good one; returns what came."""
        found = list(self._call)
        self.messages += found
        return found

    def cancel(self) -> None:
        """Stops watching."""
        self._call.cancel()

    def code(self) -> grpc.StatusCode:
        """Waits for the end of the stream and tells how it ended."""
        code: grpc.StatusCode = self._call.code()
        return code

    @property
    def resume_token(self) -> str:
        """The token of the last message."""
        return self.messages[-1].resume_token


def state_of(message: pb.WatchGameResponse) -> game_pb2.GameState:
    """The state that a message shows; an empty one if it shows none."""
    return message.snapshot if message.HasField("snapshot") else message.update.state


def without_expiry(state: game_pb2.GameState) -> game_pb2.GameState:
    """The same state without its expiry, which moves while its game is watched."""
    copy = game_pb2.GameState()
    copy.CopyFrom(state)
    copy.ClearField("expire_time")
    return copy


def events_of(messages: Iterable[pb.WatchGameResponse]) -> list[game_pb2.Event]:
    """All events, as they came."""
    return [event for message in messages for event in message.update.events]


def ends_of(messages: Iterable[pb.WatchGameResponse]) -> list[str]:
    """The reasons of all ends."""
    names = pb.WatchEndReason.Name
    return [
        names(message.end.reason).removeprefix("WATCH_END_REASON_") for message in messages if message.HasField("end")
    ]


def check_complete(messages: Iterable[pb.WatchGameResponse], *, after: int | None = None) -> int:
    """Checks that every version's events came once and in order, and returns the last version told.

    Args:
        messages: what a watcher was told; several streams of one that resumed may follow each other.
        after: the version that was known before; None: the first message tells it.
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
    """The versions of events, each once for all its events in a row."""
    last = None
    for event in events:
        if event.version != last:
            last = event.version
            yield last
