"""Play one game with all its seats, each on a connection of its own, and record how long everything takes.

Durations are free of coordinated omission. A seat intends to move when its think time has passed since its decision
opened, which is when the move that opened it was answered. The move is measured from this intended start, even if the
seat received its decision late or this program was busy.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

import gevent
from gevent.event import Event

import sodafountain
from clients.loadtest.recorder import LATE, MOVE, Recorder
from clients.strategies import Choose
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED, GameState, LegalMove, Options
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse

T = TypeVar("T")

TRANSIENT: Final = (
    sodafountain.Contention,
    sodafountain.LimitExceeded,
    sodafountain.StoreUnavailable,
    sodafountain.Draining,
    sodafountain.Upgrading,
    sodafountain.Unconfirmed,
    sodafountain.Unreachable,
    sodafountain.DeadlineExceeded,
)
# How long a call is retried, and the pause between attempts.
RETRY_SECONDS: Final = 60.0
RETRY_PAUSE_SECONDS: Final = 0.5
# Version and time of a decision that has not been opened.
NOT_OPENED: Final = (0, 0.0)


@dataclass(frozen=True)
class Plan:
    """A game to play.

    Attributes:
        game: the kind of game, as the fields of `Options` name it.
        options: the options of the game.
        seats: the number of seats.
        spectators: the number of spectators.
        polling_seats: the seats that call LegalMoves and GetGame before each move instead of using their watch.
        think: the average think time of a seat, in seconds.
        choose: the strategy of the seats.
        name: the seed of all random choices in the game.
        seed: the seed of the service's draws, 32 bytes; None lets the service draw it.
    """

    game: str
    options: Options
    seats: int
    spectators: int
    polling_seats: frozenset[int]
    think: float
    choose: Choose
    name: str
    seed: bytes | None = None


class RunContext:
    """The context that a game session gets from the run.

    Attributes:
        recorder: stores the measurements.
        time_up: set when the run time is over; seats then finish their games without think time and unmeasured.
        sessions: the games in progress.
        on_measured: called for each measured call and whole move with its kind, name, duration in seconds, and error.
    """

    def __init__(self, recorder: Recorder, on_measured: Callable[[str, str, float, Exception | None], None]) -> None:
        self.recorder = recorder
        self.time_up = Event()
        self.sessions: set[GameSession] = set()
        self.on_measured = on_measured

    def call(self, rpc: str, make: Callable[[str | None], T], intended: float | None = None) -> T:
        """Make a call and retry transient errors under the same request id; measure it from its intended start.

        Raises:
            SodaFountainError: the call failed permanently. The error has been counted.
        """
        started = time.monotonic() if intended is None else intended
        deadline = time.monotonic() + RETRY_SECONDS
        request_id: str | None = None
        while True:
            try:
                answer = make(request_id)
            except sodafountain.SodaFountainError as error:
                self.record_error(rpc, started, error)
                if not isinstance(error, TRANSIENT) or time.monotonic() > deadline:
                    raise
                request_id = error.request_id or request_id
                gevent.sleep(RETRY_PAUSE_SECONDS)
            else:
                self.record_success(rpc, started)
                return answer

    def record_success(self, rpc: str, started: float) -> None:
        """Record a call that has just succeeded."""
        now = time.monotonic()
        self.recorder.record_span(rpc, started, now)
        if self.recorder.measures(started):
            self.on_measured("gRPC", rpc, now - started, None)

    def record_error(self, rpc: str, started: float, error: sodafountain.SodaFountainError) -> None:
        """Record a call that has just failed."""
        self.recorder.record_error(rpc, started, error)
        if self.recorder.measures(started):
            self.on_measured("gRPC", rpc, time.monotonic() - started, error)

    def record_move(self, game: str, started: float) -> None:
        """Record a whole move that the last seat has just received."""
        now = time.monotonic()
        self.recorder.record_move(game, started, now)
        if self.recorder.measures(started):
            self.on_measured("game", MOVE, now - started, None)


@dataclass
class PendingMove:
    """A move that some seats have not received yet: its intended start, and these seats."""

    intended: float
    unseen: set[int] = field(default_factory=set)


class GameSession:
    """A game in progress."""

    def __init__(
        self, run: RunContext, plan: Plan, game: sodafountain.Game, clients: Sequence[sodafountain.Client]
    ) -> None:
        self.run = run
        self.plan = plan
        self.id = game.id
        self.commitment = game.commitment
        self.all_watching = Event()
        # By seat: the version and the time that opened its decision.
        self.opened: dict[int, tuple[int, float]] = {}
        # By version: the seat and its move.
        self.acknowledged: dict[int, tuple[int, LegalMove]] = {}
        self.pending_moves: dict[int, PendingMove] = {}
        # The newest version in any answer, and the seats awaited in it.
        self._newest = game.state.version
        self._awaited = set(game.state.awaiting_seats)
        self._host = game.host
        self._players = [
            Player(self, number, clients[number].seat(game.id, token, commitment=game.commitment))
            for number, token in enumerate(game.seat_tokens)
        ]
        self._spectators = [client.spectator(game.id, commitment=game.commitment) for client in clients[plan.seats :]]

    def play(self) -> None:
        """Play the game to its end, check its history, and record its outcome."""
        greenlets = [gevent.spawn(task) for player in self._players for task in (player.follow, player.play)]
        greenlets += [gevent.spawn(partial(self._watch, spectator)) for spectator in self._spectators]
        outcome = "abandoned"
        self.run.sessions.add(self)
        try:
            # A SodaFountainError has been counted where it occurred. It ends the game for all seats.
            gevent.joinall(greenlets, raise_error=True)
            self._check_history()
            outcome = "finished"
        except sodafountain.SodaFountainError:
            pass
        except gevent.GreenletExit:
            outcome = "stopped"  # Locust removed the user or moved it to another worker
            raise
        finally:
            gevent.killall(greenlets)
            self.run.sessions.discard(self)
            self.run.recorder.record_game(self.plan.game, self.id, self.commitment, outcome)

    def start_when_all_watch(self) -> None:
        """Let the seats start playing once all of them have received their first update."""
        if all(player.state is not None for player in self._players):
            for seat in self._awaited:
                self.opened[seat] = (1, time.monotonic())
            self.all_watching.set()

    def record_commit(self, seat: int, move: LegalMove, answer: ApplyMoveResponse, intended: float) -> None:
        """Record a move that has just been acknowledged."""
        now, version = time.monotonic(), answer.committed_version
        if version in self.acknowledged:
            self.report_fault(f"two moves were acknowledged as version {version}")
        self.acknowledged[version] = (seat, move)
        if version > self._newest:
            for awaited in answer.state.awaiting_seats:
                if awaited == seat or awaited not in self._awaited:
                    self.opened[awaited] = (version, now)
            self._newest, self._awaited = version, set(answer.state.awaiting_seats)
        elif seat in self._awaited and self.opened.get(seat, NOT_OPENED)[0] < version:
            # The answer to a newer move overtook this one. It showed that the seat is awaited, but not since when.
            self.opened[seat] = (version, now)
        unseen = {other.number for other in self._players if other.number != seat and other.seen < version}
        if unseen:
            self.pending_moves[version] = PendingMove(intended, unseen)
        else:
            self.run.record_move(self.plan.game, intended)

    def record_seen(self, seat: int, version: int) -> None:
        """Record that a seat has received all versions up to this one."""
        for pending in [pending for pending in self.pending_moves if pending <= version]:
            move = self.pending_moves[pending]
            move.unseen.discard(seat)
            if not move.unseen:
                del self.pending_moves[pending]
                self.run.record_move(self.plan.game, move.intended)

    def report_fault(self, fault: str) -> None:
        """Record the violation of an invariant."""
        self.run.recorder.record_fault(f"{self.plan.game} {self.id}: {fault}.")

    def report_unfinished(self) -> None:
        """Report that the game did not finish, and which seats it waits for."""
        self.report_fault(
            f"the game did not finish: seats {sorted(self._awaited)} are awaited in version {self._newest}"
        )
        self._report_unseen()

    def _watch(self, spectator: sodafountain.Spectator) -> None:
        opened, seen = time.monotonic(), 0
        with spectator.watch() as watch:
            try:
                for update in watch:
                    if problem := update_problem(update, seen):
                        self.report_fault(f"a spectator {problem}")
                    seen = update.state.version
            except sodafountain.SodaFountainError as error:
                self.run.record_error("WatchGame", opened, error)

    def _check_history(self) -> None:
        """Compare the history with the acknowledged moves, and these with what the seats received.

        Raises:
            SodaFountainError: a call failed permanently. The error has been counted.
        """
        self.run.call("Score", lambda _: self._host.score())
        history = self.run.call("GetHistory", lambda _: self._host.history())
        if history.status != GAME_STATUS_FINISHED:
            self.report_fault(f"the watches have ended, but the game is not over in version {self._newest}")
            return
        recorded = {entry.version: (entry.seat, entry.move) for entry in history.entries if entry.HasField("move")}
        acknowledged = {version: (seat, move.move) for version, (seat, move) in self.acknowledged.items()}
        for version in sorted(recorded.keys() | acknowledged.keys()):
            if version not in recorded:
                self.report_fault(f"version {version} was acknowledged but is missing from the history")
            elif version not in acknowledged:
                self.report_fault(f"version {version} of the history was never acknowledged")
            elif recorded[version] != acknowledged[version]:
                self.report_fault(f"version {version} of the history differs from the acknowledged move")
        self._report_unseen()

    def _report_unseen(self) -> None:
        for version, move in self.pending_moves.items():
            self.report_fault(f"seats {sorted(move.unseen)} never received version {version}")


def update_problem(update: sodafountain.Update, seen: int) -> str | None:
    """Return what is wrong with an update for a viewer that has seen versions up to `seen`; 0 means none.

    Each version has at least one event that every viewer receives, so a missing version is detected.
    """
    version = update.state.version
    if version <= seen:
        return f"received version {version} again"
    if update.is_snapshot:
        return None
    received = {event.version for event in update.events}
    if again := [version for version in received if version <= seen]:
        return f"received version {min(again)} again"
    if missing := set(range(seen + 1, version + 1)) - received:
        return f"received no event of version {min(missing)}"
    return None


class Player:
    """The player of a seat: one greenlet follows the game, another one moves.

    Attributes:
        number: the number of the seat.
        state: the last state that the seat received.
        seen: the newest version that the seat received.
    """

    def __init__(self, session: GameSession, number: int, seat: sodafountain.Seat) -> None:
        self.number = number
        self.state: GameState | None = None
        self.seen = 0
        self._session = session
        self._run = session.run
        self._seat = seat
        self._polls = number in session.plan.polling_seats
        self._rng = random.Random(f"{session.plan.name} {number}")  # noqa: S311 (no secret)
        self._updated = Event()
        self._updated_at = 0.0
        self._ended = False
        # The version that the last move of this seat created.
        self._last_move = 0

    def follow(self) -> None:
        """Watch the game to its end.

        Raises:
            SodaFountainError: the watch failed. The error has been counted.
        """
        opened = time.monotonic()
        try:
            with self._seat.watch(legal_moves=not self._polls) as watch:
                for update in watch:
                    if self.state is None:
                        self._run.record_success("WatchGame", opened)
                    if problem := update_problem(update, self.seen):
                        self._session.report_fault(f"seat {self.number} {problem}")
                    self.state, self.seen, self._updated_at = update.state, update.state.version, time.monotonic()
                    if self._session.all_watching.is_set():
                        self._session.record_seen(self.number, self.seen)
                    else:
                        self._session.start_when_all_watch()
                    self._updated.set()
        except sodafountain.SodaFountainError as error:
            self._run.record_error("WatchGame", opened, error)
            raise
        finally:
            self._ended = True
            self._updated.set()

    def play(self) -> None:
        """Move whenever the seat is awaited, until the game ends.

        Raises:
            SodaFountainError: a move failed permanently. The error has been counted.
        """
        self._session.all_watching.wait()
        while True:
            if (state := self._open_decision()) is not None:
                self._take_turn(state)
            elif self._ended:
                return
            else:
                self._updated.clear()
                self._updated.wait()

    def _open_decision(self) -> GameState | None:
        """Return the state if it awaits a decision that this seat has not answered yet."""
        state = self.state
        if state is None or self.number not in state.awaiting_seats or state.version < self._last_move:
            return None
        return state

    def _take_turn(self, state: GameState) -> None:
        version, opened = self._session.opened.get(self.number, NOT_OPENED)
        if version < max(self._last_move, 1):
            opened = self._updated_at
        intended = opened + self._rng.uniform(0.5, 1.5) * self._session.plan.think
        self._run.time_up.wait(max(0.0, intended - time.monotonic()))
        # Other seats may have moved during the think time.
        state = self._open_decision() or state
        self._run.recorder.record_span(LATE, max(intended, self._updated_at), time.monotonic())
        started = intended
        if self._polls:
            state, started = self._poll(started), time.monotonic()
        move = self._session.plan.choose(state, self._rng)
        answer = self._run.call(
            "ApplyMove", lambda request_id: self._seat.apply(move, etag=state.etag, request_id=request_id), started
        )
        self._last_move = answer.committed_version
        self._session.record_commit(self.number, move, answer, intended)

    def _poll(self, intended: float) -> GameState:
        """Fetch the legal moves, and the state that they belong to."""
        legal = self._run.call("LegalMoves", lambda _: self._seat.legal_moves(), intended)
        state = self._run.call("GetGame", lambda _: self._seat.state())
        if state.version != legal.version:
            return self._run.call("GetGame", lambda _: self._seat.state(legal_moves=True))
        state.legal_moves.extend(legal.moves)
        return state
