"""A table: what a history lacks or has too much, what a watch leaves out, and games that do not end are told of."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
import pytest

from clients.loadtest.game_session import Table, wrong_with
from sodafountain import Update
from sodafountain.v1.game_pb2 import Event, GameState
from sodafountain.v1.game_service_pb2 import GetHistoryResponse, HistoryEntry
from tests.clients.loadtest.game_sessions import Service, answer, flip, table_of, turn

ENTRIES = [HistoryEntry(version=1), HistoryEntry(version=2, seat=0, move=flip(1).move)]


@pytest.mark.parametrize(
    ("history", "faults"),
    [
        (ENTRIES, []),
        (ENTRIES[:1], ["soda_jerk game: version 2 was acknowledged, and its history lacks it."]),
        (
            [ENTRIES[0], HistoryEntry(version=2, seat=0, move=flip(2).move)],
            ["soda_jerk game: its history has another version 2 than was acknowledged."],
        ),
        (
            [*ENTRIES, HistoryEntry(version=3, seat=1, move=flip(2).move)],
            ["soda_jerk game: its history has a version 3 that nobody made."],
        ),
    ],
)
def test_a_history_that_is_not_what_was_acknowledged_is_a_fault(
    table: Table, service: Service, history: list[HistoryEntry], faults: list[str]
) -> None:
    turn(table, service)
    table.heard(1, 2)
    table.heard(2, 2)
    service.told = GetHistoryResponse(entries=history)
    table._check()
    assert table.run.recorder.faults == faults


def test_a_move_that_a_seat_never_saw_is_a_fault(table: Table, service: Service) -> None:
    turn(table, service)
    table.heard(1, 2)
    service.told = GetHistoryResponse(entries=ENTRIES)
    table._check()
    assert table.run.recorder.faults == ["soda_jerk game: seats [2] never saw version 2."]


def update(version: int, *told: int, is_snapshot: bool = False) -> Update:
    """An update to a version, with events of versions."""
    events = [Event(version=version) for version in told]
    return Update(state=GameState(version=version), events=events, is_snapshot=is_snapshot, resume_token="")


@pytest.mark.parametrize(
    ("heard", "seen", "wrong"),
    [
        (update(5, is_snapshot=True), 0, None),
        (update(6, 6), 5, None),
        (update(8, 6, 6, 7, 8), 5, None),
        (update(9, is_snapshot=True), 5, None),
        (update(6, 6), 6, "heard of version 6 again"),
        (update(7, 6, 7), 6, "heard of version 6 again"),
        (update(5, is_snapshot=True), 5, "heard of version 5 again"),
        (update(8, 7, 8), 5, "was never told what happened in version 6"),
        (update(7, 6), 5, "was never told what happened in version 7"),
        (update(6), 5, "was never told what happened in version 6"),
    ],
)
def test_whoever_watches_is_to_hear_of_every_version_once(heard: Update, seen: int, wrong: str | None) -> None:
    assert wrong_with(heard, seen) == wrong


class Watched(Service):
    """A service whose watches tell what a test says, a seat's once."""

    def __init__(self, *updates: Update) -> None:
        super().__init__()
        self.updates = updates

    @contextmanager
    def watch(self, **_: Any) -> Iterator[Iterator[Update]]:
        yield iter(self.updates)

    def spectator(self, _: str) -> "Watched":
        return self


def test_what_a_watch_lacks_is_a_fault_of_a_seat_and_of_a_spectator() -> None:
    service = Watched(update(1, is_snapshot=True), update(3, 3))
    table = table_of(service, spectators=1)
    table._players[2].seen = 0
    table._players[2].follow()
    table._watch(table._spectators[0])
    assert table.run.recorder.faults == [
        "soda_jerk game: seat 2 was never told what happened in version 2.",
        "soda_jerk game: a spectator was never told what happened in version 2.",
    ]


def test_a_game_that_does_not_end_is_named_with_those_for_whom_it_waits(table: Table, service: Service) -> None:
    turn(table, service, answer(2, 1))
    table.heard(2, 2)
    table.give_up()
    assert table.run.recorder.faults == [
        "soda_jerk game: the game did not end: seats [1] are awaited in version 2.",
        "soda_jerk game: seats [1] never saw version 2.",
    ]


def test_a_game_whose_table_is_taken_away_is_left_and_no_fault_of_the_service(table: Table) -> None:
    playing = gevent.spawn(table.play)
    gevent.sleep(0)
    assert table in table.run.tables
    playing.kill()
    assert list(table.run.recorder.counted("game")) == [("soda_jerk", "left", 1)]
    assert not table.run.tables


def test_two_moves_that_were_acknowledged_as_the_same_version_are_a_fault(table: Table, service: Service) -> None:
    turn(table, service)
    turn(table, service)
    assert table.run.recorder.faults == ["soda_jerk game: two moves were acknowledged as version 2."]
