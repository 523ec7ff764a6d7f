"""Errors of moves."""

from typing import Any

import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1.juices_pb2 import JuicesMove
from sodafountain.v1.soda_jerk_pb2 import (
    FLAVOR_BLUEBERRY,
    FLAVOR_KIWI,
    FLAVOR_STRAWBERRY,
    FLAVOR_UNSPECIFIED,
    Flavor,
    SodaJerkCard,
    SodaJerkMove,
)
from tests.service.transport.errors.fixtures import FIRST_REQUEST, UNKNOWN_FLAVOR, Attempt, Games, check
from tests.support.game_clients import expect_error, new_game
from tests.support.moves import flip, jerk, place

MOVE = "move.soda_jerk."
CARD = "a flavor with a value from 1 to 3, or a switcheroo with neither"


def try_move(move: game_pb2.Move | None) -> Attempt:
    """Return a call in which the awaited seat makes a move."""
    return lambda games: games.second.apply(move)  # type: ignore[arg-type]  # an absent move is one of the mistakes


def try_place(tap: Flavor.ValueType = FLAVOR_BLUEBERRY, **card: Any) -> Attempt:
    """Return a call in which it places a card."""
    return try_move(place(SodaJerkCard(**card), tap))


@pytest.mark.parametrize(
    ("attempt", "phrase", "field"),
    [
        pytest.param(try_move(None), "move is required", "move", id="no move"),
        pytest.param(try_move(game_pb2.Move()), "is required", "move.game", id="a move of no game"),
        pytest.param(try_move(game_pb2.Move(soda_jerk=SodaJerkMove())), "required", MOVE + "action", id="neither kind"),
        pytest.param(try_place(flavor=FLAVOR_STRAWBERRY, value=0), CARD, MOVE + "place.card", id="value 0"),
        pytest.param(try_place(flavor=FLAVOR_STRAWBERRY, value=4), CARD, MOVE + "place.card", id="value 4"),
        pytest.param(try_place(flavor=FLAVOR_STRAWBERRY, value=-1), CARD, MOVE + "place.card", id="value -1"),
        pytest.param(try_place(value=1), CARD, MOVE + "place.card", id="no flavor"),
        pytest.param(try_place(), CARD, MOVE + "place.card", id="an empty card"),
        pytest.param(
            try_place(switcheroo=True, flavor=FLAVOR_KIWI), CARD, MOVE + "place.card", id="flavored switcheroo"
        ),
        pytest.param(try_place(switcheroo=True, value=1), CARD, MOVE + "place.card", id="switcheroo with a value"),
        pytest.param(
            try_place(flavor=UNKNOWN_FLAVOR, value=1),
            "this release knows",
            MOVE + "place.card.flavor",
            id="unknown flavor",
        ),
        pytest.param(
            try_move(game_pb2.Move(soda_jerk=SodaJerkMove(place=SodaJerkMove.Place(tap_flavor=FLAVOR_KIWI)))),
            "is required",
            MOVE + "place.card",
            id="no card",
        ),
        pytest.param(
            try_place(FLAVOR_UNSPECIFIED, flavor=FLAVOR_KIWI, value=1),
            "is required",
            MOVE + "place.tap_flavor",
            id="place at no tap",
        ),
        pytest.param(
            try_place(UNKNOWN_FLAVOR, flavor=FLAVOR_KIWI, value=1),
            "this release knows",
            MOVE + "place.tap_flavor",
            id="place at an unknown tap",
        ),
        pytest.param(
            try_move(flip(FLAVOR_UNSPECIFIED, 1)), "is required", MOVE + "flip.tap_flavor", id="flip at no tap"
        ),
        pytest.param(
            try_move(flip(UNKNOWN_FLAVOR, 1)),
            "this release knows",
            MOVE + "flip.tap_flavor",
            id="flip at an unknown tap",
        ),
        pytest.param(try_move(flip(FLAVOR_STRAWBERRY, 0)), "be 1 to 52", MOVE + "flip.position", id="position 0"),
        pytest.param(try_move(flip(FLAVOR_STRAWBERRY, -1)), "be 1 to 52", MOVE + "flip.position", id="position -1"),
        pytest.param(try_move(flip(FLAVOR_STRAWBERRY, 53)), "be 1 to 52", MOVE + "flip.position", id="position 53"),
        pytest.param(
            try_move(flip(FLAVOR_STRAWBERRY, 2**31 - 1)),
            "be 1 to 52",
            MOVE + "flip.position",
            id="the largest int32 as position",
        ),
    ],
)
def test_an_invalid_move_is_malformed(games: Games, attempt: Attempt, phrase: str, field: str) -> None:
    check(expect_error(lambda: attempt(games)), "MALFORMED", phrase, field)


@pytest.mark.parametrize(
    ("attempt", "phrase"),
    [
        pytest.param(try_place(flavor=FLAVOR_KIWI, value=2), "You do not hold a Kiwi 2", id="card not in hand"),
        pytest.param(
            lambda games: games.second.apply(place(games.held, FLAVOR_KIWI)), "not in play", id="tap not in play"
        ),
        pytest.param(
            lambda games: games.second.apply(place(games.held, FLAVOR_STRAWBERRY)),
            "must place a card at a tap without cards",
            id="first turn at an occupied tap",
        ),
        pytest.param(try_move(flip(FLAVOR_STRAWBERRY, 1)), "cannot flip yet", id="flip on the first turn"),
    ],
)
def test_a_first_turn_against_the_rules_is_illegal(games: Games, attempt: Attempt, phrase: str) -> None:
    error = expect_error(lambda: attempt(games))

    check(error, "ILLEGAL_MOVE", phrase)
    assert error.metadata == {"version": "2"}


@pytest.mark.parametrize(
    ("move", "phrase"),
    [
        pytest.param(flip(FLAVOR_BLUEBERRY, 1), "lies face up already", id="face-up card"),
        pytest.param(flip(FLAVOR_STRAWBERRY, 2), "There is no card 2", id="no such card"),
        pytest.param(flip(FLAVOR_STRAWBERRY, 52), "There is no card 52", id="the largest position"),
        pytest.param(flip(FLAVOR_KIWI, 1), "not in play", id="tap not in play"),
    ],
)
def test_a_flip_against_the_rules_is_illegal(games: Games, move: game_pb2.Move, phrase: str) -> None:
    error = expect_error(lambda: games.active.seats[1].apply(move))

    check(error, "ILLEGAL_MOVE", phrase)
    assert error.metadata == {"version": "4"}


def test_three_seats_hold_no_switcheroo(games: Games) -> None:
    game = new_game(games.stub, 3, jerk(first_seat=0))

    error = expect_error(lambda: game.seats[0].apply(place(SodaJerkCard(switcheroo=True), FLAVOR_KIWI)))

    check(error, "ILLEGAL_MOVE", "You do not hold a Switcheroo")


@pytest.mark.parametrize("with_etag", [False, True], ids=["no etag", "its etag"])
def test_a_seat_that_is_not_awaited_cannot_move(games: Games, with_etag: bool) -> None:
    etag = games.first.legal().etag if with_etag else ""

    error = expect_error(lambda: games.first.apply(games.legal, etag=etag))

    check(error, "NOT_YOUR_TURN", "turn of seat 1")
    assert error.metadata == {"version": "2"}


@pytest.mark.parametrize("with_etag", [False, True], ids=["no etag", "its etag"])
def test_no_seat_can_move_after_the_end(games: Games, with_etag: bool) -> None:
    seat = games.finished.seats[0]
    etag = seat.legal().etag if with_etag else ""

    error = expect_error(lambda: seat.apply(games.legal, etag=etag))

    check(error, "GAME_FINISHED", "The game is over")
    assert error.metadata == {"version": str(seat.state().version)}


@pytest.mark.parametrize("etag", ["1-0000000000000000", "x", "2", "é" * 64])
def test_an_unknown_etag_is_stale(games: Games, etag: str) -> None:
    error = expect_error(lambda: games.second.apply(games.legal, etag=etag))

    check(error, "STALE_ETAG", "fetch the state and choose again")
    assert error.metadata == {"version": "2"}


def test_the_etag_of_an_earlier_decision_is_stale(games: Games) -> None:
    first_etag = games.opened.created.state.etag

    check(
        expect_error(lambda: games.first.apply(games.legal, etag=first_etag)),
        "STALE_ETAG",
        "not that of the open decision",
    )


def test_an_etag_that_is_too_long_is_malformed(games: Games) -> None:
    error = expect_error(lambda: games.second.apply(games.legal, etag="x" * 65))

    check(error, "MALFORMED", "at most 64 characters", "etag")


def test_a_request_id_cannot_be_reused_for_another_move(games: Games) -> None:
    error = expect_error(lambda: games.first.apply(flip(FLAVOR_STRAWBERRY, 1), request_id=FIRST_REQUEST))

    check(error, "REQUEST_ID_REUSED", "generate a new one")


def test_a_repeat_with_a_move_of_another_game_is_malformed(games: Games) -> None:
    other = game_pb2.Move(juices=JuicesMove(pass_blocks=JuicesMove.Pass()))

    check(
        expect_error(lambda: games.first.apply(other, request_id=FIRST_REQUEST)),
        "MALFORMED",
        "must be soda_jerk",
        "move.game",
    )


def test_the_request_id_of_a_move_must_be_a_uuid(games: Games) -> None:
    error = expect_error(lambda: games.second.apply(games.legal, request_id="again"))

    check(error, "MALFORMED", "must be a random UUID", "request_id")
