"""The HTTP status of an error over REST. It can be more precise than the gRPC code; other callers do not receive it."""

import json
import random
from collections.abc import Callable
from typing import NamedTuple

import pytest
from google.protobuf import json_format
from google.rpc.code_pb2 import Code
from google.rpc.status_pb2 import Status

from service.gateway.statuses import STATUS_OF_REASON
from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import Request, check
from tests.support.game_clients import Game, GameClient, expect_error, new_game, play
from tests.support.gateways import http_request
from tests.support.protocols import Web
from tests.support.service import channel_to

pytestmark = pytest.mark.one_store


class Rejected(NamedTuple):
    """A move that the service rejects, and the client that sends it."""

    client: GameClient
    request: pb.ApplyMoveRequest

    @property
    def headers(self) -> dict[str, str]:
        return dict(self.client.metadata)


def illegal(game: Game, awaited: GameClient, waiting: GameClient) -> Rejected:
    flip = soda_jerk_pb2.SodaJerkMove.Flip(tap_flavor=soda_jerk_pb2.FLAVOR_STRAWBERRY, position=1)
    move = game_pb2.Move(soda_jerk=soda_jerk_pb2.SodaJerkMove(flip=flip))  # there are no cards yet
    return Rejected(awaited, pb.ApplyMoveRequest(game_id=game.game_id, move=move))


def out_of_turn(game: Game, awaited: GameClient, waiting: GameClient) -> Rejected:
    return Rejected(waiting, pb.ApplyMoveRequest(game_id=game.game_id, move=awaited.legal().moves[0].move))


def after_the_end(game: Game, awaited: GameClient, waiting: GameClient) -> Rejected:
    move = awaited.legal().moves[0].move
    play(game, random.Random(1))
    return Rejected(awaited, pb.ApplyMoveRequest(game_id=game.game_id, move=move))


def too_late(game: Game, awaited: GameClient, waiting: GameClient) -> Rejected:
    move = awaited.legal().moves[0].move
    return Rejected(awaited, pb.ApplyMoveRequest(game_id=game.game_id, move=move, etag="1-0"))


MOVES = {
    "ILLEGAL_MOVE": (illegal, 400, "FAILED_PRECONDITION"),
    "NOT_YOUR_TURN": (out_of_turn, 409, "FAILED_PRECONDITION"),
    "GAME_FINISHED": (after_the_end, 410, "FAILED_PRECONDITION"),
    "STALE_ETAG": (too_late, 412, "ABORTED"),
}
each_rejected_move = pytest.mark.parametrize(
    ("reason", "move", "status", "code"), [(reason, *rest) for reason, rest in MOVES.items()], ids=MOVES
)
Move = Callable[[Game, GameClient, GameClient], Rejected]


def rejected(stub: GameServiceStub, move: Move) -> Rejected:
    game = new_game(stub, 2)
    first = game.created.state.awaiting_seats[0]
    return move(game, game.seats[first], game.seats[1 - first])


def grpc_status(move: Rejected, stub: GameServiceStub) -> Status:
    """Send the move over gRPC; return the google.rpc.Status."""
    request = move.request
    error = expect_error(lambda: move.client.at(stub).apply(request.move, etag=request.etag))
    return Status.FromString(error.raw)


@each_rejected_move
def test_a_rejected_move_has_the_http_status_of_its_reason_over_rest(
    stub: GameServiceStub, send: Request, reason: str, move: Move, status: int, code: str
) -> None:
    sent = rejected(stub, move)
    body = {"move": json_format.MessageToDict(sent.request.move), "etag": sent.request.etag}

    answer = send("POST", f"/v1/games/{sent.request.game_id}:applyMove", json.dumps(body), sent.headers)

    check(answer, status, code, reason)
    assert json_format.Parse(answer.body, Status()) == grpc_status(sent, stub)
    assert int(answer.headers["content-length"]) == len(answer.body)


@each_rejected_move
def test_a_rejected_move_has_status_200_and_its_grpc_code_over_grpc_web(
    stub: GameServiceStub, rest: str, reason: str, move: Move, status: int, code: str
) -> None:
    sent = rejected(stub, move)
    verb, path, body, headers = Web(rest).encode(
        pb.DESCRIPTOR.services_by_name["GameService"].methods_by_name["ApplyMove"], sent.request
    )

    answer = http_request(rest, verb, path, body, headers | sent.headers)

    assert answer.status == 200
    assert answer.headers["grpc-status"] == str(Code.Value(code))


@each_rejected_move
def test_a_rejected_move_has_the_same_error_through_the_gateway_over_grpc(
    stub: GameServiceStub, rest: str, reason: str, move: Move, status: int, code: str
) -> None:
    sent = rejected(stub, move)

    with channel_to(rest) as channel:
        through_the_gateway = grpc_status(sent, GameServiceStub(channel))

    assert through_the_gateway == grpc_status(sent, stub)
    assert Code.Name(through_the_gateway.code) == code


@pytest.mark.parametrize("reason", STATUS_OF_REASON)
def test_a_status_is_not_taken_from_the_text_of_a_caller(send: Request, reason: str) -> None:
    text = f'"reason":"{reason}","domain":"sodafountain"'

    for body in ({text: 1}, {"seatCount": text}, {"options": {"sodaJerk": {"removedFlavor": text}}}):
        assert send("POST", "/v1/games", json.dumps(body)).status == 400
