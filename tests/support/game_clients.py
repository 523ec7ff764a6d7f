"""Clients that play, host and watch games through the generated stubs only."""

import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import grpc
import pytest
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

T = TypeVar("T", bound=Message)

SECONDS = 10.0
BASIC = game_pb2.Options(soda_jerk=soda_jerk_pb2.SodaJerkOptions())
ADVANCED = game_pb2.Options(soda_jerk=soda_jerk_pb2.SodaJerkOptions(advanced=True))


class GameClient:
    """A client that makes calls about one game, with a token or without."""

    def __init__(self, stub: GameServiceStub, game_id: str, token: str | None = None) -> None:
        self.stub = stub
        self.game_id = game_id
        self.token = token
        self.metadata: tuple[tuple[str, str], ...] = (("authorization", f"Bearer {token}"),) if token else ()

    def at(self, stub: GameServiceStub) -> "GameClient":
        """Return the same client at another service."""
        return GameClient(stub, self.game_id, self.token)

    def behind_proxy(self, address: str) -> "GameClient":
        """Return the same client with an address, as a proxy in front of the service names it."""
        client = self.at(self.stub)
        client.metadata = (*self.metadata, ("x-forwarded-for", address))
        return client

    def state(self, **fields: Any) -> game_pb2.GameState:
        request = pb.GetGameRequest(game_id=self.game_id, **fields)
        return self.stub.GetGame(request, metadata=self.metadata, timeout=SECONDS).state

    def legal(self, **fields: Any) -> pb.LegalMovesResponse:
        request = pb.LegalMovesRequest(game_id=self.game_id, **fields)
        return self.stub.LegalMoves(request, metadata=self.metadata, timeout=SECONDS)

    def apply(self, move: game_pb2.Move, *, timeout: float = SECONDS, **fields: Any) -> pb.ApplyMoveResponse:
        request = pb.ApplyMoveRequest(game_id=self.game_id, move=move, **fields)
        return self.stub.ApplyMove(request, metadata=self.metadata, timeout=timeout)

    def score(self) -> pb.ScoreResponse:
        return self.stub.Score(pb.ScoreRequest(game_id=self.game_id), metadata=self.metadata, timeout=SECONDS)

    def history(self, **fields: Any) -> pb.GetHistoryResponse:
        request = pb.GetHistoryRequest(game_id=self.game_id, **fields)
        return self.stub.GetHistory(request, metadata=self.metadata, timeout=SECONDS)

    def watch(self, *, timeout: float = SECONDS, **fields: Any) -> Iterator[pb.WatchGameResponse]:
        request = pb.WatchGameRequest(game_id=self.game_id, **fields)
        return self.stub.WatchGame(request, metadata=self.metadata, timeout=timeout)

    def delete(self) -> None:
        self.stub.DeleteGame(pb.DeleteGameRequest(game_id=self.game_id), metadata=self.metadata, timeout=SECONDS)


class Game(NamedTuple):
    """A game with clients for its host, its seats and a spectator."""

    created: pb.NewGameResponse
    host: GameClient
    seats: tuple[GameClient, ...]
    spectator: GameClient

    @property
    def game_id(self) -> str:
        return self.created.state.game_id

    @property
    def invited(self) -> GameClient:
        """A spectator with the spectator token; `spectator` has no token."""
        return GameClient(self.spectator.stub, self.game_id, self.created.spectator_token)

    def at(self, stub: GameServiceStub) -> "Game":
        """Return the same game at another service."""
        return Game(
            self.created, self.host.at(stub), tuple(seat.at(stub) for seat in self.seats), self.spectator.at(stub)
        )


def new_game(
    stub: GameServiceStub,
    seats: int = 3,
    options: game_pb2.Options = BASIC,
    metadata: tuple[tuple[str, str], ...] = (),
    **fields: Any,
) -> Game:
    """Create a game and the clients of all its seats."""
    fields.setdefault("request_id", str(uuid.uuid4()))
    request = pb.NewGameRequest(options=options, seat_count=seats, **fields)
    response = stub.NewGame(request, metadata=metadata, timeout=SECONDS)
    game_id = response.state.game_id
    return Game(
        response,
        GameClient(stub, game_id, response.host_token),
        tuple(GameClient(stub, game_id, token) for token in response.seat_tokens),
        GameClient(stub, game_id),
    )


def play(game: Game, rng: random.Random, *, moves: int | None = None) -> list[pb.ApplyMoveResponse]:
    """Play all seats at random, to the end or for a number of moves."""
    responses: list[pb.ApplyMoveResponse] = []
    awaiting = game.host.state().awaiting_seats
    while awaiting and (moves is None or len(responses) < moves):
        seat = game.seats[awaiting[0]]
        legal = seat.legal()
        chosen = rng.choice(legal.moves)
        responses.append(seat.apply(chosen.move, etag=legal.etag, request_id=str(uuid.uuid4())))
        awaiting = responses[-1].state.awaiting_seats
    return responses


class CallError(NamedTuple):
    """The error of a call.

    Attributes:
        retry: the seconds after which the call can be retried; None if the error does not say.
    """

    code: grpc.StatusCode
    reason: str
    message: str
    metadata: dict[str, str]
    fields: dict[str, str]
    retry: float | None
    raw: bytes


def expect_error(call: Callable[[], Any]) -> CallError:
    """Make a call that must fail, and return its error.

    Check what holds for every error: it has one ErrorInfo of our domain, and its message is a sentence.
    """
    with pytest.raises(grpc.RpcError) as caught:
        call()
    error = cast("grpc.Call", caught.value)
    trailing = cast("tuple[tuple[str, bytes], ...] | None", error.trailing_metadata())
    raw = next((value for key, value in trailing or () if key == "grpc-status-details-bin"), b"")
    status = Status.FromString(raw)
    infos = _details(status, ErrorInfo)
    assert len(infos) == 1, f"one ErrorInfo, not {len(infos)}, in {error.code()}: {error.details()}"
    assert infos[0].domain == "sodafountain"
    assert status.message == error.details()
    assert status.code == error.code().value[0]
    assert len(status.message.split()) > 2, f"not a sentence: {status.message!r}"
    return CallError(
        code=error.code(),
        reason=infos[0].reason,
        message=status.message,
        metadata=dict(infos[0].metadata),
        fields={bad.field: bad.description for found in _details(status, BadRequest) for bad in found.field_violations},
        retry=next((info.retry_delay.ToNanoseconds() / 1e9 for info in _details(status, RetryInfo)), None),
        raw=raw,
    )


def _details(status: Status, kind: type[T]) -> list[T]:
    found = []
    for packed in status.details:
        detail = kind()
        if packed.Unpack(detail):
            found.append(detail)
    return found
