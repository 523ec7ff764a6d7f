"""Times: of a game, its changes and its expiry, by the store's clock."""

import random
import time
import uuid

import pytest
from redis import Redis

from service.store.keys import game_keys
from sodafountain.v1 import game_pb2
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.transports import EVERY_TRANSPORT
from tests.support.watching import Watch, events_of

CLOCK_MS = 2000
"""How far the store's clock may differ from that of this process, with the time of a call."""


def store_ms(raw: Redis) -> int:
    """Return the time of the store's clock in Unix milliseconds."""
    seconds, microseconds = raw.time()
    return int(seconds) * 1000 + int(microseconds) // 1000


@EVERY_TRANSPORT
def test_a_new_game_has_the_time_of_the_stores_clock(stub: GameServiceStub, raw: Redis) -> None:
    before = store_ms(raw)

    state = new_game(stub).created.state

    assert before <= state.create_time.ToMilliseconds() <= store_ms(raw)
    assert state.update_time == state.create_time
    assert state.create_time.ToNanoseconds() % 1_000_000 == 0


def test_a_move_changes_the_time_of_update_and_not_that_of_creation(stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    time.sleep(0.005)
    before = store_ms(raw)

    [applied] = play(game, random.Random(1), moves=1)

    assert applied.state.create_time == game.created.state.create_time
    assert before <= applied.state.update_time.ToMilliseconds() <= store_ms(raw)
    assert game.spectator.state().update_time == applied.state.update_time


@EVERY_TRANSPORT
def test_events_and_entries_have_the_time_of_their_version(stub: GameServiceStub) -> None:
    game = new_game(stub)
    watch = Watch(game.spectator)
    watch.next()
    applied = play(game, random.Random(2), moves=6)

    history = game.spectator.history()
    watch.until_version(7)

    times = [game.created.state.create_time, *(response.state.update_time for response in applied)]
    assert [entry.commit_time for entry in history.entries] == times
    assert [moment.ToMilliseconds() for moment in times] == sorted(moment.ToMilliseconds() for moment in times)
    for events in ([e for entry in history.entries for e in entry.events], events_of(watch.messages)):
        assert events
        assert all(event.commit_time == times[event.version - 1] for event in events)
    for response in applied:
        assert {event.commit_time.ToMilliseconds() for event in response.events} == {
            response.state.update_time.ToMilliseconds()
        }


def test_times_survive_the_end_of_the_game_and_other_processes(store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    applied = play(game, random.Random(3))

    with in_process_stub(store_url, keys="k:" + "A" * 44) as other:
        state, history = game.at(other).spectator.state(), game.at(other).spectator.history(page_size=1000)

    times = [game.created.state.create_time, *(response.state.update_time for response in applied)]
    assert (state.create_time, state.update_time) == (times[0], times[-1])
    assert [entry.commit_time for entry in history.entries] == times


def test_a_repeated_move_has_the_time_of_its_commit(stub: GameServiceStub) -> None:
    game = new_game(stub)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    move, request_id = seat.legal().moves[0].move, str(uuid.uuid4())
    first = seat.apply(move, request_id=request_id)
    time.sleep(0.005)

    again = seat.apply(move, request_id=request_id)

    assert again.repeated_request
    assert again.events[0].commit_time == first.events[0].commit_time == first.state.update_time
    assert again.state == first.state


def test_only_changes_of_the_game_move_its_expiry(stub: GameServiceStub) -> None:
    game = new_game(stub)
    state = game.created.state
    time.sleep(0.005)

    for caller in (*game.seats, game.spectator, game.host):
        caller.state()
        caller.score()
        caller.history()
    watch = Watch(game.seats[0])
    watch.next()
    watch.cancel()
    assert game.spectator.state() == state
    [applied] = play(game, random.Random(4), moves=1)

    assert lifetime(applied.state) == lifetime(state)
    assert applied.state.expire_time.ToMilliseconds() > state.expire_time.ToMilliseconds()


def test_the_expiry_is_that_of_the_stored_game(stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub, 2)
    check_expiry(game, raw)

    play(game, random.Random(5))

    check_expiry(game, raw)


def check_expiry(game: Game, raw: Redis) -> None:
    """Check that the store deletes the game at its expiry."""
    remaining = raw.pttl(game_keys(game.game_id).game)
    expected = game.spectator.state().expire_time.ToMilliseconds() - store_ms(raw)
    assert expected == pytest.approx(remaining, abs=CLOCK_MS)


def lifetime(state: game_pb2.GameState) -> int:
    """Return how long the game lives from its last change, in milliseconds."""
    return state.expire_time.ToMilliseconds() - state.update_time.ToMilliseconds()
