"""The messages of WatchGame, encoded: what a watcher that knows one head of a game receives about a newer one."""

from collections.abc import Iterable
from typing import Final

from service.contract import game_service_pb2 as pb
from service.games import Change, StoredGame, version_of
from service.translation import Projection
from service.translation.encoding import field
from service.watching.resume import resume_token
from service.watching.watcher import Audience, EndReason

_SNAPSHOT: Final = pb.WatchGameResponse.SNAPSHOT_FIELD_NUMBER
_UPDATE: Final = pb.WatchGameResponse.UPDATE_FIELD_NUMBER
_UPDATE_EVENTS: Final = pb.WatchUpdate.EVENTS_FIELD_NUMBER
_UPDATE_STATE: Final = pb.WatchUpdate.STATE_FIELD_NUMBER


class Messages:
    """Builds the messages."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection

    def snapshot(self, game: StoredGame, audience: Audience) -> bytes:
        """Return the whole game."""
        state = self._projection.game_state(game, audience.viewer, legal_moves=audience.legal_moves)
        return _resume_field(game.head) + field(_SNAPSHOT, state)

    def update(self, game: StoredGame, changes: Iterable[Change], audience: Audience) -> bytes:
        """Return the events of changes, in order, and the game after them."""
        first_version = 0
        events: list[bytes] = []
        for change in changes:
            first_version = first_version or change.version
            events += self._projection.events(game, change, audience.viewer)
        state = self._projection.game_state(game, audience.viewer, legal_moves=audience.legal_moves)
        encoded = b"".join(
            [
                pb.WatchUpdate(first_version=first_version).SerializeToString(),
                *[field(_UPDATE_EVENTS, event) for event in events],
                field(_UPDATE_STATE, state),
            ]
        )
        return _resume_field(game.head) + field(_UPDATE, encoded)


def heartbeat(head: str) -> bytes:
    """Return the message that the game exists and has not changed."""
    message = pb.WatchHeartbeat(version=version_of(head))
    return pb.WatchGameResponse(resume_token=resume_token(head), heartbeat=message).SerializeToString()


def end(head: str, reason: EndReason) -> bytes:
    """Return the last message of a stream."""
    message = pb.WatchEnd(reason=reason)
    return pb.WatchGameResponse(resume_token=resume_token(head), end=message).SerializeToString()


def _resume_field(head: str) -> bytes:
    return pb.WatchGameResponse(resume_token=resume_token(head)).SerializeToString()
