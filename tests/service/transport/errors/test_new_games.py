"""Errors of NewGame."""

import uuid
from typing import Any

import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import (
    FLAVOR_KIWI,
)
from tests.service.transport.errors.fixtures import (
    API_KEY,
    FIRST_REQUEST,
    OTHER_API_KEY,
    SEED,
    UNKNOWN_FLAVOR,
    Attempt,
    Games,
    check,
)
from tests.support.game_clients import BASIC, SECONDS, expect_error, new_game
from tests.support.moves import jerk


def create(**fields: Any) -> Attempt:
    """Return a NewGame call with valid values for all other fields."""
    request = pb.NewGameRequest(**{"options": BASIC, "seat_count": 3, **fields})
    return lambda games: games.stub.NewGame(request, timeout=SECONDS)


JERK = "options.soda_jerk."
COPIES = "3 counts that add up to 9"


@pytest.mark.parametrize(
    ("attempt", "phrase", "fields"),
    [
        pytest.param(create(options=None), "options is required", ["options"], id="no options"),
        pytest.param(create(options=game_pb2.Options()), "is required", ["options.game"], id="options of no kind"),
        pytest.param(create(seat_count=0), "Soda Jerk is for 2 to 4 seats, not 0", ["seat_count"], id="no seats"),
        pytest.param(create(seat_count=1), "Soda Jerk is for 2 to 4 seats, not 1", ["seat_count"], id="one seat"),
        pytest.param(create(seat_count=5), "Soda Jerk is for 2 to 4 seats, not 5", ["seat_count"], id="5 seats"),
        pytest.param(create(seat_count=14), "Soda Jerk is for 2 to 4 seats, not 14", ["seat_count"], id="14 seats"),
        pytest.param(create(seat_count=15), "Soda Jerk is for 2 to 4 seats, not 15", ["seat_count"], id="15 seats"),
        pytest.param(create(seat_count=-1), "Soda Jerk is for 2 to 4 seats, not -1", ["seat_count"], id="-1 seats"),
        pytest.param(create(seat_count=2**31 - 1), "Soda Jerk is for", ["seat_count"], id="very many seats"),
        pytest.param(create(options=jerk(first_seat=3)), "no seat 3", [JERK + "first_seat"], id="first seat 3 of 3"),
        pytest.param(create(options=jerk(first_seat=4)), "must be 0 to 3", [JERK + "first_seat"], id="first seat 4"),
        pytest.param(create(options=jerk(first_seat=-1)), "must be 0 to 3", [JERK + "first_seat"], id="first seat -1"),
        pytest.param(
            create(options=jerk(removed_flavor=FLAVOR_KIWI)),
            "Only two seats play without a flavor",
            [JERK + "removed_flavor"],
            id="flavor removed with 3 seats",
        ),
        pytest.param(
            create(options=jerk(removed_flavor=UNKNOWN_FLAVOR), seat_count=2),
            "must be a Flavor that this release knows",
            [JERK + "removed_flavor"],
            id="unknown flavor removed",
        ),
        pytest.param(create(options=jerk(copies_per_value=[4, 5])), COPIES, [JERK + "copies_per_value"], id="2 copies"),
        pytest.param(
            create(options=jerk(copies_per_value=[3, 3, 4])), COPIES, [JERK + "copies_per_value"], id="10 cards"
        ),
        pytest.param(
            create(options=jerk(copies_per_value=[3, 3, 3, 0])),
            "got 4 counts",
            [JERK + "copies_per_value"],
            id="4 copies",
        ),
        pytest.param(
            create(options=jerk(copies_per_value=[-1, 5, 5])),
            "must be 0 to 9",
            [JERK + "copies_per_value[0]"],
            id="-1 cards",
        ),
        pytest.param(
            create(visibility=9), "must be a Visibility that this release knows", ["visibility"], id="visibility"
        ),
        pytest.param(create(seed=b"x" * 31), "seed must be 32 bytes", ["seed"], id="seed of 31 bytes"),
        pytest.param(create(seed=b"x" * 33), "seed must be 32 bytes", ["seed"], id="seed of 33 bytes"),
        pytest.param(create(seed=b""), "seed must be 32 bytes", ["seed"], id="empty seed"),
        pytest.param(create(request_id="first"), "random UUID", ["request_id"], id="request id that is not a UUID"),
        pytest.param(
            create(request_id=str(uuid.uuid1())), "random UUID", ["request_id"], id="request id to be guessed"
        ),
        pytest.param(create(request_id=FIRST_REQUEST + "0"), "random UUID", ["request_id"], id="request id too long"),
        pytest.param(
            create(request_id="first", options=None),
            "random UUID",
            ["options", "request_id"],
            id="two wrong fields",
        ),
    ],
)
def test_an_invalid_new_game_is_not_created(games: Games, attempt: Attempt, phrase: str, fields: list[str]) -> None:
    check(expect_error(lambda: attempt(games)), "MALFORMED", phrase, *fields)


def test_a_seed_is_rejected_unless_the_operator_allows_it(strict: GameServiceStub) -> None:
    metadata = (("x-api-key", API_KEY),)

    check(
        expect_error(lambda: new_game(strict, metadata=metadata, seed=SEED)),
        "MALFORMED",
        "its own seeds",
        "seed",
    )


@pytest.mark.parametrize(("wrong", "named"), [(3, 8), (5, 5), (900, 5), (60_000, 5)])
def test_an_error_with_many_wrong_fields_is_fast_and_small(games: Games, wrong: int, named: int) -> None:
    options = jerk(first_seat=99, removed_flavor=UNKNOWN_FLAVOR, copies_per_value=[99] * wrong)
    request = pb.NewGameRequest(options=options, seat_count=3, request_id="first", seed=b"x")

    error = expect_error(lambda: games.stub.NewGame(request, timeout=2))

    assert error.reason == "MALFORMED"
    assert error.message.count("; ") + 1 == named
    assert len(error.raw) + len(error.message) < 8192  # the limit of gRPC's clients


@pytest.mark.parametrize(
    "changed",
    [
        {"seats": 4},
        {"options": jerk(advanced=True)},
        {"sealed": True},
        {"visibility": game_pb2.VISIBILITY_PRIVATE},
        {"seed": SEED},
    ],
    ids=["seats", "options", "sealed", "visibility", "seed"],
)
def test_a_request_id_cannot_be_reused_for_another_game(games: Games, changed: dict[str, Any]) -> None:
    request_id = str(uuid.uuid4())
    game = new_game(games.stub, request_id=request_id)

    check(
        expect_error(lambda: new_game(games.stub, **{"request_id": request_id, **changed})),
        "REQUEST_ID_REUSED",
        "generate a new",
    )

    assert game.spectator.state() == game.created.state


def test_a_repeat_may_name_the_visibility_that_is_the_default(games: Games) -> None:
    request_id = str(uuid.uuid4())
    game = new_game(games.stub, request_id=request_id)

    again = new_game(games.stub, request_id=request_id, visibility=game_pb2.VISIBILITY_PUBLIC)

    assert again.game_id == game.game_id


@pytest.mark.parametrize(
    "sent",
    [(), (("x-api-key", "not-the-app-teams-key"),), (("x-api-key", API_KEY[:-1]),), (("x-api-key", ""),)],
    ids=["none", "wrong", "cut short", "empty"],
)
def test_no_game_is_created_without_a_valid_api_key(strict: GameServiceStub, sent: tuple[tuple[str, str], ...]) -> None:
    check(expect_error(lambda: new_game(strict, metadata=sent)), "API_KEY_INVALID", "`x-api-key`")


def test_a_game_is_created_with_a_valid_api_key(strict: GameServiceStub) -> None:
    assert new_game(strict, metadata=(("x-api-key", API_KEY),)).spectator.state().version == 1


def test_request_ids_of_different_api_keys_do_not_collide(strict: GameServiceStub) -> None:
    keys = (API_KEY, OTHER_API_KEY)
    request_id = str(uuid.uuid4())

    games = [new_game(strict, metadata=(("x-api-key", key),), request_id=request_id) for key in keys]

    assert games[0].game_id != games[1].game_id
