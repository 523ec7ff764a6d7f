"""Record games: all responses that the seats and a spectator receive."""

import random
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, new_game
from tests.support.moves import flip
from tests.support.raw_calls import SERVICE, RawCaller, Received, call_raw

_ALL_VERSIONS_UP_TO: Final = 8
_THEN_EVERY: Final = 9

Viewer = int | None


class Exchange(NamedTuple):
    """A call and everything that its viewer received.

    Attributes:
        viewer: the seat; None for a spectator.
        over: whether the game was over.
        received: everything that was received.
        response: the message; None for an error.
    """

    viewer: Viewer
    over: bool
    received: Received
    response: Message | None


class Transcript(NamedTuple):
    """A game, everything that its seats and a spectator received, and the request ids of all calls."""

    game: Game
    sealed: bool
    exchanges: list[Exchange]
    request_ids: list[str]


def record_game(
    channel: grpc.Channel,
    seats: int,
    options: game_pb2.Options,
    seed: bytes,
    *,
    sealed: bool = False,
    api_key: str = "",
    raw_caller: RawCaller | None = None,
) -> Transcript:
    """Play a game at random to its end and make every call for every viewer at many versions."""
    transport = raw_caller or channel
    rng = random.Random(seed)
    request_ids = [str(uuid.uuid4())]
    metadata = (("x-api-key", api_key),) if api_key else ()
    game = new_game(
        GameServiceStub(channel), seats, options, metadata, seed=seed, sealed=sealed, request_id=request_ids[0]
    )
    transcript = Transcript(game, sealed, [], request_ids)
    awaiting = _call_everything(transport, transcript)
    while awaiting:
        seat = awaiting[0]
        moves = game.seats[seat].legal().moves
        request_ids.append(str(uuid.uuid4()))
        request = pb.ApplyMoveRequest(
            game_id=game.game_id,
            move=rng.choice(moves).move,
            request_id=request_ids[-1],
            include_legal_moves=True,
        )
        _record(transport, transcript, seat, "ApplyMove", request)
        awaiting = _call_everything(transport, transcript)
    return transcript


def _call_everything(channel: grpc.Channel | RawCaller, transcript: Transcript) -> list[int]:
    game = transcript.game
    game_id = game.game_id
    state = game.spectator.state()
    awaiting = list(state.awaiting_seats)
    if awaiting and state.version > _ALL_VERSIONS_UP_TO and state.version % _THEN_EVERY:
        return awaiting
    illegal = flip(soda_jerk_pb2.FLAVOR_BANANA, 52)
    for viewer in (*range(len(game.seats)), None):
        other = 0 if viewer is None else (viewer + 1) % len(game.seats)
        requests: list[tuple[str, Message]] = [
            ("GetGame", pb.GetGameRequest(game_id=game_id, include_legal_moves=True)),
            ("GetGame", pb.GetGameRequest(game_id=game_id, seat=other)),
            ("LegalMoves", pb.LegalMovesRequest(game_id=game_id)),
            ("ApplyMove", pb.ApplyMoveRequest(game_id=game_id, move=illegal)),
            ("Score", pb.ScoreRequest(game_id=game_id)),
            ("GetHistory", pb.GetHistoryRequest(game_id=game_id, page_size=1000)),
            ("GetHistory", pb.GetHistoryRequest(game_id=game_id, seat=other)),
        ]
        for method, request in requests:
            _record(channel, transcript, viewer, method, request, over=not awaiting)
    return awaiting


def _record(
    channel: grpc.Channel | RawCaller,
    transcript: Transcript,
    viewer: Viewer,
    method: str,
    request: Message,
    *,
    over: bool = False,
) -> None:
    caller = transcript.game.spectator if viewer is None else transcript.game.seats[viewer]
    received = call_raw(channel, method, request.SerializeToString(), caller.metadata)
    response = response_of(method, received)
    if isinstance(response, pb.ApplyMoveResponse):
        over = response.state.status == game_pb2.GAME_STATUS_FINISHED
    transcript.exchanges.append(Exchange(viewer, over, received, response))


def response_of(method: str, received: Received) -> Message | None:
    """Decode the message of a successful call; return None for an error."""
    if received.code != grpc.StatusCode.OK:
        return None
    response: Message = getattr(pb, SERVICE.methods_by_name[method].output_type.name).FromString(received.body)
    return response


def parts(message: Message) -> Iterator[Message]:
    """Yield a message and all messages in it."""
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in value if field.is_repeated else [value]:
                yield from parts(part)


def texts(message: Message) -> Iterator[str]:
    """Yield every string in a message."""
    for part in parts(message):
        for field, value in part.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING:
                yield from value if field.is_repeated else [value]


def without_ids(message: Any) -> Any:
    """Return the message without what differs between any two games: ids, etags, tokens, commitments and times."""
    blank = type(message)()
    blank.CopyFrom(message)
    for part in parts(blank):
        for field, _ in part.ListFields():
            if field.name in {"game_id", "etag", "resume_token", "seed_commitment"} or field.name.endswith("_time"):
                part.ClearField(field.name)
    return blank


def size_without_times(message: Message) -> int:
    """Return the size of a message in protobuf; the size of a time varies, and does not count."""
    blank = type(message)()
    blank.CopyFrom(message)
    for part in parts(blank):
        if isinstance(part, Timestamp):
            part.Clear()
    return blank.ByteSize()


def times_in(message: Message) -> list[Timestamp]:
    """Return all times in a message."""
    return [part for part in parts(message) if isinstance(part, Timestamp)]
