"""Everybody at a table, and everything that each of them hears."""

import random
import uuid
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.moves import flip
from tests.support.players import Game, new_game
from tests.support.raw import SERVICE, Ear, Heard, hear

_EVERY_MOVE: Final = 12
_EVERY_OTHER: Final = 7

Viewer = int | None


class Sound(NamedTuple):
    """What a viewer heard of one call.

    Attributes:
        viewer: the seat; None for a spectator.
        over: whether the game was over by then.
        heard: all of it.
        response: the message, where there was one.
    """

    viewer: Viewer
    over: bool
    heard: Heard
    response: Message | None


class Evening(NamedTuple):
    """A game, everything that was heard of it by its seats and a spectator, and the request ids that were used."""

    game: Game
    sealed: bool
    sounds: list[Sound]
    request_ids: list[str]


def eavesdrop(
    channel: grpc.Channel,
    seats: int,
    options: game_pb2.Options,
    seed: bytes,
    *,
    sealed: bool = False,
    api_key: str = "",
    ear: Ear | None = None,
) -> Evening:
    """Plays a game at random to its end while everybody asks for everything, often; over gRPC or by another ear."""
    listened = ear or channel
    chance = random.Random(seed)
    request_ids = [str(uuid.uuid4())]
    metadata = (("x-api-key", api_key),) if api_key else ()
    game = new_game(
        GameServiceStub(channel), seats, options, metadata, seed=seed, sealed=sealed, request_id=request_ids[0]
    )
    evening = Evening(game, sealed, [], request_ids)
    awaiting = _ask_for_everything(listened, evening)
    while awaiting:
        seat = awaiting[0]
        moves = game.seats[seat].legal().moves
        request_ids.append(str(uuid.uuid4()))
        request = pb.ApplyMoveRequest(
            game_id=game.game_id,
            move=chance.choice(moves).move,
            request_id=request_ids[-1],
            include_legal_moves=True,
        )
        _listen(listened, evening, seat, "ApplyMove", request)
        awaiting = _ask_for_everything(listened, evening)
    return evening


def _ask_for_everything(channel: grpc.Channel | Ear, evening: Evening) -> list[int]:
    game = evening.game
    game_id = game.game_id
    state = game.spectator.state()
    awaiting = list(state.awaiting_seats)
    if awaiting and state.version > _EVERY_MOVE and state.version % _EVERY_OTHER:
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
        ]
        if state.version < 3 or not awaiting:
            requests.append(("GetHistory", pb.GetHistoryRequest(game_id=game_id, page_size=1000)))
        for method, request in requests:
            _listen(channel, evening, viewer, method, request, over=not awaiting)
    return awaiting


def _listen(
    channel: grpc.Channel | Ear, evening: Evening, viewer: Viewer, method: str, request: Message, *, over: bool = False
) -> None:
    caller = evening.game.spectator if viewer is None else evening.game.seats[viewer]
    heard = hear(channel, method, request.SerializeToString(), caller.metadata)
    response = response_of(method, heard)
    if isinstance(response, pb.ApplyMoveResponse):
        over = response.state.status == game_pb2.GAME_STATUS_FINISHED
    evening.sounds.append(Sound(viewer, over, heard, response))


def response_of(method: str, heard: Heard) -> Message | None:
    """Reads the message that was heard, if the call was answered."""
    if heard.code != grpc.StatusCode.OK:
        return None
    response: Message = getattr(pb, SERVICE.methods_by_name[method].output_type.name).FromString(heard.body)
    return response


def parts(message: Message) -> Iterator[Message]:
    """Yields a message and every message in it."""
    yield message
    for field, value in message.ListFields():
        if field.type == FieldDescriptor.TYPE_MESSAGE:
            for part in value if field.is_repeated else [value]:
                yield from parts(part)


def texts(message: Message) -> Iterator[str]:
    """Yields every text in a message."""
    for part in parts(message):
        for field, value in part.ListFields():
            if field.type == FieldDescriptor.TYPE_STRING:
                yield from value if field.is_repeated else [value]


def without_names(message: Any) -> Any:
    """Blanks what differs between any two games: the id, the tags and the time."""
    blank = type(message)()
    blank.CopyFrom(message)
    for part in parts(blank):
        for field, _ in part.ListFields():
            if field.name in {"game_id", "etag", "expire_time", "resume_token"}:
                part.ClearField(field.name)
    return blank
