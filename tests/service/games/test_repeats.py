"""Repeats of a move are recognized during the game and after its end, and return the first result."""

import random
import time
import uuid
from typing import Any, NamedTuple

import pytest

from service.games import AppliedMove, GameRepository, Kind, StoredGame
from service.games.errors import GameFinished, RequestIdReused, StaleEtag
from service.store import Store
from service.store.keys import game_keys
from tests.support.repositories import KINDS, apply, chosen, create, deadline, repository


class Made(NamedTuple):
    """A move that was made."""

    seat: int
    move: Any
    request_id: str
    applied: AppliedMove


@pytest.fixture(params=KINDS)
def start(request: pytest.FixtureRequest, game_store: Store) -> StoredGame:
    """A new game of each kind."""
    return new_game(game_store, KINDS[request.param])


def new_game(store: Store, kind: Kind) -> StoredGame:
    """Create a game that equals all others of its kind."""
    return create(repository(store), kind, kind.game.presets[0].options, 4, seed=7)


def play(games: GameRepository, game: StoredGame, *, moves: int | None = None) -> list[Made]:
    """Play a game at random, to its end or for a number of moves."""
    made: list[Made] = []
    rng = random.Random(7)
    while game.awaiting and len(made) != moves:
        seat, move = chosen(game, rng)
        request_id = str(uuid.uuid4())
        made.append(Made(seat, move, request_id, apply(games, game, seat, move, request_id)))
        game = made[-1].applied.game
    return made


def check_repeats(games: GameRepository, made: list[Made], repeats: list[Made]) -> None:
    """Check that repeats return the result of the first call and the game as it is now, and change nothing."""
    now = made[-1].applied.game
    for seat, move, request_id, first in repeats:
        again = apply(games, now, seat, move, request_id)
        assert again == AppliedMove(now, first.version, first.committed_at, first.events, repeated=True)


def test_the_repeat_of_every_move_is_recognized_in_a_game(game_store: Store, start: StoredGame) -> None:
    made = play(repository(game_store), start, moves=12)

    check_repeats(repository(game_store), made, made)


def test_the_repeat_of_every_move_is_recognized_after_the_end(game_store: Store, start: StoredGame) -> None:
    made = play(games := repository(game_store), start)
    assert made[-1].applied.game.finished

    check_repeats(games, made, made[-3:])  # by the process that made the moves
    check_repeats(repository(game_store), made, made)


@pytest.mark.parametrize("moves", [12, None], ids=["in a game", "after the end"])
def test_a_request_id_with_another_move_is_rejected(game_store: Store, start: StoredGame, moves: int | None) -> None:
    first, *others = made = play(repository(game_store), start, moves=moves)
    other = next(one for one in others if one.seat == first.seat and one.move != first.move)

    with pytest.raises(RequestIdReused):
        apply(repository(game_store), made[-1].applied.game, first.seat, other.move, first.request_id)
    check_repeats(repository(game_store), made, made[:2])


def test_after_the_end_a_new_request_is_rejected(game_store: Store, start: StoredGame) -> None:
    made = play(games := repository(game_store), start)
    last = made[-1]

    for repeated in (games, repository(game_store)):
        with pytest.raises(GameFinished):
            apply(repeated, last.applied.game, last.seat, last.move, str(uuid.uuid4()))
    check_repeats(repository(game_store), made, [last])


def test_of_two_last_moves_one_ends_the_game(game_store: Store, start: StoredGame) -> None:
    *_, last = whole = play(repository(game_store), new_game(game_store, start.kind))
    slow, fast = repository(game_store), repository(game_store)
    play(slow, start, moves=len(whole) - 1)  # it caches the game before its last move
    first = apply(fast, start, last.seat, last.move, "first")
    assert first.game.finished

    with pytest.raises(GameFinished):
        apply(slow, start, last.seat, last.move, "second")

    assert apply(slow, start, last.seat, last.move, "first") == first._replace(repeated=True)


@pytest.mark.parametrize("moves", [12, None], ids=["in a game", "at its end"])
def test_a_move_lost_in_a_failover_is_made_by_its_retry(
    game_store: Store, raw: Any, start: StoredGame, moves: int | None
) -> None:
    key = game_keys(start.game_id).game
    twin = new_game(game_store, start.kind)
    whole = play(repository(game_store), twin, moves=moves)
    games = repository(game_store)
    play(games, start, moves=len(whole) - 1)
    replica = raw.dump(key)
    last = whole[-1]
    lost = apply(games, start, last.seat, last.move, "a request")
    raw.restore(key, 0, replica, replace=True)

    made = apply(games, start, last.seat, last.move, "a request")

    assert (lost.repeated, made.repeated) == (False, False)
    assert made.version == lost.version == len(whole) + 1
    assert apply(games, start, last.seat, last.move, "a request") == made._replace(repeated=True)
    log = repository(game_store).log(made.game, first=1, count=1000, deadline=deadline())
    assert [(change.seat, change.move) for change in log[1:]] == [(one.seat, one.move) for one in whole]
    assert log[-1].committed_at == made.committed_at


def test_an_etag_of_a_branch_lost_in_a_failover_is_stale(game_store: Store, raw: Any, start: StoredGame) -> None:
    key, games = game_keys(start.game_id).game, repository(game_store)
    replica = raw.dump(key)
    seat, move = chosen(start, random.Random(1))
    lost = apply(games, start, seat, move, "lost").game
    raw.restore(key, 0, replica, replace=True)
    offered = start.kind.game.legal_moves(start.state, seat)
    other = next(another for another in reversed(offered) if another != move)
    now = apply(repository(game_store), start, seat, other, "kept").game
    assert now.version == lost.version

    awaited, next_move = chosen(lost, random.Random(2))
    for process in (games, repository(game_store)):
        with pytest.raises(StaleEtag):
            apply(process, lost, awaited, next_move, str(uuid.uuid4()), etag=lost.head)
        assert process.get(start.game_id, deadline()).head == now.head
        assert process.log_since(now, lost.head, deadline()) is None


def test_a_move_made_again_after_a_failover_has_one_time_everywhere(
    game_store: Store, raw: Any, start: StoredGame
) -> None:
    key, processes = game_keys(start.game_id).game, [repository(game_store) for _ in range(3)]
    replica = raw.dump(key)
    seat, move = chosen(start, random.Random(1))
    lost = apply(processes[0], start, seat, move, "lost").game
    raw.restore(key, 0, replica, replace=True)
    time.sleep(0.005)

    now = apply(processes[1], start, seat, move, "made again").game

    assert (now.head, now.state) == (lost.head, lost.state)
    assert now.updated_at > lost.updated_at
    assert [process.get(start.game_id, deadline()) for process in processes] == [now] * 3
