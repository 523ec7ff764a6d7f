"""Errors of callers that act for another seat or another game."""

from collections.abc import Callable
from typing import Any

import pytest

from sodafountain.v1.soda_jerk_pb2 import (
    FLAVOR_STRAWBERRY,
)
from tests.service.transport.errors.fixtures import Games, check
from tests.support.game_clients import Game, GameClient, expect_error
from tests.support.moves import flip


@pytest.mark.parametrize(
    "call",
    [
        lambda caller: caller.state(seat=1),
        lambda caller: caller.legal(seat=1),
        lambda caller: caller.apply(flip(FLAVOR_STRAWBERRY, 1), seat=1),
        lambda caller: list(caller.watch(seat=1)),
        lambda caller: caller.history(seat=1),
    ],
    ids=["GetGame", "LegalMoves", "ApplyMove", "WatchGame", "GetHistory"],
)
class TestOfASeat:
    """Only the token of the seat itself and that of the host may act for a seat."""

    def test_another_seats_token_is_rejected(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.first)), "WRONG_SEAT", "for another seat")

    def test_a_spectator_is_rejected(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.opened.spectator)), "TOKEN_INVALID", "A token is required")

    def test_a_spectators_token_is_rejected(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.opened.invited)), "WRONG_SEAT", "valid for no seat")


@pytest.mark.parametrize(
    "call", [GameClient.legal, lambda caller: caller.apply(flip(FLAVOR_STRAWBERRY, 1))], ids=["LegalMoves", "ApplyMove"]
)
class TestOfNoSeat:
    """A host must name a seat; a spectator has none."""

    def test_a_spectator_is_rejected(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.opened.spectator)), "TOKEN_INVALID", "A token is required")

    def test_a_spectators_token_is_rejected(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.opened.invited)), "WRONG_SEAT", "valid for no seat")

    def test_the_host_must_name_a_seat(self, games: Games, call: Callable[[GameClient], Any]) -> None:
        check(expect_error(lambda: call(games.opened.host)), "MALFORMED", "required with a host token", "seat")


@pytest.mark.parametrize(
    ("seat", "phrase"),
    [(2, "below 2"), (13, "below 2"), (14, "must be 0 to 13"), (-1, "must be 0 to 13"), (2**31 - 1, "must be 0 to 13")],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda caller, seat: caller.state(seat=seat),
        lambda caller, seat: caller.legal(seat=seat),
        lambda caller, seat: caller.apply(flip(FLAVOR_STRAWBERRY, 1), seat=seat),
        lambda caller, seat: list(caller.watch(seat=seat)),
        lambda caller, seat: caller.history(seat=seat),
    ],
    ids=["GetGame", "LegalMoves", "ApplyMove", "WatchGame", "GetHistory"],
)
def test_a_seat_that_the_game_does_not_have_is_malformed(
    games: Games, call: Callable[[GameClient, int], Any], seat: int, phrase: str
) -> None:
    check(expect_error(lambda: call(games.opened.host, seat)), "MALFORMED", phrase, "seat")


@pytest.mark.parametrize(
    ("who", "reason", "phrase"),
    [
        (lambda game: game.seats[0], "WRONG_SEAT", "Only the host of the game"),
        (lambda game: game.invited, "WRONG_SEAT", "Only the host of the game"),
        (lambda game: game.spectator, "TOKEN_INVALID", "A token is required"),
    ],
    ids=["a seat", "a spectator's token", "a spectator"],
)
def test_only_the_host_deletes_a_game(
    games: Games, who: Callable[[Game], GameClient], reason: str, phrase: str
) -> None:
    check(expect_error(who(games.opened).delete), reason, phrase)
