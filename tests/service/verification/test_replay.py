"""Replay: an unchanged history verifies, and every change is detected and described."""

import random
from collections.abc import Callable
from typing import Any

import pytest

from service.translation.commitment import commitment_of, commitment_text
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


def commit(history: History) -> None:
    """Compute the commitment of a changed history, as a caller that invents a history does."""
    text = commitment_text(history.game_id, history.seat_count, history.options, history.seed)
    history.commitment_text, history.seed_commitment = text, commitment_of(text)


def committed(change: Change) -> Change:
    """Return a change that also changes the commitment."""

    def change_and_commit(history: History) -> None:
        change(history)
        commit(history)

    return change_and_commit


def set_seed(seed: bytes) -> Change:
    """Return a change of the seed and its commitment."""

    def change(history: History) -> None:
        history.seed = seed
        commit(history)

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


def use_an_unknown_option(history: History) -> None:
    """Add a field with the number 999 to the options."""
    history.options.soda_jerk.MergeFromString(bytes((0xB8, 0x3E, 1)))


def test_an_unchanged_history_verifies(history: History) -> None:
    replayed = replay_history(history)

    assert replayed.title == "Soda Jerk"
    assert replayed.moves == len(history.entries) - 1
    assert replayed.score.finished


def test_the_kept_commitment_of_the_game_is_accepted(history: History) -> None:
    replayed = replay_history(history, game_id=history.game_id, commitment=history.seed_commitment)

    assert replayed.kept_commitment
    assert not replay_history(history).kept_commitment


def test_an_invented_history_is_consistent_and_contradicts_the_kept_commitment(history: History) -> None:
    """Everything of the history agrees, but it is of another game than the caller has seen."""
    kept = history.seed_commitment
    put("game_id", "a" * 26)(history)
    commit(history)

    assert replay_history(history).moves == len(history.entries) - 1
    with pytest.raises(Mismatch, match="the commitment of the history is not the given one"):
        replay_history(history, commitment=kept)


def test_the_history_of_another_game_is_a_mismatch(history: History) -> None:
    with pytest.raises(Mismatch, match=f"the history is of the game {history.game_id}, not of {'a' * 26}"):
        replay_history(history, game_id="a" * 26)


def test_times_do_not_follow_from_moves(history: History) -> None:
    for entry in history.entries:
        for part in (entry, *entry.events):
            part.ClearField("commit_time")

    assert replay_history(history).score.finished


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(put("seed", SEED[::-1]), "the line `seed` of commitment_text differs", id="another seed"),
        pytest.param(clear("seed"), "the line `seed` of commitment_text differs", id="no seed"),
        pytest.param(put("game_id", "a" * 26), "the line `game` of commitment_text differs", id="another game"),
        pytest.param(put("seat_count", 3), "the line `seats` of commitment_text differs", id="other seats"),
        pytest.param(
            put("options.soda_jerk.advanced", True), "the line `options` of commitment_text differs", id="other options"
        ),
        pytest.param(clear("commitment_text"), "commitment_text is not the text", id="no commitment_text"),
        pytest.param(
            lambda history: put("commitment_text", history.commitment_text[:-1])(history),
            "commitment_text is not the text",
            id="a commitment_text without its end",
        ),
        pytest.param(clear("seed_commitment"), "seed_commitment is not the SHA-256", id="no commitment"),
        pytest.param(put("seed_commitment", bytes(32)), "seed_commitment is not the SHA-256", id="other commitment"),
        pytest.param(set_seed(SEED[::-1]), "version 2: the rules reject it: You do not hold", id="another deal"),
        pytest.param(set_seed(b"seed"), "version 1: the rules reject it: a seed has 32 bytes, not 4", id="short seed"),
        pytest.param(
            committed(put("seat_count", 3)), "version 1: the rules reject it: Only two seats", id="more seats"
        ),
        pytest.param(committed(put("seat_count", 2**31 - 1)), "version 1: the rules reject it", id="too many seats"),
        pytest.param(
            committed(put("options.soda_jerk.advanced", True)), "version 1: the reported events", id="an advanced game"
        ),
        pytest.param(
            committed(put("options.soda_jerk.first_seat", 9)),
            "the rules reject it: There is no seat 9",
            id="bad options",
        ),
        pytest.param(
            committed(put("options.soda_jerk.removed_flavor", 9)), "version 1: the rules reject it", id="unknown flavor"
        ),
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
        pytest.param(
            put("entries.1.move.soda_jerk.place.tap_flavor", 9), "version 2: the rules reject it", id="unknown tap"
        ),
        pytest.param(
            put("entries.1.move.soda_jerk.place.tap_flavor", 0), "version 2: the rules reject it", id="no tap"
        ),
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
            lambda history: history.entries[1].events[0].commit_time.FromMilliseconds(1),
            "version 2: the reported events",
            id="another time in the event",
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
        pytest.param(put("sealed", True), "the game is sealed", id="sealed"),
        pytest.param(put("status", game_pb2.GAME_STATUS_ACTIVE), "the game is not finished", id="not finished"),
        pytest.param(use_an_unknown_option, "options that this release does not know", id="an unknown option"),
        pytest.param(
            lambda history: put("commitment_text", history.commitment_text + "entropy 00\n")(history),
            "commitment_text has lines that this release does not know",
            id="a line of a later release",
        ),
        pytest.param(put("rules_version", 7), "played by version 7 of the rules; this release has", id="other rules"),
    ],
)
def test_a_history_that_cannot_be_replayed_is_unverifiable(history: History, change: Change, expected: str) -> None:
    change(history)

    with pytest.raises(Unverifiable) as caught:
        replay_history(history)

    assert expected in str(caught.value)
