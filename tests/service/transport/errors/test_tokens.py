"""Errors of tokens."""

from collections.abc import Callable
from typing import Any

import pytest

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.transport.errors.fixtures import EVERY_CALL_WITH_A_TOKEN, Games, check
from tests.support import forging
from tests.support.game_clients import SECONDS, Game, expect_error


@pytest.mark.parametrize("method", EVERY_CALL_WITH_A_TOKEN)
class TestEveryCall:
    """Every call that accepts a token verifies it, even if the token is optional."""

    def test_rejects_a_forged_token(self, games: Games, method: str) -> None:
        forger = games.with_token(forging.with_a_flipped_bit(games.opened.created.host_token))

        error = expect_error(lambda: EVERY_CALL_WITH_A_TOKEN[method](forger))

        check(error, "TOKEN_INVALID", "with a token from NewGame")

    def test_rejects_another_games_token(self, games: Games, method: str) -> None:
        stranger = games.with_token(games.active.created.host_token)

        check(expect_error(lambda: EVERY_CALL_WITH_A_TOKEN[method](stranger)), "WRONG_SEAT", "for another game")


def test_a_token_signed_with_the_services_key_is_valid(games: Games) -> None:
    assert forging.token({"game": games.opened.game_id, "seat": 1}) == games.second.token


GAME: Any = "<the game>"  # stands for the game's id
SEAT = {"game": GAME, "seat": 1}


def signed(claims: Any, **how: Any) -> Callable[[Game], str]:
    """Return a function that signs claims, by default with the service's own key."""

    def sign(game: Game) -> str:
        if isinstance(claims, dict):
            return forging.token({k: game.game_id if v is GAME else v for k, v in claims.items()}, **how)
        return forging.token(claims, **how)

    return sign


@pytest.mark.parametrize(
    "token",
    [
        pytest.param(lambda game: forging.with_a_flipped_bit(game.created.seat_tokens[1]), id="one bit flipped"),
        pytest.param(
            lambda game: forging.with_claims(game.created.seat_tokens[1], {"game": game.game_id, "seat": 0}),
            id="another seat under the same signature",
        ),
        pytest.param(lambda game: game.created.seat_tokens[1][:-1], id="cut short"),
        pytest.param(lambda game: game.created.seat_tokens[1].rpartition(".")[0] + ".", id="without its signature"),
        pytest.param(lambda game: game.created.seat_tokens[1].rpartition(".")[0], id="in two parts"),
        pytest.param(lambda game: game.created.seat_tokens[1] + ".x", id="in four parts"),
        pytest.param(lambda game: game.game_id, id="the game's id"),
        pytest.param(lambda _: "..", id="only dots"),
        pytest.param(lambda _: "x" * 6000, id="very long"),
        pytest.param(signed(SEAT, key=bytes(32)), id="another key"),
        pytest.param(signed(SEAT, alg="none"), id="no algorithm"),
        pytest.param(signed(SEAT, alg="None"), id="no algorithm, in another spelling"),
        pytest.param(signed(SEAT, alg="HS512"), id="another algorithm"),
        pytest.param(signed(SEAT, alg="HS384"), id="yet another algorithm"),
        pytest.param(signed(SEAT, kid="unknown"), id="an unknown key's id"),
        pytest.param(signed(SEAT, kid=...), id="no key's id"),
        pytest.param(signed(SEAT, kid=7), id="a number as key's id"),
        pytest.param(signed(SEAT, kid=[forging.KEY_ID]), id="a list as key's id"),
        pytest.param(signed(SEAT, header=[]), id="a list as header"),
        pytest.param(signed({"game": GAME, "seat": 14}), id="seat 14"),
        pytest.param(signed({"game": GAME, "seat": 99}), id="seat 99"),
        pytest.param(signed({"game": GAME, "seat": -1}), id="seat -1"),
        pytest.param(signed({"game": GAME, "seat": True}), id="seat true"),
        pytest.param(signed({"game": GAME, "seat": "1"}), id="a string as seat"),
        pytest.param(signed({"game": GAME, "seat": 1.0}), id="a seat with a decimal point"),
        pytest.param(signed({"game": GAME, "seat": None}), id="no seat and no role"),
        pytest.param(signed({"game": GAME}), id="only a game"),
        pytest.param(signed({"game": GAME, "role": "admin"}), id="an unknown role"),
        pytest.param(signed({"game": GAME, "role": ["spectator"]}), id="a list as role"),
        pytest.param(signed({"seat": 1}), id="no game"),
        pytest.param(signed({"game": 1, "seat": 1}), id="a number as game"),
        pytest.param(signed({"game": [GAME], "seat": 1}), id="a list as game"),
        pytest.param(signed({"game": "A" * 26, "seat": 1}), id="an invalid game id"),
        pytest.param(signed([GAME, 1]), id="a list of claims"),
        pytest.param(signed({**SEAT, "exp": 1}), id="expired long ago"),
    ],
)
def test_a_token_that_the_service_did_not_create_is_rejected(games: Games, token: Callable[[Game], str]) -> None:
    forger = games.with_token(token(games.opened))

    check(expect_error(forger.state), "TOKEN_INVALID", "with a token from NewGame")


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Bearer ", "Basic x", "Basic {token}", "{token}", "Bearer Bearer {token}", "Token {token}"]
)
def test_any_other_authorization_is_rejected(games: Games, value: str) -> None:
    metadata = (("authorization", value.format(token=games.second.token)),)
    request = pb.GetGameRequest(game_id=games.opened.game_id)

    check(
        expect_error(lambda: games.stub.GetGame(request, metadata=metadata, timeout=SECONDS)),
        "TOKEN_INVALID",
        "Bearer <token>",
    )


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_the_case_of_the_scheme_does_not_matter(games: Games, scheme: str) -> None:
    metadata = (("authorization", f"{scheme} {games.second.token}"),)
    request = pb.GetGameRequest(game_id=games.opened.game_id)

    assert games.stub.GetGame(request, metadata=metadata, timeout=SECONDS).state.viewer_seat == 1


def test_a_token_of_a_removed_key_is_rejected(games: Games, strict: GameServiceStub) -> None:
    client = games.second.at(strict)

    check(expect_error(client.state), "TOKEN_INVALID", "not valid for this service")
    assert games.opened.at(strict).spectator.state() == games.opened.spectator.state()


def test_a_valid_token_of_a_missing_seat_is_rejected(games: Games) -> None:
    third = games.with_token(forging.token({"game": games.opened.game_id, "seat": 2}))

    check(expect_error(third.state), "MALFORMED", "must be below 2", "seat")
