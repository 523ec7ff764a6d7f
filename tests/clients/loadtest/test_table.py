"""A table: moves count from their intended start, and what a history lacks or has too much does not go unnoticed."""

import sys
import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest.recorder import LATE, MOVE, Recorder
from clients.loadtest.summary import percentile
from clients.loadtest.table import Plan, Run, Table
from clients.strategies import by_chance
from sodafountain import IllegalMove, Unreachable
from sodafountain.v1.game_pb2 import GameState, LegalMove, Move, Options
from sodafountain.v1.game_service_pb2 import (
    ApplyMoveResponse,
    GetHistoryResponse,
    HistoryEntry,
    LegalMovesResponse,
)
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI, SodaJerkMove


def flip(position: int) -> LegalMove:
    return LegalMove(move=Move(soda_jerk=SodaJerkMove(flip=SodaJerkMove.Flip(tap=FLAVOR_KIWI, position=position))))


class Service:
    """What the service does, without one: it answers as a test says, and tells the history that it is given.

    Attributes:
        answers: to moves, in order.
        states: to GetGame, in order.
        legal: to LegalMoves.
        request_ids: of the moves that arrived.
        etags: of the moves that arrived.
        moves: those that arrived.
        told: the history.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.states: list[GameState] = []
        self.legal = LegalMovesResponse()
        self.request_ids: list[str | None] = []
        self.etags: list[str] = []
        self.moves: list[LegalMove] = []
        self.told = GetHistoryResponse()

    def apply(self, move: LegalMove, *, etag: str, request_id: str | None) -> ApplyMoveResponse:
        self.request_ids.append(request_id)
        self.etags.append(etag)
        self.moves.append(move)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        made: ApplyMoveResponse = answer
        return made

    def legal_moves(self) -> LegalMovesResponse:
        return self.legal

    def state(self, *, legal_moves: bool = False) -> GameState:
        state = self.states.pop(0)
        assert bool(state.legal_moves) is legal_moves
        return state

    def score(self) -> None:
        """Tells nothing that is looked at."""

    def history(self) -> GetHistoryResponse:
        return self.told

    def seat(self, _: str, __: str) -> "Service":
        return self


class Clock:
    """A clock that stands still."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of tables, and of these tests."""
    clock = Clock()
    for module in ("clients.loadtest.table", __name__):
        monkeypatch.setattr(sys.modules[module], "time", clock)
    return clock


@pytest.fixture
def service() -> Service:
    return Service()


def table_of(service: Service, awaiting: Sequence[int] = (0,), **plan: Any) -> Table:
    """A table of three seats; those that are awaited, the first at least, have been told so just now."""
    recorder = Recorder()
    recorder.measuring = True
    recorder.began = time.monotonic()
    game: Any = SimpleNamespace(
        id="game", state=GameState(version=1, awaiting_seats=awaiting), host=service, seat_tokens=("a", "b", "c")
    )
    fields: dict[str, Any] = {"asking": frozenset(), "think": 0.0} | plan
    planned = Plan("soda_jerk", Options(), 3, 0, choose=by_chance, name="name", **fields)
    table = Table(Run(recorder, lambda *_: None), planned, game, [service] * 3)  # type: ignore[list-item] # stands in for clients
    for player in table._players:
        player.seen = 1
    for seat in awaiting:
        tell(table, seat, 1)
    return table


def tell(table: Table, seat: int, version: int) -> None:
    """Tells a seat just now that it is awaited in a version."""
    player = table._players[seat]
    player.state = GameState(version=version, awaiting_seats=[seat], etag=f"of {version}", legal_moves=[flip(version)])
    player._noticed = time.monotonic()


@pytest.fixture
def table(service: Service) -> Table:
    """A table of three seats of which the first is awaited, and has been told so just now."""
    return table_of(service)


def answer(version: int, *awaiting: int) -> ApplyMoveResponse:
    """The answer to a move that became a version, in which seats are awaited."""
    return ApplyMoveResponse(committed_version=version, state=GameState(version=version, awaiting_seats=awaiting))


def turn(table: Table, service: Service, *answers: Any, seat: int = 0) -> None:
    """Lets a seat take its turn, which becomes version 2 unless the test says otherwise."""
    service.answers = list(answers) or [answer(2)]
    player = table._players[seat]
    assert player.state is not None
    player._turn(player.state)


def longest(table: Table, name: str) -> float:
    """The longest span of a name, in seconds."""
    return percentile(table.run.recorder.spans[name], 100) / 1000


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
    table._players[0]._chosen_at = 1
    turn(table, service)
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
    monkeypatch.setattr("clients.loadtest.table.PAUSE_SECONDS", 0.0)
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


def test_two_moves_that_were_acknowledged_as_the_same_version_are_a_fault(table: Table, service: Service) -> None:
    turn(table, service)
    turn(table, service)
    assert table.run.recorder.faults == ["soda_jerk game: two moves were acknowledged as version 2."]
