"""The messages of a WatchGame stream, and what a test checks of a watch."""

from typing import Any

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GAME_STATUS_ACTIVE, GAME_STATUS_FINISHED, Event, GameState
from tests.clients.scripted_service import GAME_ID, ScriptedService, error_reply

STORE_UNAVAILABLE = error_reply(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "The store is unavailable.")


def state(version: int, *, over: bool = False, viewer: int | None = None) -> GameState:
    """Return a state of a version. It awaits its viewer."""
    return GameState(
        game_id=GAME_ID,
        version=version,
        status=GAME_STATUS_FINISHED if over else GAME_STATUS_ACTIVE,
        etag=f"etag-{version}",
        viewer_seat=viewer,
        awaiting_seats=() if viewer is None else (viewer,),
    )


def resume_token(version: int) -> str:
    """Return the resume token of a message about a version."""
    return f"w{version}-nonce"


def snapshot(version: int, *, over: bool = False, viewer: int | None = None) -> pb.WatchGameResponse:
    """Return a snapshot."""
    return pb.WatchGameResponse(resume_token=resume_token(version), snapshot=state(version, over=over, viewer=viewer))


def update(first: int, last: int, *, over: bool = False, viewer: int | None = None) -> pb.WatchGameResponse:
    """Return an update from version `first` to version `last`, with one event for each."""
    events = [Event(version=version, text=f"Version {version} came.") for version in range(first, last + 1)]
    changes = pb.WatchUpdate(first_version=first, events=events, state=state(last, over=over, viewer=viewer))
    return pb.WatchGameResponse(resume_token=resume_token(last), update=changes)


def heartbeat(version: int) -> pb.WatchGameResponse:
    """Return a heartbeat."""
    return pb.WatchGameResponse(resume_token=resume_token(version), heartbeat=pb.WatchHeartbeat(version=version))


def end(reason: pb.WatchEndReason.ValueType, version: int = 1) -> pb.WatchGameResponse:
    """Return the end of a stream."""
    return pb.WatchGameResponse(resume_token=resume_token(version), end=pb.WatchEnd(reason=reason))


def summaries(watch: Any) -> list[tuple[int, list[str], bool]]:
    """Return version, event texts and `is_snapshot` of each remaining update."""
    return [(each.state.version, [event.text for event in each.events], each.is_snapshot) for each in watch]


def versions(watch: Any) -> list[int]:
    """Return the version of each remaining update."""
    return [each.state.version for each in watch]


def resume_tokens(service: ScriptedService) -> list[str]:
    """Return the resume tokens that the service received."""
    return [request.resume_token for request in service.requests() if isinstance(request, pb.WatchGameRequest)]
