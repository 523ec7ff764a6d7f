"""The messages of WatchGame, encoded: what a watcher who knows one head of a game is told about a newer one."""

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from service.games.game import Table, version_of
from service.games.kinds import Kind
from service.store import Entry
from service.translation import encoding as wire
from service.translation import projection
from service.watching.resume import resume_token
from service.watching.watcher import Audience, EndReason
from sodafountain.v1 import game_service_pb2 as pb

_SNAPSHOT: Final = pb.WatchGameResponse.SNAPSHOT_FIELD_NUMBER
_UPDATE: Final = pb.WatchGameResponse.UPDATE_FIELD_NUMBER
_UPDATE_EVENTS: Final = pb.WatchUpdate.EVENTS_FIELD_NUMBER
_UPDATE_STATE: Final = pb.WatchUpdate.STATE_FIELD_NUMBER


class Happened(NamedTuple):
    """A commit: its version, the seat that moved, and the events in full."""

    version: int
    seat: int | None
    events: tuple[Any, ...]

    @classmethod
    def of(cls, kind: Kind, entry: Entry) -> "Happened":
        """Decodes an entry of the log."""
        return cls(entry.version, entry.seat, kind.codec.decode_events(entry.events))


def snapshot(table: Table, audience: Audience) -> bytes:
    """Shows the whole game."""
    state = projection.game_state(table, audience.viewer, legal_moves=audience.legal_moves)
    return _with_token(table.head) + wire.field(_SNAPSHOT, state)


def update(table: Table, happened: Iterable[Happened], audience: Audience) -> bytes:
    """Tells what happened, in order, and how the game is after it."""
    first_version = 0
    events: list[bytes] = []
    for version, seat, its_events in happened:
        first_version = first_version or version
        events += projection.events(table.kind, version, seat, its_events, audience.viewer)
    state = projection.game_state(table, audience.viewer, legal_moves=audience.legal_moves)
    told = b"".join(
        [
            pb.WatchUpdate(first_version=first_version).SerializeToString(),
            *[wire.field(_UPDATE_EVENTS, event) for event in events],
            wire.field(_UPDATE_STATE, state),
        ]
    )
    return _with_token(table.head) + wire.field(_UPDATE, told)


def heartbeat(head: str) -> bytes:
    """Tells that the game is there and unchanged."""
    beat = pb.WatchHeartbeat(version=version_of(head))
    return pb.WatchGameResponse(resume_token=resume_token(head), heartbeat=beat).SerializeToString()


def end(head: str, reason: EndReason) -> bytes:
    """Tells why nothing will follow."""
    last = pb.WatchEnd(reason=reason)
    return pb.WatchGameResponse(resume_token=resume_token(head), end=last).SerializeToString()


def _with_token(head: str) -> bytes:
    return pb.WatchGameResponse(resume_token=resume_token(head)).SerializeToString()
