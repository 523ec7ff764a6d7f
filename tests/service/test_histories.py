"""GetHistory: what the caller may know during the game and of a sealed game, and everything after the end of others."""

import hashlib
import random
from typing import Any

import pytest

from service.verification import Unverifiable, replay_history
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, GameClient, new_game, play
from tests.support.transports import EVERY_TRANSPORT
from tests.support.watching import Watch, events_of

KINDS = ["soda_jerk", "soda_smugglers", "juices"]


def options_of(kind: str) -> game_pb2.Options:
    """Return the default options of a kind of game."""
    options = game_pb2.Options()
    getattr(options, kind).SetInParent()
    return options


def pages(caller: GameClient, size: int, **fields: Any) -> list[pb.GetHistoryResponse]:
    """Read the history page by page."""
    found = [caller.history(page_size=size, **fields)]
    while found[-1].next_page_token:
        found.append(caller.history(page_size=size, page_token=found[-1].next_page_token, **fields))
    return found


def moves_by_seat(history: pb.GetHistoryResponse) -> dict[int, int]:
    """Return how many moves the history shows of each seat."""
    counts: dict[int, int] = {}
    for entry in history.entries:
        if entry.HasField("move"):
            counts[entry.seat] = counts.get(entry.seat, 0) + 1
    return counts


@EVERY_TRANSPORT
def test_the_history_of_a_new_game_is_its_creation(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)

    history = game.spectator.history()

    state = game.created.state
    assert (history.game_id, history.seat_count, history.options) == (game.game_id, 3, state.options)
    assert (history.status, history.sealed) == (game_pb2.GAME_STATUS_ACTIVE, False)
    assert history.seed_commitment == state.seed_commitment
    assert (history.seed, history.commitment_text, history.next_page_token) == (b"", "", "")
    [creation] = history.entries
    assert (creation.version, creation.HasField("seat"), creation.HasField("move")) == (1, False, False)
    assert creation.commit_time == state.create_time
    assert creation.events


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sealed", [False, True], ids=["during the game", "sealed"])
def test_a_history_shows_the_own_moves_and_the_events_as_they_were_watched(
    stub: GameServiceStub, kind: str, sealed: bool
) -> None:
    game = new_game(stub, 4, options_of(kind), sealed=sealed)
    callers = [*game.seats, game.spectator, game.invited, game.host]
    watches = [Watch(caller, timeout=60) for caller in callers]
    for watch in watches:
        watch.next()

    applied = play(game, random.Random(1), moves=None if sealed else 30)

    last = len(applied) + 1
    for watch in watches:
        watch.until_version(last)
    made = dict.fromkeys(range(4), 0)
    for response in applied:
        made[response.events[0].seat] += 1
    for number, (caller, watch) in enumerate(zip(callers, watches, strict=True)):
        history = caller.history(page_size=1000)
        assert [entry.version for entry in history.entries] == list(range(1, last + 1))
        assert events_of(watch.messages) == [event for entry in history.entries[1:] for event in entry.events]
        assert moves_by_seat(history) == ({number: made[number]} if number < 4 and made[number] else {})
        assert (history.seed, history.commitment_text) == (b"", "")
        assert history.sealed == sealed


def test_the_host_reads_the_history_of_a_seat_by_naming_it(stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    play(game, random.Random(2), moves=9)

    assert game.host.history(seat=1) == game.seats[1].history() == game.seats[1].history(seat=1)
    assert game.host.history() == game.spectator.history() == game.invited.history()
    assert game.host.history(seat=0) != game.host.history(seat=1)


def test_an_entry_of_the_history_shows_the_move_that_the_seat_made(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    seat = game.created.state.awaiting_seats[0]
    move = game.seats[seat].legal().moves[0].move
    applied = game.seats[seat].apply(move)

    entry = game.seats[seat].history().entries[1]

    assert (entry.version, entry.seat, entry.move) == (2, seat, move)
    assert list(entry.events) == list(applied.events)
    assert not game.seats[1 - seat].history().entries[1].HasField("move")


@EVERY_TRANSPORT
def test_after_the_end_every_caller_reads_everything(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    play(game, random.Random(3))

    history = game.spectator.history(page_size=1000)

    assert history.status == game_pb2.GAME_STATUS_FINISHED
    assert all(caller.history(page_size=1000) == history for caller in (*game.seats, game.host, game.invited))
    assert game.host.history(page_size=1000, seat=1) == history
    assert all(entry.HasField("move") for entry in history.entries[1:])
    placed = [event.detail.soda_jerk.placed for entry in history.entries for event in entry.events]
    assert all(event.card.HasField("card") for event in placed if event.HasField("card"))
    text = history.commitment_text
    assert hashlib.sha256(text.encode()).digest() == history.seed_commitment == game.created.state.seed_commitment
    assert text.splitlines() == [
        "sodafountain.v1",
        f"game {game.game_id}",
        "seats 2",
        'options {"sodaJerk":{"copiesPerValue":[3,3,3]}}',
        f"seed {history.seed.hex()}",
    ]
    assert text.endswith("\n")


@EVERY_TRANSPORT
def test_the_history_is_read_in_pages_that_repeat_the_facts(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    play(game, random.Random(4))
    whole = game.spectator.history(page_size=1000)

    found = pages(game.spectator, 7)

    assert [entry for page in found for entry in page.entries] == list(whole.entries)
    assert {len(page.entries) for page in found[:-1]} == {7}
    for page in found:
        del page.entries[:]
        page.next_page_token = ""
    del whole.entries[:]
    assert all(page == whole for page in found)


@pytest.mark.parametrize("size", [1, 3, 10])
def test_the_last_page_of_an_active_game_has_no_token(stub: GameServiceStub, size: int) -> None:
    game = new_game(stub, 2)
    play(game, random.Random(5), moves=8)

    found = pages(game.seats[0], size)

    assert [entry.version for page in found for entry in page.entries] == list(range(1, 10))
    assert len(found) == -(-9 // size)


def test_a_page_token_of_the_game_is_valid_after_its_end(stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    play(game, random.Random(6), moves=8)
    first = game.seats[0].history(page_size=5)

    play(game, random.Random(7))
    second = game.seats[0].history(page_size=1000, page_token=first.next_page_token)

    assert (first.status, second.status) == (game_pb2.GAME_STATUS_ACTIVE, game_pb2.GAME_STATUS_FINISHED)
    assert [entry.version for entry in first.entries] == [1, 2, 3, 4, 5]
    assert list(second.entries) == list(game.seats[0].history(page_size=1000).entries[5:])


@EVERY_TRANSPORT
def test_a_sealed_game_keeps_its_secrets_for_ever(stub: GameServiceStub) -> None:
    game = new_game(stub, 2, sealed=True)
    play(game, random.Random(8))

    history = game.seats[0].history(page_size=1000)

    assert (history.status, history.sealed) == (game_pb2.GAME_STATUS_FINISHED, True)
    assert (history.seed, history.commitment_text) == (b"", "")
    assert history.seed_commitment == game.created.state.seed_commitment
    assert set(moves_by_seat(history)) == {0}
    for entry in history.entries:
        for event in entry.events:
            card = event.detail.soda_jerk.placed.card
            if event.detail.soda_jerk.HasField("placed") and not card.face_up:
                assert card.HasField("card") == (entry.seat == 0)
    with pytest.raises(Unverifiable, match="sealed"):
        replay_history(history)


def test_an_unwatched_game_has_the_same_history(stub: GameServiceStub) -> None:
    games: list[Game] = [new_game(stub, 2, seed=bytes(32)) for _ in range(2)]
    watch = Watch(games[0].seats[0])
    watch.next()
    for game in games:
        play(game, random.Random(9), moves=10)

    watched, unwatched = ([entry.events[0].detail for entry in game.seats[0].history().entries] for game in games)

    assert watched == unwatched
