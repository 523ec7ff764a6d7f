"""Tables whose service answers as a test says."""

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import percentile
from clients.loadtest.game_session import Plan, Run, Table
from clients.strategies import by_chance
from sodafountain.v1.game_pb2 import GameState, LegalMove, Move, Options
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse, GetHistoryResponse, LegalMovesResponse
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


def table_of(service: Service, awaiting: Sequence[int] = (0,), **plan: Any) -> Table:
    """A table of three seats; those that are awaited, the first at least, have been told so just now."""
    recorder = Recorder()
    recorder.begin(time.monotonic() - 60, slice_seconds=1.0)
    game: Any = SimpleNamespace(
        id="game", state=GameState(version=1, awaiting_seats=awaiting), host=service, seat_tokens=("a", "b", "c")
    )
    fields: dict[str, Any] = {"asking": frozenset(), "think": 0.0, "spectators": 0} | plan
    planned = Plan("soda_jerk", Options(), 3, choose=by_chance, name="name", **fields)
    table = Table(Run(recorder, lambda *_: None), planned, game, [service] * (3 + planned.spectators))  # type: ignore[list-item] # stands in for clients
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
