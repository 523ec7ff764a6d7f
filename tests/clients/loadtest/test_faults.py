"""A game session reports wrong histories, missing updates and games that do not finish."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gevent
import pytest

from clients.loadtest.game_session import GameSession, update_problem
from sodafountain import Update
from sodafountain.v1.game_pb2 import GAME_STATUS_ACTIVE, GAME_STATUS_FINISHED, Event, GameState
from sodafountain.v1.game_service_pb2 import GetHistoryResponse, HistoryEntry
from tests.clients.loadtest.game_sessions import COMMITMENT, FakeSeat, answer, flip, new_session, take_turn

ENTRIES = [HistoryEntry(version=1), HistoryEntry(version=2, seat=0, move=flip(1).move)]


@pytest.mark.parametrize(
    ("history", "faults"),
    [
        (ENTRIES, []),
        (ENTRIES[:1], ["soda_jerk game: version 2 was acknowledged but is missing from the history."]),
        (
            [ENTRIES[0], HistoryEntry(version=2, seat=0, move=flip(2).move)],
            ["soda_jerk game: version 2 of the history differs from the acknowledged move."],
        ),
        (
            [*ENTRIES, HistoryEntry(version=3, seat=1, move=flip(2).move)],
            ["soda_jerk game: version 3 of the history was never acknowledged."],
        ),
    ],
)
def test_a_history_that_differs_from_the_acknowledged_moves_is_a_fault(
    session: GameSession, seat: FakeSeat, history: list[HistoryEntry], faults: list[str]
) -> None:
    take_turn(session, seat)
    session.record_seen(1, 2)
    session.record_seen(2, 2)
    seat.past = GetHistoryResponse(status=GAME_STATUS_FINISHED, entries=history)
    session._check_history()
    assert session.run.recorder.faults == faults


def test_a_move_that_a_seat_never_received_is_a_fault(session: GameSession, seat: FakeSeat) -> None:
    take_turn(session, seat)
    session.record_seen(1, 2)
    seat.past = GetHistoryResponse(status=GAME_STATUS_FINISHED, entries=ENTRIES)
    session._check_history()
    assert session.run.recorder.faults == ["soda_jerk game: seats [2] never received version 2."]


def test_a_game_that_is_not_over_after_its_watches_is_a_fault(session: GameSession, seat: FakeSeat) -> None:
    seat.past = GetHistoryResponse(status=GAME_STATUS_ACTIVE)
    session._check_history()
    assert session.run.recorder.faults == [
        "soda_jerk game: the watches have ended, but the game is not over in version 1."
    ]


def test_every_viewer_compares_the_game_with_the_commitment_of_its_creation(seat: FakeSeat) -> None:
    new_session(seat, spectators=2)
    assert seat.commitments == [COMMITMENT] * 5


def update(version: int, *events: int, is_snapshot: bool = False) -> Update:
    """Create an update to a version, with events of these versions."""
    return Update(
        state=GameState(version=version),
        events=[Event(version=event) for event in events],
        is_snapshot=is_snapshot,
        resume_token="",
    )


@pytest.mark.parametrize(
    ("received", "seen", "problem"),
    [
        (update(5, is_snapshot=True), 0, None),
        (update(6, 6), 5, None),
        (update(8, 6, 6, 7, 8), 5, None),
        (update(9, is_snapshot=True), 5, None),
        (update(6, 6), 6, "received version 6 again"),
        (update(7, 6, 7), 6, "received version 6 again"),
        (update(5, is_snapshot=True), 5, "received version 5 again"),
        (update(8, 7, 8), 5, "received no event of version 6"),
        (update(7, 6), 5, "received no event of version 7"),
        (update(6), 5, "received no event of version 6"),
    ],
)
def test_a_viewer_must_receive_every_version_once(received: Update, seen: int, problem: str | None) -> None:
    assert update_problem(received, seen) == problem


class FakeWatch(FakeSeat):
    """A seat and spectator whose watches return prepared updates."""

    def __init__(self, *updates: Update) -> None:
        super().__init__()
        self.updates = updates

    @contextmanager
    def watch(self, **_: Any) -> Iterator[Iterator[Update]]:
        yield iter(self.updates)


def test_a_version_missing_from_a_watch_is_a_fault_for_seats_and_spectators() -> None:
    session = new_session(FakeWatch(update(1, is_snapshot=True), update(3, 3)), spectators=1)
    session._players[2].seen = 0
    session._players[2].follow()
    session._watch(session._spectators[0])
    assert session.run.recorder.faults == [
        "soda_jerk game: seat 2 received no event of version 2.",
        "soda_jerk game: a spectator received no event of version 2.",
    ]


def test_an_unfinished_game_is_reported_with_the_awaited_seats(session: GameSession, seat: FakeSeat) -> None:
    take_turn(session, seat, answer(2, 1))
    session.record_seen(2, 2)
    session.report_unfinished()
    assert session.run.recorder.faults == [
        "soda_jerk game: the game did not finish: seats [1] are awaited in version 2.",
        "soda_jerk game: seats [1] never received version 2.",
    ]


def test_a_game_whose_user_is_removed_counts_as_stopped_and_not_as_a_fault(session: GameSession) -> None:
    playing = gevent.spawn(session.play)
    gevent.sleep(0)
    assert session in session.run.sessions
    playing.kill()
    assert list(session.run.recorder.counts_of("game")) == [("soda_jerk", "stopped", 1)]
    assert not session.run.sessions


def test_two_moves_acknowledged_as_the_same_version_are_a_fault(session: GameSession, seat: FakeSeat) -> None:
    take_turn(session, seat)
    take_turn(session, seat)
    assert session.run.recorder.faults == ["soda_jerk game: two moves were acknowledged as version 2."]
