"""Game sessions with a fake seat instead of a service."""

import time
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from clients.loadtest.game_session import GameSession, Plan, RunContext
from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import percentile
from clients.strategies import choose_randomly
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED, GameState, LegalMove, Move, Options
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse, GetHistoryResponse, LegalMovesResponse
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI, SodaJerkMove

COMMITMENT = bytes(range(32))


def flip(position: int) -> LegalMove:
    return LegalMove(
        move=Move(soda_jerk=SodaJerkMove(flip=SodaJerkMove.Flip(tap_flavor=FLAVOR_KIWI, position=position)))
    )


class FakeSeat:
    """Stands in for clients, hosts and seats; returns prepared answers and stores the moves that it receives.

    Attributes:
        answers: the answers to moves, in order; exceptions are raised.
        states: the answers to GetGame, in order.
        legal: the answer to LegalMoves.
        request_ids: the request ids of the received moves.
        etags: the etags of the received moves.
        moves: the received moves.
        past: the answer to GetHistory.
        commitments: the commitments with which seats and spectators were created.
    """

    def __init__(self) -> None:
        self.answers: list[Any] = []
        self.states: list[GameState] = []
        self.legal = LegalMovesResponse()
        self.request_ids: list[str | None] = []
        self.etags: list[str] = []
        self.moves: list[LegalMove] = []
        self.past = GetHistoryResponse(status=GAME_STATUS_FINISHED)
        self.commitments: list[bytes] = []

    def apply(self, move: LegalMove, *, etag: str, request_id: str | None) -> ApplyMoveResponse:
        self.request_ids.append(request_id)
        self.etags.append(etag)
        self.moves.append(move)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        response: ApplyMoveResponse = answer
        return response

    def legal_moves(self) -> LegalMovesResponse:
        return self.legal

    def state(self, *, legal_moves: bool = False) -> GameState:
        state = self.states.pop(0)
        assert bool(state.legal_moves) is legal_moves
        return state

    def score(self) -> None:
        """Return nothing: the session ignores the score."""

    def history(self) -> GetHistoryResponse:
        return self.past

    def seat(self, _: str, __: str, *, commitment: bytes) -> "FakeSeat":
        self.commitments.append(commitment)
        return self

    def spectator(self, _: str, *, commitment: bytes) -> "FakeSeat":
        self.commitments.append(commitment)
        return self


class Clock:
    """A clock that only tests advance."""

    now = 1000.0

    def monotonic(self) -> float:
        return self.now


def new_session(seat: FakeSeat, awaiting: Sequence[int] = (0,), **plan: Any) -> GameSession:
    """Create a session of three seats; the awaited ones have just received version 1."""
    recorder = Recorder()
    recorder.start(time.monotonic() - 60, slice_seconds=1.0)
    game: Any = SimpleNamespace(
        id="game",
        commitment=COMMITMENT,
        state=GameState(version=1, awaiting_seats=awaiting),
        host=seat,
        seat_tokens=("a", "b", "c"),
    )
    fields: dict[str, Any] = {"polling_seats": frozenset(), "think": 0.0, "spectators": 0} | plan
    planned = Plan("soda_jerk", Options(), 3, choose=choose_randomly, name="name", **fields)
    clients: Any = [seat] * (3 + planned.spectators)
    session = GameSession(RunContext(recorder, lambda *_: None), planned, game, clients)
    for player in session._players:
        player.seen = 1
    for number in awaiting:
        send_update(session, number, 1)
    return session


def send_update(session: GameSession, seat: int, version: int) -> None:
    """Let a seat receive a state that awaits it."""
    player = session._players[seat]
    player.state = GameState(version=version, awaiting_seats=[seat], etag=f"of {version}", legal_moves=[flip(version)])
    player._updated_at = time.monotonic()


def answer(version: int, *awaiting: int) -> ApplyMoveResponse:
    """Create the answer to a move that was committed as a version, in which these seats are awaited."""
    return ApplyMoveResponse(committed_version=version, state=GameState(version=version, awaiting_seats=awaiting))


def take_turn(session: GameSession, seat: FakeSeat, *answers: Any, number: int = 0) -> None:
    """Let a seat take its turn; its move is committed as version 2 unless answers are given."""
    seat.answers = list(answers) or [answer(2)]
    player = session._players[number]
    assert player.state is not None
    player._take_turn(player.state)


def longest(session: GameSession, name: str) -> float:
    """Return the longest recorded duration of a name, in seconds."""
    return percentile(session.run.recorder.spans[name], 100) / 1000
