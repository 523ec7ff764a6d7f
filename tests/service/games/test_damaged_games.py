"""A game with damaged values is an internal error, shows nothing of them, and is not changed."""

import random
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import grpc
import pytest

from service.store.keys import game_keys
from tests.support.forging import KEYS
from tests.support.game_clients import Game, expect_error, new_game, play
from tests.support.in_process import in_process_stub

META, STATE, REQUESTS, LOG = 1, 2, 3, 4
DAMAGES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "empty": lambda _: b"",
    "cut": lambda value: value[: len(value) // 2],
    "longer": lambda value: value + b"\0",
    "garbage": lambda value: value[:1] + b"\xc1" * (len(value) - 1),
}
CALLS: Final[dict[str, Callable[[Game], Any]]] = {
    "GetGame": lambda game: game.spectator.state(),
    "LegalMoves": lambda game: game.seats[0].legal(),
    "Score": lambda game: game.spectator.score(),
    "GetHistory": lambda game: game.spectator.history(),
    "WatchGame": lambda game: list(game.spectator.watch()),
}


def check(store_url: str, raw: Any, game: Game, element: int, damage: str, calls: dict[str, Any]) -> None:
    """Damage an element, and check that calls fail and that the element is not changed."""
    key = game_keys(game.game_id).game
    raw.lset(key, element, DAMAGES[damage](raw.lindex(key, element)))
    before = raw.lrange(key, 0, -1)
    with in_process_stub(store_url) as fresh:
        for name, call in calls.items():
            error = expect_error(partial(call, game.at(fresh)))
            assert (error.code, error.reason) in {
                (grpc.StatusCode.INTERNAL, "INTERNAL"),
                (grpc.StatusCode.UNAVAILABLE, "UPGRADING"),
            }, name
            assert not error.metadata.keys() - {"game_id", "call_id"}
    assert raw.lrange(key, 0, -1) == before


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("element", [META, STATE], ids=["meta", "state"])
def test_a_game_with_a_damaged_value_is_not_shown(store_url: str, raw: Any, element: int, damage: str) -> None:
    with in_process_stub(store_url, keys=KEYS) as stub:
        game = new_game(stub, 2)
        play(game, random.Random(1), moves=3)

        check(store_url, raw, game, element, damage, CALLS)


@pytest.mark.parametrize("damage", ["empty", "cut", "garbage"])
@pytest.mark.parametrize("moves", [3, None], ids=["entry", "archive"])
def test_a_damaged_log_is_not_shown(store_url: str, raw: Any, moves: int | None, damage: str) -> None:
    with in_process_stub(store_url, keys=KEYS) as stub:
        game = new_game(stub, 2)
        play(game, random.Random(1), moves=moves)

        check(store_url, raw, game, LOG, damage, {"GetHistory": CALLS["GetHistory"]})


@pytest.mark.parametrize("damage", ["empty", "longer"])
def test_with_damaged_requests_no_move_is_made(store_url: str, raw: Any, damage: str) -> None:
    with in_process_stub(store_url, keys=KEYS) as stub:
        game = new_game(stub, 2)
        play(game, random.Random(1), moves=3)
        seat = game.seats[game.spectator.state().awaiting_seats[0]]
        move = seat.legal().moves[0].move

        def apply(same: Game) -> Any:
            return seat.at(same.host.stub).apply(move, request_id=str(uuid.uuid4()))

        check(store_url, raw, game, REQUESTS, damage, {"ApplyMove": apply})
