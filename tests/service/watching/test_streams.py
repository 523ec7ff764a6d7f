"""The messages of a watch: a snapshot, then updates for its viewer, and heartbeats in between."""

import random

import pytest

from sodafountain.v1 import game_pb2
from tests.service.watching.conftest import TwoServices
from tests.support.game_clients import new_game, play
from tests.support.watching import Watch, check_complete, ends_of, events_of, state_of


def test_the_first_message_is_the_game_as_get_game_returns_it(pair: TwoServices) -> None:
    game = new_game(pair.first)

    for caller in (*game.seats, game.spectator, game.host):
        assert Watch(caller).next().snapshot == caller.state()


def test_a_host_may_watch_for_every_seat(pair: TwoServices) -> None:
    game = new_game(pair.first)

    assert Watch(game.host, seat=1).next().snapshot == game.seats[1].state()


@pytest.mark.parametrize("requested", [False, True])
def test_legal_moves_are_sent_on_request(pair: TwoServices, requested: bool) -> None:
    game = new_game(pair.first, 2)
    seat = game.seats[0]
    watch = Watch(seat, include_legal_moves=requested)
    state = watch.next().snapshot
    offered = []

    for version in range(2, 7):
        assert list(state.legal_moves) == (list(seat.legal().moves) if requested else [])
        offered.append(len(state.legal_moves))
        play(game, random.Random(0), moves=1)
        state = state_of(watch.until_version(version))

    assert any(offered) == requested


def test_a_spectator_receives_no_legal_moves(pair: TwoServices) -> None:
    game = new_game(pair.first)

    assert not Watch(game.spectator, include_legal_moves=True).next().snapshot.legal_moves


@pytest.mark.parametrize("away", [False, True], ids=["at the same process", "at another process"])
def test_a_move_is_sent_to_all_with_its_events_and_the_newest_state(pair: TwoServices, away: bool) -> None:
    game = new_game(pair.first)
    watchers = [*game.seats, game.spectator]
    watches = [Watch(caller) for caller in watchers]
    for watch in watches:
        watch.next()

    (applied,) = play(game.at(pair.second if away else pair.first), random.Random(1), moves=1)

    for caller, watch in zip(watchers, watches, strict=True):
        update = watch.until(lambda message: message.HasField("update")).update
        assert update.first_version == 2
        assert {event.version for event in update.events} == {2}
        assert update.state == caller.state()
    mover = next(event.seat for event in applied.events)
    assert events_of(watches[mover].messages) == list(applied.events)


@pytest.mark.parametrize("options", ["soda_jerk", "soda_smugglers", "juices"])
def test_a_whole_game_is_sent_as_in_its_history(pair: TwoServices, options: str) -> None:
    """The history of a sealed game contains the events in the form that the reader may see."""
    options_message = game_pb2.Options()
    getattr(options_message, options).SetInParent()
    game = new_game(pair.first, 4, options_message, sealed=True)
    watchers = [*game.seats, game.spectator]
    watches = [Watch(caller, timeout=60) for caller in watchers]
    for watch in watches:
        watch.next()

    play(game.at(pair.second), random.Random(2))

    for caller, watch in zip(watchers, watches, strict=True):
        watch.rest()
        history = caller.history(page_size=1000)
        assert check_complete(watch.messages) == history.entries[-1].version
        assert events_of(watch.messages) == [event for entry in history.entries[1:] for event in entry.events]
        assert state_of(watch.messages[-2]) == caller.state()
        assert ends_of(watch.messages) == ["FINISHED"]
        assert watch.messages[-1].HasField("end")


def test_an_idle_watcher_receives_heartbeats(pair: TwoServices) -> None:
    game = new_game(pair.first)
    watch = Watch(game.spectator)

    messages = [watch.next() for _ in range(4)]

    assert [message.WhichOneof("item") for message in messages] == ["snapshot", *["heartbeat"] * 3]
    assert {message.heartbeat.version for message in messages[1:]} == {1}
    assert len({message.resume_token for message in messages}) == 1


def test_every_message_has_a_resume_token(pair: TwoServices) -> None:
    game = new_game(pair.first)
    watch = Watch(game.spectator)
    watch.next()

    play(game, random.Random(3))

    assert all(message.resume_token for message in [*watch.messages, *watch.rest()])


def test_no_watcher_changes_anything_that_others_receive(pair: TwoServices) -> None:
    game = new_game(pair.first)
    for watch in [Watch(caller) for caller in (*game.seats, game.host, game.spectator)]:
        watch.until(lambda message: message.HasField("heartbeat"))

    assert game.spectator.state() == game.created.state
    assert game.at(pair.second).spectator.state() == game.created.state


def test_a_move_during_the_opening_of_a_stream_is_not_missed(pair: TwoServices) -> None:
    rng = random.Random(4)
    for _ in range(30):
        game = new_game(pair.first)
        watch = Watch(game.spectator)
        play(game.at(pair.second), rng, moves=1)

        assert state_of(watch.until_version(2)).version == 2
        check_complete(watch.messages)
        watch.cancel()


def test_watchers_of_one_audience_receive_identical_messages(pair: TwoServices) -> None:
    """The watcher of another seat receives another view."""
    game = new_game(pair.first)
    twins = [Watch(game.seats[0]), Watch(game.seats[0])]
    other = Watch(game.seats[1])
    for watch in (*twins, other):
        watch.next()

    play(game, random.Random(5), moves=1)

    one, two, three = (watch.until_version(2) for watch in (*twins, other))
    assert one.SerializeToString(deterministic=True) == two.SerializeToString(deterministic=True)
    assert one.update.state.view != three.update.state.view
