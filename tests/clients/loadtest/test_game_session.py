"""A table: moves count from their intended start, and to the last seat that has seen them."""

import time
from types import SimpleNamespace
from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest.recorder import LATE, MOVE
from clients.loadtest.summary import percentile
from clients.loadtest.game_session import Table
from sodafountain import IllegalMove, Unreachable
from sodafountain.v1.game_pb2 import GameState
from sodafountain.v1.game_service_pb2 import LegalMovesResponse
from tests.clients.loadtest.game_sessions import Clock, Service, answer, flip, longest, table_of, tell, turn


def test_a_seat_that_was_told_late_counts_from_when_its_decision_was_opened(table: Table, service: Service) -> None:
    table.opened[0] = (1, time.monotonic() - 3)
    turn(table, service)
    table.heard(1, 2)
    table.heard(2, 2)
    assert 3 <= longest(table, "ApplyMove") < 4
    assert 3 <= longest(table, MOVE) < 4
    assert longest(table, LATE) < 1, "that was the service's fault, not the generator's"


def test_a_seat_that_this_program_kept_waiting_counts_from_its_intended_start_too(
    table: Table, service: Service
) -> None:
    table.opened[0] = (1, time.monotonic() - 3)
    table._players[0]._noticed -= 2
    turn(table, service)
    assert 3 <= longest(table, "ApplyMove") < 4
    assert 2 <= longest(table, LATE) < 3


def test_a_decision_that_was_answered_says_nothing_of_when_the_next_was_opened(table: Table, service: Service) -> None:
    table.opened[0] = (1, time.monotonic() - 3)
    table._players[0]._moved = 2
    turn(table, service, answer(3))
    assert longest(table, "ApplyMove") < 1


def test_the_first_decisions_are_opened_when_every_seat_watches(service: Service, clock: Clock) -> None:
    table = table_of(service)
    tell(table, 1, 1)
    table.seated()
    assert not table.all_seated.is_set()
    tell(table, 2, 1)
    table.seated()
    clock.now += 3
    tell(table, 0, 1)
    turn(table, service)
    assert longest(table, "ApplyMove") == pytest.approx(3, abs=0.01)


def test_a_decision_is_opened_by_the_answer_to_the_move_before_it(service: Service, clock: Clock) -> None:
    table = table_of(service)
    turn(table, service, answer(2, 1))
    clock.now += 3
    tell(table, 1, 2)
    turn(table, service, answer(3), seat=1)
    assert longest(table, "ApplyMove") == pytest.approx(3, abs=0.01)
    assert longest(table, LATE) < 0.01


def test_an_answer_that_was_overtaken_opens_no_decision_but_its_own_seats(service: Service, clock: Clock) -> None:
    table = table_of(service, awaiting=(0, 1))
    table.committed(1, flip(1), answer(3, 0), clock.now)
    clock.now += 1
    table.committed(0, flip(1), answer(2, 1), clock.now)
    assert table.opened == {0: (2, clock.now)}, "seat 1 has answered that already; seat 0 is awaited again"
    clock.now += 5
    table.committed(0, flip(1), answer(4, 1), clock.now)
    assert table.opened[1] == (4, clock.now)


def test_an_answer_that_was_overtaken_does_not_open_again_what_a_newer_one_opened(
    service: Service, clock: Clock
) -> None:
    table = table_of(service, awaiting=(0, 1))
    table.committed(1, flip(1), answer(3, 2), clock.now)
    table.committed(2, flip(1), answer(4, 0), clock.now)
    opened = clock.now
    clock.now += 1
    table.committed(0, flip(1), answer(2, 1), clock.now)
    assert table.opened[0] == (4, opened)


def test_a_decision_that_was_open_before_the_seats_last_move_says_nothing_of_the_next(
    service: Service, clock: Clock
) -> None:
    table = table_of(service, awaiting=(0, 1))
    table.opened[0] = (3, clock.now - 5)  # stamped by an answer that overtook the one that opened it
    turn(table, service, answer(4, 1))
    tell(table, 0, 6)
    turn(table, service, answer(7))
    table.heard(1, 7)
    table.heard(2, 7)
    spans = table.run.recorder.spans["ApplyMove"]
    assert spans.get_total_count() == 2
    assert percentile(spans, 50) < 10


def test_a_seat_thinks_about_as_long_as_planned_and_its_move_counts_from_then_on(
    service: Service, clock: Clock
) -> None:
    table = table_of(service, think=60.0)
    thought: list[float] = []

    def wait(seconds: float) -> None:
        thought.append(seconds)
        clock.now += seconds + 2

    hurry: Any = SimpleNamespace(wait=wait)
    table.run.hurry = hurry
    turn(table, service)
    assert 30 <= thought[0] <= 90
    assert longest(table, LATE) == longest(table, "ApplyMove") == pytest.approx(2, abs=0.01)


def test_a_seat_thinks_no_longer_when_the_time_is_up(service: Service) -> None:
    table = table_of(service, think=3600.0)
    table.run.hurry.set()
    turn(table, service)
    assert table.acknowledged.keys() == {2}


def test_a_seat_that_asks_counts_its_question_from_the_intended_start_and_its_move_from_the_answer(
    service: Service, clock: Clock
) -> None:
    table = table_of(service, asking=frozenset({0}))
    table.opened[0] = (1, clock.now)
    clock.now += 3
    service.legal = LegalMovesResponse(version=1, moves=[flip(7)])
    service.states = [GameState(version=1, etag="asked")]
    turn(table, service)
    assert longest(table, "LegalMoves") == pytest.approx(3, abs=0.01)
    assert longest(table, "ApplyMove") < 0.01
    assert (service.moves, service.etags) == ([flip(7)], ["asked"])


def test_a_seat_whose_game_went_on_between_its_questions_asks_for_both_at_once(service: Service) -> None:
    table = table_of(service, asking=frozenset({0}))
    service.legal = LegalMovesResponse(version=1, moves=[flip(7)])
    service.states = [GameState(version=2), GameState(version=3, etag="newest", legal_moves=[flip(8)])]
    turn(table, service, answer(4))
    assert (service.moves, service.etags) == ([flip(8)], ["newest"])


def test_a_whole_move_takes_until_the_last_of_the_other_seats_has_seen_it(table: Table, service: Service) -> None:
    turn(table, service)
    table.heard(1, 2)
    assert MOVE not in table.run.recorder.spans
    table.on_their_way[2].intended -= 5
    table.heard(2, 3)
    assert 5 <= longest(table, MOVE) < 6


def test_a_move_that_the_others_saw_before_its_answer_came_is_whole_by_then(table: Table, service: Service) -> None:
    table._players[1].seen = table._players[2].seen = 2
    turn(table, service)
    assert MOVE in table.run.recorder.spans
    assert not table.on_their_way


def test_a_move_is_tried_again_under_its_request_id_and_counts_as_a_whole(
    table: Table, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clients.loadtest.game_session.PAUSE_SECONDS", 0.0)
    table.opened[0] = (1, time.monotonic() - 3)
    lost = Unreachable("Gone.", code=StatusCode.UNAVAILABLE, request_id="the same")
    turn(table, service, lost, answer(2))
    assert service.request_ids == [None, "the same"]
    assert table.run.recorder.counts["error", "ApplyMove", "Unreachable"] == 1
    assert longest(table, "ApplyMove") >= 3


def test_a_move_that_would_be_refused_again_is_not_tried_again(table: Table, service: Service) -> None:
    with pytest.raises(IllegalMove):
        turn(table, service, IllegalMove("No.", code=StatusCode.INVALID_ARGUMENT))
    assert service.request_ids == [None]
    assert table.run.recorder.counts["error", "ApplyMove", "IllegalMove"] == 1
