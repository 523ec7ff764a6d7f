"""Tokens: signed by the first key of the ring, valid for every key of the ring, and reproducible."""

import base64
import re
import uuid
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from service.access import (
    ApiKeyInvalid,
    ApiKeys,
    Keyring,
    Principal,
    Role,
    TokenInvalid,
    new_token_key,
    parse_api_keys,
    parse_token_keys,
)
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.game_clients import Game, new_game
from tests.support.in_process import in_process_stub

GAME = "abcdefghijklmnopqrstuvwxyz"
SEAT = Principal(GAME, 3)
HOST = Principal(GAME, Role.HOST)
SPECTATOR = Principal(GAME, Role.SPECTATOR)
OLD, NEW = (parse_token_keys(f"{name}:{base64.b64encode(name.encode() * 16).decode()}") for name in ("old", "new"))
SECRET = "hunter2-hunter2-hunter2-hunter2-hunter2"


# --- The keyring ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("principal", [HOST, SPECTATOR, *(Principal(GAME, seat) for seat in range(14))])
def test_a_token_identifies_its_principal(principal: Principal) -> None:
    ring = Keyring(OLD)

    assert ring.verify(ring.sign(principal)) == principal


def test_a_token_is_reproducible() -> None:
    assert Keyring(OLD).sign(SEAT) == Keyring(OLD).sign(SEAT)


def test_all_tokens_are_different() -> None:
    ring = Keyring(OLD)
    principals = [
        HOST,
        SPECTATOR,
        *(Principal(GAME, seat) for seat in range(14)),
        Principal(GAME[::-1], 0),
        Principal(GAME[::-1], Role.HOST),
        Principal(GAME[::-1], Role.SPECTATOR),
    ]

    assert len({ring.sign(principal) for principal in principals}) == len(principals)


def test_the_first_key_signs() -> None:
    assert forging.header_of(Keyring({**NEW, **OLD}).sign(SEAT)) == {"alg": "HS256", "kid": "new", "typ": "JWT"}
    assert Keyring({**NEW, **OLD}).signing_key_id == "new"


def test_a_token_contains_only_a_game_and_a_seat_or_role() -> None:
    ring = Keyring(OLD)

    assert forging.claims_of(ring.sign(SEAT)) == {"game": GAME, "seat": 3}
    assert forging.claims_of(ring.sign(HOST)) == {"game": GAME, "role": "host"}
    assert forging.claims_of(ring.sign(SPECTATOR)) == {"game": GAME, "role": "spectator"}


def test_old_tokens_are_valid_after_a_rotation_while_their_key_is_in_the_ring() -> None:
    token = Keyring(OLD).sign(SEAT)

    assert Keyring({**NEW, **OLD}).verify(token) == SEAT
    with pytest.raises(TokenInvalid):
        Keyring(NEW).verify(token)


def test_a_game_keeps_its_signing_key_while_it_is_in_the_ring() -> None:
    assert Keyring({**NEW, **OLD}).sign(SEAT, key_id="old") == Keyring(OLD).sign(SEAT)
    assert Keyring(NEW).sign(SEAT, key_id="old") == Keyring(NEW).sign(SEAT)


def test_a_token_of_another_key_with_the_same_id_is_rejected() -> None:
    other = Keyring({"old": NEW["new"]})

    with pytest.raises(TokenInvalid):
        other.verify(Keyring(OLD).sign(SEAT))


def test_a_ring_needs_a_key() -> None:
    with pytest.raises(ValueError, match="at least one"):
        Keyring({})


def test_repeated_verification_has_the_same_result() -> None:
    ring = Keyring(OLD)
    good = ring.sign(SEAT)
    bad = forging.with_a_flipped_bit(good)

    for _ in range(3):
        with pytest.raises(TokenInvalid):
            ring.verify(bad)
        assert ring.verify(good) == SEAT


def test_invalid_tokens_are_not_cached() -> None:
    ring = Keyring(OLD)

    for number in range(100):
        with pytest.raises(TokenInvalid):
            ring.verify(f"{number}.{number}.{number}")

    assert ring.verify.cache_info().currsize == 0


# --- The format of keys -----------------------------------------------------------------------------------------------


def test_generated_keys_can_be_parsed_and_differ() -> None:
    generated = [new_token_key() for _ in range(50)]

    keys = parse_token_keys("\n".join(generated))

    assert len(keys) == 50
    assert {len(key) for key in keys.values()} == {32}
    assert len(set(keys.values())) == 50


@pytest.mark.parametrize("between", ["\n", ",", " , ", "\r\n", "\n\n\t"])
def test_keys_are_separated_by_commas_or_white_space_and_keep_their_order(between: str) -> None:
    first, second = new_token_key(), new_token_key()

    assert list(parse_token_keys(f"{first}{between}{second}\n")) == [first.partition(":")[0], second.partition(":")[0]]


SHORT = base64.b64encode(SECRET.encode()[:31]).decode()
LONG = base64.b64encode(SECRET.encode()).decode()


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(LONG, id="no id"),
        pytest.param(f":{LONG}", id="empty id"),
        pytest.param("key:", id="empty key"),
        pytest.param(f"key={LONG}", id="another separator"),
        pytest.param(f"key:{SHORT}", id="31 bytes"),
        pytest.param(f"key:{SECRET}", id="not base64"),
        pytest.param(f"key:{LONG[:-3]}", id="cut short"),
        pytest.param(f"key:{LONG}\u00e9", id="not ascii"),
        pytest.param(f"{'k' * 33}:{LONG}", id="long id"),
        pytest.param(f"{SECRET[:9]}!:{LONG}", id="id with a forbidden sign"),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_the_error_for_a_malformed_token_key_contains_only_its_position(text: str, number: int) -> None:
    before = [new_token_key()] * (number - 1)

    with pytest.raises(ValueError, match=f"token key {number} must be `id:base64` with at least 32 bytes") as caught:
        parse_token_keys(",".join([*before, text]) + ("," if before and not text else ""))

    check_no_secret(str(caught.value), text, *before)


def test_two_token_keys_with_one_id_are_rejected() -> None:
    with pytest.raises(ValueError, match="token key 2 has the same id as an earlier one") as caught:
        parse_token_keys(f"key:{LONG} key:{LONG}")

    check_no_secret(str(caught.value), LONG)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param(SECRET, id="no name"),
        pytest.param(f":{SECRET}", id="empty name"),
        pytest.param(f"app:{SECRET[:15]}", id="15 characters"),
        pytest.param(f"a b:{SECRET}", id="name of two words"),
        pytest.param(f"app!:{SECRET}", id="name with a forbidden sign"),
        pytest.param(f"first:{SECRET}", id="name of another"),
    ],
)
def test_the_error_for_a_malformed_api_key_contains_only_its_position(text: str) -> None:
    first = "first:0123456789abcdef"

    with pytest.raises(ValueError, match="API key 2 must be `name:key`") as caught:
        parse_api_keys(f"{first},{text}")

    check_no_secret(str(caught.value), text, first)


def check_no_secret(message: str, *secrets: str) -> None:
    """Fail if the message contains six characters of a secret."""
    for secret in secrets:
        for part in re.findall(r"[^:\s]{6,}", secret):
            for at in range(len(part) - 5):
                assert part[at : at + 6] not in message


# --- API keys ---------------------------------------------------------------------------------------------------------


def test_an_api_key_identifies_its_owner() -> None:
    keys = ApiKeys(parse_api_keys("one:0123456789abcdef two:0123456789abcdeg"))

    assert keys.owner("0123456789abcdef") == "one"
    assert keys.owner("0123456789abcdeg") == "two"
    assert bool(keys)


def test_an_api_key_may_contain_colons() -> None:
    assert ApiKeys(parse_api_keys("one:a:b:c:d:e:f:g:h:i")).owner("a:b:c:d:e:f:g:h:i") == "one"


@pytest.mark.parametrize(
    "sent", [None, "", "one", "0123456789abcdeF", "0123456789abcdef ", "0123456789abcde", "é" * 16]
)
def test_any_other_api_key_is_rejected(sent: str | None) -> None:
    keys = ApiKeys(parse_api_keys("one:0123456789abcdef"))

    with pytest.raises(ApiKeyInvalid):
        keys.owner(sent)


@pytest.mark.parametrize("sent", [None, "", "whatever"])
def test_without_api_keys_every_caller_is_accepted(sent: str | None) -> None:
    assert ApiKeys({}).owner(sent) == ""
    assert not ApiKeys({})


# --- A rotation at services with one store ----------------------------------------------------------------------------


class Rotation(NamedTuple):
    """Three services on one store: before a rotation, after it, and after the removal of the old key."""

    before: GameServiceStub
    after: GameServiceStub
    done: GameServiceStub


@pytest.fixture(scope="module")
def rotation(store_url: str) -> Iterator[Rotation]:
    old, new = new_token_key(), new_token_key()
    with (
        in_process_stub(store_url, keys=old) as before,
        in_process_stub(store_url, keys=f"{new},{old}") as after,
        in_process_stub(store_url, keys=new) as done,
    ):
        yield Rotation(before, after, done)


def tokens_of(game: Game) -> list[str]:
    """Return all tokens of a game."""
    return [game.created.host_token, game.created.spectator_token, *game.created.seat_tokens]


def test_a_game_from_before_a_rotation_continues_after_it(rotation: Rotation) -> None:
    game = new_game(rotation.before).at(rotation.after)
    seat = game.seats[game.created.state.awaiting_seats[0]]

    assert seat.apply(seat.legal().moves[0].move).committed_version == 2


def test_a_new_game_repeated_after_a_rotation_has_the_same_tokens(rotation: Rotation) -> None:
    request_id = str(uuid.uuid4())

    first, again = (new_game(stub, request_id=request_id) for stub in (rotation.before, rotation.after))

    assert tokens_of(again) == tokens_of(first)


def test_after_a_rotation_new_games_are_signed_with_the_new_key(rotation: Rotation) -> None:
    game = new_game(rotation.after).at(rotation.done)

    assert game.host.state(seat=0).viewer_seat == 0


def test_a_new_game_repeated_after_the_removal_of_its_key_has_new_valid_tokens(rotation: Rotation) -> None:
    request_id = str(uuid.uuid4())

    first, again = (new_game(stub, request_id=request_id) for stub in (rotation.before, rotation.done))

    assert tokens_of(again) != tokens_of(first)
    assert again.seats[1].state().viewer_seat == 1
