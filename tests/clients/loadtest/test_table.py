"""A table: moves count from their intended start, and what a history lacks or has too much does not go unnoticed."""

import time
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
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse, GetHistoryResponse, HistoryEntry
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI, SodaJerkMove


def flip(position: int) -> LegalMove:
    return LegalMove(move=Move(soda_jerk=SodaJerkMove(flip=SodaJerkMove.Flip(tap=FLAVOR_KIWI, position=position))))


class Service:
    """What the service does, without one: it answers moves as a test says, and tells the history that it is given."""

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.request_ids: list[str | None] = []
        self.told = GetHistoryResponse()

    def apply(self, _: LegalMove, *, etag: str, request_id: str | None) -> ApplyMoveResponse:
        self.request_ids.append(request_id)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        made: ApplyMoveResponse = answer
        return made

    def score(self) -> None:
        """Tells nothing that is looked at."""

    def history(self) -> GetHistoryResponse:
        return self.told

    def seat(self, _: str, __: str) -> "Service":
        return self


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def table(service: Service) -> Table:
    """A table of three seats of which the first is awaited, and has been told so just now."""
    recorder = Recorder()
    recorder.measuring = True
    recorder.began = time.monotonic()
    game: Any = SimpleNamespace(
        id="game", state=GameState(awaiting_seats=[0]), host=service, seat_tokens=("a", "b", "c")
    )
    plan = Plan("soda_jerk", Options(), 3, 0, frozenset(), 0.0, by_chance, "name")
    table = Table(Run(recorder, lambda *_: None), plan, game, [service] * 3)  # type: ignore[list-item] # stands in for clients
    for player in table._players:
        player.seen = 1
    player = table._players[0]
    player.state = GameState(version=1, awaiting_seats=[0], legal_moves=[flip(1)])
    player._noticed = time.monotonic()
    return table


def turn(table: Table, service: Service, *answers: Any) -> None:
    """Lets the first seat take its turn, which becomes version 2 unless the test says otherwise."""
    service.answers = list(answers) or [ApplyMoveResponse(committed_version=2, state=GameState(version=2))]
    player = table._players[0]
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
    turn(table, service, lost, ApplyMoveResponse(committed_version=2, state=GameState(version=2)))
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
