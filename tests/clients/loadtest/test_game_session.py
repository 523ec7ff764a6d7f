"""A whole move is measured from its intended start until the last seat has received it."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest.game_session import GameSession
from clients.loadtest.recorder import LATE, MOVE
from clients.loadtest.summary import percentile
from sodafountain import IllegalMove, Unreachable
from sodafountain.v1.game_pb2 import GameState
from sodafountain.v1.game_service_pb2 import LegalMovesResponse
from tests.clients.loadtest.game_sessions import (
    Clock,
    FakeSeat,
    answer,
    flip,
    longest,
    new_session,
    send_update,
    take_turn,
)


def test_a_late_update_does_not_delay_the_measured_start(session: GameSession, seat: FakeSeat) -> None:
    session.opened[0] = (1, time.monotonic() - 3)
    take_turn(session, seat)
    session.record_seen(1, 2)
    session.record_seen(2, 2)
    assert 3 <= longest(session, "ApplyMove") < 4
    assert 3 <= longest(session, MOVE) < 4
    assert longest(session, LATE) < 1, "the service caused the delay, not the generator"


def test_a_delay_by_the_generator_does_not_delay_the_measured_start(session: GameSession, seat: FakeSeat) -> None:
    session.opened[0] = (1, time.monotonic() - 3)
    session._players[0]._updated_at -= 2
    take_turn(session, seat)
    assert 3 <= longest(session, "ApplyMove") < 4
    assert 2 <= longest(session, LATE) < 3


def test_an_answered_decision_does_not_determine_when_the_next_one_opened(session: GameSession, seat: FakeSeat) -> None:
    session.opened[0] = (1, time.monotonic() - 3)
    session._players[0]._last_move = 2
    take_turn(session, seat, answer(3))
    assert longest(session, "ApplyMove") < 1


def test_the_first_decisions_open_when_every_seat_watches(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat)
    send_update(session, 1, 1)
    session.start_when_all_watch()
    assert not session.all_watching.is_set()
    send_update(session, 2, 1)
    session.start_when_all_watch()
    clock.now += 3
    send_update(session, 0, 1)
    take_turn(session, seat)
    assert longest(session, "ApplyMove") == pytest.approx(3, abs=0.01)


def test_a_decision_opens_with_the_answer_to_the_previous_move(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat)
    take_turn(session, seat, answer(2, 1))
    clock.now += 3
    send_update(session, 1, 2)
    take_turn(session, seat, answer(3), number=1)
    assert longest(session, "ApplyMove") == pytest.approx(3, abs=0.01)
    assert longest(session, LATE) < 0.01


def test_an_overtaken_answer_opens_only_the_decision_of_its_own_seat(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat, awaiting=(0, 1))
    session.record_commit(1, flip(1), answer(3, 0), clock.now)
    clock.now += 1
    session.record_commit(0, flip(1), answer(2, 1), clock.now)
    assert session.opened == {0: (2, clock.now)}, "seat 1 has already moved; seat 0 is awaited again"
    clock.now += 5
    session.record_commit(0, flip(1), answer(4, 1), clock.now)
    assert session.opened[1] == (4, clock.now)


def test_an_overtaken_answer_does_not_reopen_a_decision_of_a_newer_answer(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat, awaiting=(0, 1))
    session.record_commit(1, flip(1), answer(3, 2), clock.now)
    session.record_commit(2, flip(1), answer(4, 0), clock.now)
    opened = clock.now
    clock.now += 1
    session.record_commit(0, flip(1), answer(2, 1), clock.now)
    assert session.opened[0] == (4, opened)


def test_an_earlier_opening_time_does_not_apply_to_the_next_decision(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat, awaiting=(0, 1))
    session.opened[0] = (3, clock.now - 5)  # the answer to a later move arrived first
    take_turn(session, seat, answer(4, 1))
    send_update(session, 0, 6)
    take_turn(session, seat, answer(7))
    session.record_seen(1, 7)
    session.record_seen(2, 7)
    spans = session.run.recorder.spans["ApplyMove"]
    assert spans.get_total_count() == 2
    assert percentile(spans, 50) < 10


def test_a_seat_thinks_about_as_long_as_planned_and_is_measured_from_then_on(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat, think=60.0)
    think_times: list[float] = []

    def wait(seconds: float) -> None:
        think_times.append(seconds)
        clock.now += seconds + 2

    time_up: Any = SimpleNamespace(wait=wait)
    session.run.time_up = time_up
    take_turn(session, seat)
    assert 30 <= think_times[0] <= 90
    assert longest(session, LATE) == longest(session, "ApplyMove") == pytest.approx(2, abs=0.01)


def test_a_seat_does_not_think_after_the_run_time(seat: FakeSeat) -> None:
    session = new_session(seat, think=3600.0)
    session.run.time_up.set()
    take_turn(session, seat)
    assert session.acknowledged.keys() == {2}


def test_polling_is_measured_from_the_intended_start_and_the_move_from_its_answer(seat: FakeSeat, clock: Clock) -> None:
    session = new_session(seat, polling_seats=frozenset({0}))
    session.opened[0] = (1, clock.now)
    clock.now += 3
    seat.legal = LegalMovesResponse(version=1, moves=[flip(7)])
    seat.states = [GameState(version=1, etag="polled")]
    take_turn(session, seat)
    assert longest(session, "LegalMoves") == pytest.approx(3, abs=0.01)
    assert longest(session, "ApplyMove") < 0.01
    assert (seat.moves, seat.etags) == ([flip(7)], ["polled"])


def test_a_seat_fetches_state_and_moves_together_if_the_game_changed_meanwhile(seat: FakeSeat) -> None:
    session = new_session(seat, polling_seats=frozenset({0}))
    seat.legal = LegalMovesResponse(version=1, moves=[flip(7)])
    seat.states = [GameState(version=2), GameState(version=3, etag="newest", legal_moves=[flip(8)])]
    take_turn(session, seat, answer(4))
    assert (seat.moves, seat.etags) == ([flip(8)], ["newest"])


def test_a_whole_move_ends_when_the_last_other_seat_has_received_it(session: GameSession, seat: FakeSeat) -> None:
    take_turn(session, seat)
    session.record_seen(1, 2)
    assert MOVE not in session.run.recorder.spans
    session.pending_moves[2].intended -= 5
    session.record_seen(2, 3)
    assert 5 <= longest(session, MOVE) < 6


def test_a_whole_move_ends_with_its_answer_if_all_seats_received_it_before(
    session: GameSession, seat: FakeSeat
) -> None:
    session._players[1].seen = session._players[2].seen = 2
    take_turn(session, seat)
    assert MOVE in session.run.recorder.spans
    assert not session.pending_moves


def test_a_move_is_retried_under_its_request_id_and_measured_as_one(
    session: GameSession, seat: FakeSeat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clients.loadtest.game_session.RETRY_PAUSE_SECONDS", 0.0)
    session.opened[0] = (1, time.monotonic() - 3)
    failure = Unreachable("Gone.", code=StatusCode.UNAVAILABLE, request_id="the same")
    take_turn(session, seat, failure, answer(2))
    assert seat.request_ids == [None, "the same"]
    assert session.run.recorder.counts["error", "ApplyMove", "Unreachable"] == 1
    assert longest(session, "ApplyMove") >= 3


def test_a_move_that_fails_permanently_is_not_retried(session: GameSession, seat: FakeSeat) -> None:
    with pytest.raises(IllegalMove):
        take_turn(session, seat, IllegalMove("No.", code=StatusCode.INVALID_ARGUMENT))
    assert seat.request_ids == [None]
    assert session.run.recorder.counts["error", "ApplyMove", "IllegalMove"] == 1
