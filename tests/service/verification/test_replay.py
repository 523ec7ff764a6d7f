"""Replay: an unchanged history verifies, and every change is detected and described."""

import hashlib
import random
from collections.abc import Callable
from typing import Any

import pytest

from service.verification import Mismatch, Unverifiable, replay_history
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_BANANA, FLAVOR_KIWI
from tests.support.game_clients import new_game, play
from tests.support.moves import flip, jerk
from tests.support.service import Service, channel_to

History = pb.GetHistoryResponse
Change = Callable[[History], Any]

SEED = bytes(range(32))


@pytest.fixture(scope="module")
def played(service: Service) -> History:
    """The history of a game with two seats and without kiwi."""
    with channel_to(service.target) as channel:
        game = new_game(GameServiceStub(channel), 2, jerk(first_seat=0, removed_flavor=FLAVOR_KIWI), seed=SEED)
        play(game, random.Random(1))
        return game.spectator.history(page_size=1000)


@pytest.fixture
def history(played: History) -> History:
    """A copy of it to change."""
    copy = History()
    copy.CopyFrom(played)
    return copy


def set_seed(seed: bytes) -> Change:
    """Return a change of the seed and its commitment."""

    def change(history: History) -> None:
        history.seed = seed
        history.seed_commitment = hashlib.sha256(seed).digest()

    return change


def put(path: str, value: Any) -> Change:
    """Return a change of the field at a path such as `entries.3.seat`."""

    def change(history: History) -> None:
        *steps, last = path.split(".")
        at: Any = history
        for step in steps:
            at = at[int(step)] if step.isdecimal() else getattr(at, step)
        setattr(at, last, value)

    return change


def clear(path: str) -> Change:
    """Return a change that clears the field at a path."""

    def change(history: History) -> None:
        *steps, last = path.split(".")
        at: Any = history
        for step in steps:
            at = at[int(step)] if step.isdecimal() else getattr(at, step)
        at.ClearField(last)

    return change


def replace_move(number: int, move: game_pb2.Move) -> Change:
    """Return a change of the move of an entry."""
    return lambda history: history.entries[number].move.CopyFrom(move)


def drop(number: int) -> Change:
    """Return a change that removes an entry."""
    return lambda history: history.entries.pop(number)


def swap(history: History) -> None:
    """Swap two entries."""
    third, fourth = history.entries[2], history.entries[3]
    between = pb.HistoryEntry.FromString(third.SerializeToString())
    third.CopyFrom(fourth)
    fourth.CopyFrom(between)


def append_a_move(history: History) -> None:
    """Add a move after the end."""
    history.entries.append(history.entries[-1])
    history.entries[-1].version += 1


def flip_a_placed_card(history: History) -> None:
    """Change the value of the card in the first event."""
    card = history.entries[1].events[0].detail.soda_jerk.placed.card.card
    card.value = card.value % 3 + 1


def move_another_card(history: History) -> None:
    """Change the first move to another card of the same hand, which is placed later in the round."""
    first, *later = (entry.move.soda_jerk.place for entry in history.entries[1:12] if entry.seat == 0)
    first.card.CopyFrom(next(place.card for place in later if place.HasField("card") and place.card != first.card))


def test_an_unchanged_history_verifies(history: History) -> None:
    replayed = replay_history(history)

    assert replayed.title == "Soda Jerk"
    assert replayed.moves == len(history.entries) - 1
    assert replayed.score.finished


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(put("seed", SEED[::-1]), "the seed does not match the commitment", id="another seed"),
        pytest.param(clear("seed_commitment"), "the seed does not match the commitment", id="no commitment"),
        pytest.param(set_seed(SEED[::-1]), "version 2: the rules reject it: You do not hold", id="another deal"),
        pytest.param(set_seed(b"seed"), "version 1: the rules reject it: a seed has 32 bytes, not 4", id="short seed"),
        pytest.param(put("seat_count", 3), "version 1: the rules reject it: Only two seats", id="more seats"),
        pytest.param(put("seat_count", 2**31 - 1), "version 1: the rules reject it", id="too many seats"),
        pytest.param(put("options.soda_jerk.advanced", True), "version 1: the reported events", id="other options"),
        pytest.param(
            put("options.soda_jerk.first_seat", 9), "the rules reject it: There is no seat 9", id="bad options"
        ),
        pytest.param(put("options.soda_jerk.removed_flavor", 9), "version 1: the rules reject it", id="unknown flavor"),
        pytest.param(clear("entries"), "the history has no entries", id="no entries"),
        pytest.param(drop(0), "version 1 is missing", id="no creation"),
        pytest.param(drop(6), "version 7 is missing", id="an entry removed"),
        pytest.param(swap, "version 3 is missing", id="two entries swapped"),
        pytest.param(put("entries.4.version", 6), "version 5 is missing", id="a version changed"),
        pytest.param(drop(-1), "the game is not finished after the last entry", id="no end"),
        pytest.param(append_a_move, "the rules reject it: The game is over", id="a move after the end"),
        pytest.param(put("entries.0.seat", 0), "version 1: only version 1", id="a creation by a seat"),
        pytest.param(replace_move(0, flip(FLAVOR_BANANA, 1)), "version 1: only version 1", id="with a move"),
        pytest.param(clear("entries.3.seat"), "version 4: only version 1", id="no seat"),
        pytest.param(clear("entries.3.move"), "version 4: only version 1", id="no move"),
        pytest.param(
            put("entries.1.seat", 1), "version 2: the rules reject it: It is the turn of seat 0", id="other seat"
        ),
        pytest.param(put("entries.1.seat", 99), "version 2: the rules reject it", id="no seat of the game"),
        pytest.param(put("entries.1.seat", -1), "version 2: the rules reject it", id="a negative seat"),
        pytest.param(move_another_card, "version 2: the reported events", id="another card placed"),
        pytest.param(
            replace_move(1, flip(FLAVOR_BANANA, 1)), "version 2: the rules reject it: Your first turn", id="illegal"
        ),
        pytest.param(replace_move(1, game_pb2.Move()), "version 2: the rules reject it", id="a move of no game"),
        pytest.param(put("entries.1.move.soda_jerk.place.tap", 9), "version 2: the rules reject it", id="unknown tap"),
        pytest.param(put("entries.1.move.soda_jerk.place.tap", 0), "version 2: the rules reject it", id="no tap"),
        pytest.param(flip_a_placed_card, "version 2: the reported events", id="another card in the event"),
        pytest.param(clear("entries.1.events"), "version 2: the reported events", id="no events"),
        pytest.param(
            lambda history: history.entries[1].events.append(history.entries[2].events[0]),
            "version 2: the reported events",
            id="an additional event",
        ),
        pytest.param(
            put("entries.1.events.0.text", "Nothing."),
            "version 2: the reported events",
            id="another text",
        ),
        pytest.param(
            put("entries.1.events.0.seat", 1),
            "version 2: the reported events",
            id="another seat in the event",
        ),
        pytest.param(
            put("entries.1.events.0.version", 3),
            "version 2: the reported events",
            id="another version in the event",
        ),
    ],
)
def test_a_change_is_detected_and_described(history: History, change: Change, expected: str) -> None:
    change(history)

    with pytest.raises(Mismatch) as caught:
        replay_history(history)

    assert expected in str(caught.value)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(clear("options"), "this release does not offer the kind of game", id="no options"),
        pytest.param(clear("options.soda_jerk"), "this release does not offer the kind of game", id="no kind"),
        pytest.param(clear("seed"), "sealed", id="no seed"),
        pytest.param(put("rules_version", 7), "played by version 7 of the rules; this release has", id="other rules"),
    ],
)
def test_a_history_that_cannot_be_replayed_is_unverifiable(history: History, change: Change, expected: str) -> None:
    change(history)

    with pytest.raises(Unverifiable) as caught:
        replay_history(history)

    assert expected in str(caught.value)
