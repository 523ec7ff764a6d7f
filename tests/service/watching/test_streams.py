"""What a watcher is told: a snapshot, then what happens, as it may know it; signs of life in between."""

import random

import pytest

from sodafountain.v1 import game_pb2
from tests.service.watching.conftest import Place
from tests.support.players import Game, new_game, play
from tests.support.watching import Watch, ends_of, events_of, prove_whole, state_of, timeless


def test_the_first_message_is_the_game_as_get_game_shows_it(place: Place) -> None:
    game = new_game(place.here)

    for caller in (*game.seats, game.spectator, game.host):
        assert timeless(Watch(caller).next().snapshot) == timeless(caller.state())


def test_a_host_may_watch_for_every_seat(place: Place) -> None:
    game = new_game(place.here)

    assert timeless(Watch(game.host, seat=1).next().snapshot) == timeless(game.seats[1].state())


@pytest.mark.parametrize("asked", [False, True])
def test_legal_moves_are_told_on_request(place: Place, asked: bool) -> None:
    game = new_game(place.here, 2)
    seat = game.seats[0]
    watch = Watch(seat, include_legal_moves=asked)
    state = watch.next().snapshot
    told = []

    for version in range(2, 7):
        assert list(state.legal_moves) == (list(seat.legal().moves) if asked else [])
        told.append(len(state.legal_moves))
        play(game, random.Random(0), moves=1)
        state = state_of(watch.until_version(version))

    assert any(told) == asked


def test_a_spectator_who_asks_for_legal_moves_is_told_none(place: Place) -> None:
    game = new_game(place.here)

    assert not Watch(game.spectator, include_legal_moves=True).next().snapshot.legal_moves


@pytest.mark.parametrize("away", [False, True], ids=["at the same process", "at another process"])
def test_a_move_is_told_to_all_with_its_events_and_the_newest_state(place: Place, away: bool) -> None:
    game = new_game(place.here)
    watchers = [*game.seats, game.spectator]
    watches = [Watch(caller) for caller in watchers]
    for watch in watches:
        watch.next()

    (applied,) = play(game.at(place.there if away else place.here), random.Random(1), moves=1)

    for caller, watch in zip(watchers, watches, strict=True):
        update = watch.until(lambda message: message.HasField("update")).update
        assert update.first_version == 2
        assert {event.version for event in update.events} == {2}
        assert timeless(update.state) == timeless(caller.state())
    mover = next(event.seat for event in applied.events)
    assert events_of(watches[mover].messages) == list(applied.events)


@pytest.mark.parametrize("options", ["soda_jerk", "soda_smugglers", "juices"])
def test_a_whole_game_is_told_as_its_history_tells_it(place: Place, options: str) -> None:
    """A sealed game's history holds the events as its reader may know them."""
    asked = game_pb2.Options()
    getattr(asked, options).SetInParent()
    game = new_game(place.here, 4, asked, sealed=True)
    watchers = [*game.seats, game.spectator]
    watches = [Watch(caller, timeout=60) for caller in watchers]
    for watch in watches:
        watch.next()

    play(game.at(place.there), random.Random(2))

    for caller, watch in zip(watchers, watches, strict=True):
        watch.rest()
        history = caller.history(page_size=1000)
        assert prove_whole(watch.messages) == history.entries[-1].version
        assert events_of(watch.messages) == [event for entry in history.entries[1:] for event in entry.events]
        assert timeless(state_of(watch.messages[-2])) == timeless(caller.state())
        assert ends_of(watch.messages) == ["FINISHED"]
        assert watch.messages[-1].HasField("end")


def test_a_watcher_who_is_told_nothing_else_hears_that_the_game_is_there(place: Place) -> None:
    game = new_game(place.here)
    watch = Watch(game.spectator)

    messages = [watch.next() for _ in range(4)]

    assert [message.WhichOneof("item") for message in messages] == ["snapshot", *["heartbeat"] * 3]
    assert {message.heartbeat.version for message in messages[1:]} == {1}
    assert len({message.resume_token for message in messages}) == 1


def test_every_message_carries_a_token(place: Place) -> None:
    game = new_game(place.here)
    watch = Watch(game.spectator)
    watch.next()

    play(game, random.Random(3))

    assert all(message.resume_token for message in [*watch.messages, *watch.rest()])


def test_watching_a_seat_makes_its_game_live_on_and_looking_from_outside_does_not(place: Place) -> None:
    watched, looked_at = new_game(place.here), new_game(place.here)
    Watch(watched.seats[0]).until(lambda message: message.HasField("heartbeat"))
    Watch(looked_at.spectator).until(lambda message: message.HasField("heartbeat"))

    def lives_on(game: Game) -> bool:
        return game.spectator.state().expire_time.ToNanoseconds() > game.made.state.expire_time.ToNanoseconds()

    assert lives_on(watched)
    assert not lives_on(looked_at)


def test_a_move_made_while_the_stream_is_being_opened_is_not_missed(place: Place) -> None:
    chance = random.Random(4)
    for _ in range(30):
        game = new_game(place.here)
        watch = Watch(game.spectator)
        play(game.at(place.there), chance, moves=1)

        assert state_of(watch.until_version(2)).version == 2
        prove_whole(watch.messages)
        watch.cancel()


def test_the_wire_holds_a_message_for_each_audience_once_built(place: Place) -> None:
    """Watchers of one audience are told the same, byte for byte; of two, each what it may know."""
    game = new_game(place.here)
    twins = [Watch(game.seats[0]), Watch(game.seats[0])]
    other = Watch(game.seats[1])
    for watch in (*twins, other):
        watch.next()

    play(game, random.Random(5), moves=1)

    one, two, three = (watch.until_version(2) for watch in (*twins, other))
    assert one.SerializeToString(deterministic=True) == two.SerializeToString(deterministic=True)
    assert one.update.state.view != three.update.state.view
