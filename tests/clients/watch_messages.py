"""What a service tells somebody who watches a game, what a watch makes of it, and what it asks for."""

from typing import Any

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GAME_STATUS_ACTIVE, GAME_STATUS_FINISHED, Event, GameState
from tests.clients.scripted_service import GAME_ID, ScriptedService, refusal

AWAY = refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "The store is away.")


def state(version: int, *, over: bool = False, viewer: int | None = None) -> GameState:
    """A state of a version; whoever views it is awaited."""
    return GameState(
        game_id=GAME_ID,
        version=version,
        status=GAME_STATUS_FINISHED if over else GAME_STATUS_ACTIVE,
        etag=f"etag-{version}",
        viewer_seat=viewer,
        awaiting_seats=() if viewer is None else (viewer,),
    )


def token(version: int) -> str:
    """The resume token of a message about a version."""
    return f"w{version}-nonce"


def snapshot(version: int, *, over: bool = False, viewer: int | None = None) -> pb.WatchGameResponse:
    """The whole state."""
    return pb.WatchGameResponse(resume_token=token(version), snapshot=state(version, over=over, viewer=viewer))


def update(first: int, last: int, *, over: bool = False) -> pb.WatchGameResponse:
    """What versions brought about, an event each."""
    events = [Event(version=version, text=f"Version {version} came.") for version in range(first, last + 1)]
    news = pb.WatchUpdate(first_version=first, events=events, state=state(last, over=over))
    return pb.WatchGameResponse(resume_token=token(last), update=news)


def heartbeat(version: int) -> pb.WatchGameResponse:
    """A sign of life."""
    return pb.WatchGameResponse(resume_token=token(version), heartbeat=pb.WatchHeartbeat(version=version))


def end(reason: pb.WatchEndReason.ValueType, version: int = 1) -> pb.WatchGameResponse:
    """The end of a stream."""
    return pb.WatchGameResponse(resume_token=token(version), end=pb.WatchEnd(reason=reason))


def told(watch: Any) -> list[tuple[int, list[str], bool]]:
    """What is left of a watch: the version of each update, the text of its events, and whether it is a snapshot."""
    return [(each.state.version, [event.text for event in each.events], each.is_snapshot) for each in watch]


def resumed(service: ScriptedService) -> list[str]:
    """The resume tokens that arrived."""
    return [request.resume_token for request in service.requests() if isinstance(request, pb.WatchGameRequest)]
