"""Games whose elements do not fit together are not changed, and the error says so."""

from collections.abc import Callable
from typing import Any

import pytest

from service.store import Stale, Store, StoreError
from service.store.keys import game_keys
from tests.service.store.games import SOON, confirm, make_moves, move, new_game

DAMAGED = "the log or the requests of the game do not have the length that its head requires"


def elements(raw: Any, game: str) -> list[bytes]:
    return list(raw.lrange(game_keys(game).game, 0, -1))


LENGTHS: dict[str, Callable[[Any, str], None]] = {
    "one entry too many": lambda raw, key: raw.rpush(key, "too much"),
    "one entry too few": lambda raw, key: raw.rpop(key),
    "no log": lambda raw, key: raw.ltrim(key, 0, 3),
}
REQUESTS: dict[str, Callable[[Any, str], None]] = {
    "requests one byte too long": lambda raw, key: raw.lset(key, 3, raw.lindex(key, 3) + b"x"),
    "requests one byte too short": lambda raw, key: raw.lset(key, 3, raw.lindex(key, 3)[:-1]),
    "no requests": lambda raw, key: raw.lset(key, 3, b""),
}


@pytest.mark.parametrize("damage", (LENGTHS | REQUESTS).values(), ids=LENGTHS | REQUESTS)
def test_a_game_with_a_wrong_length_rejects_commits(store: Store, raw: Any, damage: Callable[[Any, str], None]) -> None:
    game = new_game(store)
    make_moves(store, game, 3)
    damage(raw, game_keys(game).game)
    before = elements(raw, game)

    with pytest.raises(StoreError, match=DAMAGED):
        store.games.commit(game, move("4-n"), timeout=SOON)
    assert isinstance(store.games.commit(game, move("3-n"), timeout=SOON), Stale)
    assert elements(raw, game) == before


@pytest.mark.parametrize("damage", REQUESTS.values(), ids=REQUESTS)
def test_damaged_requests_neither_confirm_nor_deny(store: Store, raw: Any, damage: Callable[[Any, str], None]) -> None:
    game = new_game(store)
    [*_, last] = make_moves(store, game, 3)
    damage(raw, game_keys(game).game)
    before = elements(raw, game)

    for commit in (last, move()):
        with pytest.raises(StoreError, match=DAMAGED):
            confirm(store, game, commit)
        with pytest.raises(StoreError, match=DAMAGED):
            store.games.read_for_request(game, commit.request, timeout=SOON)
    assert elements(raw, game) == before


def test_requests_of_a_new_game_are_damage(store: Store, raw: Any) -> None:
    game, commit = new_game(store), move()
    raw.lset(game_keys(game).game, 3, b"a hash")

    for call in (
        lambda: store.games.commit(game, commit, timeout=SOON),
        lambda: confirm(store, game, commit),
        lambda: store.games.read_for_request(game, commit.request, timeout=SOON),
    ):
        with pytest.raises(StoreError, match=DAMAGED):
            call()


@pytest.mark.parametrize("head", [b"1", b"1 ", b"1 second 1 2 3 0", b"1 x-y 1 2 3 0", b"1 2-second", b"1 2-s a b c d"])
def test_a_damaged_head_is_an_error_that_changes_nothing(store: Store, raw: Any, head: bytes) -> None:
    game = new_game(store)
    make_moves(store, game, 1)
    raw.lset(game_keys(game).game, 0, head)
    before = elements(raw, game)

    with pytest.raises((StoreError, ValueError)):
        store.games.commit(game, move("2-s"), timeout=SOON)
    with pytest.raises((StoreError, ValueError)):
        store.games.read_log(game, first=1, timeout=SOON)
    assert elements(raw, game) == before


def test_a_game_without_its_state_is_an_error(store: Store, raw: Any) -> None:
    game = new_game(store)
    raw.ltrim(game_keys(game).game, 0, 1)

    with pytest.raises(ValueError, match="expected 3"):
        store.games.read(game, timeout=SOON)
