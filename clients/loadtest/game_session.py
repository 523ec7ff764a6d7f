"""Plays one game to its end with all its seats, each on a connection of its own, and takes down how that went.

No coordinated omission: a seat means to make its move when it has thought long enough after its decision opened, which
is when the move that opened it was answered. From that intended start the move counts, whether the seat could begin
then or heard of its decision too late, or whether this program was too busy.
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
from sodafountain.v1.game_pb2 import GameState, LegalMove, Options
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse

T = TypeVar("T")

TRANSIENT: Final = (
    sodafountain.Contention,
    sodafountain.LimitExceeded,
    sodafountain.StoreUnavailable,
    sodafountain.Draining,
    sodafountain.Unconfirmed,
    sodafountain.Unreachable,
    sodafountain.DeadlineExceeded,
)
# How long a player goes on trying, and how long it waits in between.
PATIENCE_SECONDS: Final = 60.0
PAUSE_SECONDS: Final = 0.5
# When a decision was opened that has not been: in no version.
NEVER: Final = (0, 0.0)


@dataclass(frozen=True)
class Plan:
    """A game to be played.

    Attributes:
        game: its kind, as the fields of `Options` name it.
        options: how it is played.
        seats: by how many.
        spectators: how many watch it beside them.
        asking: the seats that ask for their legal moves instead of being told by their watch.
        think: for how many seconds a seat thinks, on average.
        choose: the seats' strategy.
        name: what all chances of the game are drawn from.
        seed: the seed of the service's draws, 32 bytes; the service's own when None.
    """

    game: str
    options: Options
    seats: int
    spectators: int
    asking: frozenset[int]
    think: float
    choose: Choose
    name: str
    seed: bytes | None = None


class Run:
    """What a table wants to know of the run.

    Attributes:
        recorder: takes down what happens.
        hurry: set when the time is up: games are then played to their end without thinking, and not measured.
        tables: where a game is being played.
        told: is told of each call and whole move that is measured: what it was, its name, seconds, and the error.
    """

    def __init__(self, recorder: Recorder, told: Callable[[str, str, float, Exception | None], None]) -> None:
        self.recorder = recorder
        self.hurry = Event()
        self.tables: set[Table] = set()
        self.told = told

    def call(self, rpc: str, make: Callable[[str | None], T], intended: float | None = None) -> T:
        """Makes a call, again under its request id where it may succeed then; it counts from its intended start.

        Raises:
            SodaFountainError: it failed for good. It has been counted.
        """
        began = time.monotonic() if intended is None else intended
        give_up = time.monotonic() + PATIENCE_SECONDS
        request_id: str | None = None
        while True:
            try:
                answer = make(request_id)
            except sodafountain.SodaFountainError as error:
                self.refused(rpc, began, error)
                if not isinstance(error, TRANSIENT) or time.monotonic() > give_up:
                    raise
                request_id = error.request_id or request_id
                gevent.sleep(PAUSE_SECONDS)
            else:
                self.answered(rpc, began)
                return answer

    def answered(self, rpc: str, began: float) -> None:
        """Takes a call down that has been answered just now."""
        now = time.monotonic()
        self.recorder.took(rpc, began, now)
        if self.recorder.measures(began):
            self.told("gRPC", rpc, now - began, None)

    def refused(self, rpc: str, began: float, error: sodafountain.SodaFountainError) -> None:
        """Takes a call down that has failed just now."""
        self.recorder.failed(rpc, began, error)
        if self.recorder.measures(began):
            self.told("gRPC", rpc, time.monotonic() - began, error)

    def moved(self, game: str, began: float) -> None:
        """Takes a whole move down that all have seen by now."""
        now = time.monotonic()
        self.recorder.moved(game, began, now)
        if self.recorder.measures(began):
            self.told("game", MOVE, now - began, None)


@dataclass
class OnItsWay:
    """A move that some seats have not seen yet: when it was meant to begin, and who they are."""

    intended: float
    unseen: set[int] = field(default_factory=set)


class Table:
    """A game while it is played."""

    def __init__(self, run: Run, plan: Plan, game: sodafountain.Game, clients: Sequence[sodafountain.Client]) -> None:
        self.run = run
        self.plan = plan
        self.id = game.id
        self.all_seated = Event()
        self.opened: dict[int, tuple[int, float]] = {}
        self.acknowledged: dict[int, tuple[int, LegalMove]] = {}
        self.on_their_way: dict[int, OnItsWay] = {}
        # The newest version that an answer has told of, and who is awaited in it.
        self._newest = game.state.version
        self._awaited = set(game.state.awaiting_seats)
        self._host = game.host
        self._players = [
            Player(self, number, clients[number].seat(game.id, token)) for number, token in enumerate(game.seat_tokens)
        ]
        self._spectators = [client.spectator(game.id) for client in clients[plan.seats :]]

    def play(self) -> None:
        """Plays the game to its end, has it checked, and counts it."""
        everybody = [gevent.spawn(part) for player in self._players for part in (player.follow, player.play)]
        everybody += [gevent.spawn(partial(self._watch, spectator)) for spectator in self._spectators]
        how = "abandoned"
        self.run.tables.add(self)
        try:
            # What is a SodaFountainError has been counted where it happened; it ends the game for all.
            gevent.joinall(everybody, raise_error=True)
            self._check()
            how = "finished"
        except sodafountain.SodaFountainError:
            pass
        except gevent.GreenletExit:
            how = "left"  # tables were taken away, or given to other workers
            raise
        finally:
            gevent.killall(everybody)
            self.run.tables.discard(self)
            self.run.recorder.ended(self.plan.game, self.id, how)

    def seated(self) -> None:
        """Lets the game begin once every seat watches."""
        if all(player.state is not None for player in self._players):
            for seat in self._awaited:
                self.opened[seat] = (1, time.monotonic())
            self.all_seated.set()

    def committed(self, seat: int, move: LegalMove, answer: ApplyMoveResponse, intended: float) -> None:
        """Takes a move down that was acknowledged just now."""
        now, version = time.monotonic(), answer.committed_version
        if version in self.acknowledged:
            self.fault(f"two moves were acknowledged as version {version}")
        self.acknowledged[version] = (seat, move)
        if version > self._newest:
            for awaited in answer.state.awaiting_seats:
                if awaited == seat or awaited not in self._awaited:
                    self.opened[awaited] = (version, now)
            self._newest, self._awaited = version, set(answer.state.awaiting_seats)
        elif seat in self._awaited and self.opened.get(seat, NEVER)[0] < version:
            # A newer move's answer came before this one, and told only that the seat is awaited still, or again.
            self.opened[seat] = (version, now)
        unseen = {other.number for other in self._players if other.number != seat and other.seen < version}
        if unseen:
            self.on_their_way[version] = OnItsWay(intended, unseen)
        else:
            self.run.moved(self.plan.game, intended)

    def heard(self, seat: int, version: int) -> None:
        """Takes down that a seat has seen all versions up to one."""
        for sent in [sent for sent in self.on_their_way if sent <= version]:
            move = self.on_their_way[sent]
            move.unseen.discard(seat)
            if not move.unseen:
                del self.on_their_way[sent]
                self.run.moved(self.plan.game, move.intended)

    def fault(self, what: str) -> None:
        """Takes down what should never be."""
        self.run.recorder.fault(f"{self.plan.game} {self.id}: {what}.")

    def give_up(self) -> None:
        """Takes down that the game did not end, and for whom it waits."""
        self.fault(f"the game did not end: seats {sorted(self._awaited)} are awaited in version {self._newest}")
        self._tell_unseen()

    def _watch(self, spectator: sodafountain.Spectator) -> None:
        opened, seen = time.monotonic(), 0
        with spectator.watch() as watch:
            try:
                for update in watch:
                    if wrong := wrong_with(update, seen):
                        self.fault(f"a spectator {wrong}")
                    seen = update.state.version
            except sodafountain.SodaFountainError as error:
                self.run.refused("WatchGame", opened, error)

    def _check(self) -> None:
        """Compares the history with what was acknowledged, and every acknowledged move with what was seen.

        Raises:
            SodaFountainError: it cannot be had, because the game is not over for instance; that has been counted.
        """
        self.run.call("Score", lambda _: self._host.score())
        history = self.run.call("GetHistory", lambda _: self._host.history())
        told = {entry.version: (entry.seat, entry.move) for entry in history.entries if entry.HasField("move")}
        made = {version: (seat, move.move) for version, (seat, move) in self.acknowledged.items()}
        for version in sorted(told.keys() | made.keys()):
            if version not in told:
                self.fault(f"version {version} was acknowledged, and its history lacks it")
            elif version not in made:
                self.fault(f"its history has a version {version} that nobody made")
            elif told[version] != made[version]:
                self.fault(f"its history has another version {version} than was acknowledged")
        self._tell_unseen()

    def _tell_unseen(self) -> None:
        for version, move in self.on_their_way.items():
            self.fault(f"seats {sorted(move.unseen)} never saw version {version}")


def wrong_with(update: sodafountain.Update, seen: int) -> str | None:
    """What is wrong with an update for somebody who has seen the game up to a version; 0: nothing of it yet.

    Every version has events that everybody is told of, as far as they may know them; so what is missing shows.
    """
    version = update.state.version
    if version <= seen:
        return f"heard of version {version} again"
    if update.is_snapshot:
        return None
    told = {event.version for event in update.events}
    if again := [version for version in told if version <= seen]:
        return f"heard of version {min(again)} again"
    if missing := set(range(seen + 1, version + 1)) - told:
        return f"was never told what happened in version {min(missing)}"
    return None


class Player:
    """A seat's player: one greenlet follows the game, another takes the turns.

    Attributes:
        number: the seat's.
        state: the game as the seat saw it last.
        seen: the newest version that it saw.
    """

    def __init__(self, table: Table, number: int, seat: sodafountain.Seat) -> None:
        self.number = number
        self.state: GameState | None = None
        self.seen = 0
        self._table = table
        self._run = table.run
        self._seat = seat
        self._asks = number in table.plan.asking
        self._chance = random.Random(f"{table.plan.name} {number}")  # noqa: S311 (no secret)
        self._news = Event()
        self._noticed = 0.0
        self._over = False
        # The version that the last move became.
        self._moved = 0

    def follow(self) -> None:
        """Watches the game to its end.

        Raises:
            SodaFountainError: that cannot be done; it has been counted.
        """
        opened = time.monotonic()
        try:
            with self._seat.watch(legal_moves=not self._asks) as watch:
                for update in watch:
                    if self.state is None:
                        self._run.answered("WatchGame", opened)
                    if wrong := wrong_with(update, self.seen):
                        self._table.fault(f"seat {self.number} {wrong}")
                    self.state, self.seen, self._noticed = update.state, update.state.version, time.monotonic()
                    if self._table.all_seated.is_set():
                        self._table.heard(self.number, self.seen)
                    else:
                        self._table.seated()
                    self._news.set()
        except sodafountain.SodaFountainError as error:
            self._run.refused("WatchGame", opened, error)
            raise
        finally:
            self._over = True
            self._news.set()

    def play(self) -> None:
        """Takes the seat's turns as they come.

        Raises:
            SodaFountainError: a move failed for good; it has been counted.
        """
        self._table.all_seated.wait()
        while True:
            if (state := self._awaited()) is not None:
                self._turn(state)
            elif self._over:
                return
            else:
                self._news.clear()
                self._news.wait()

    def _awaited(self) -> GameState | None:
        """The state, if a decision of this seat is open in it that it has not answered yet."""
        state = self.state
        if state is None or self.number not in state.awaiting_seats or state.version < self._moved:
            return None
        return state

    def _turn(self, state: GameState) -> None:
        opened_at, opened = self._table.opened.get(self.number, NEVER)
        if opened_at < max(self._moved, 1):
            opened = self._noticed
        intended = opened + self._chance.uniform(0.5, 1.5) * self._table.plan.think
        self._run.hurry.wait(max(0.0, intended - time.monotonic()))
        # Others may have moved meanwhile.
        state = self._awaited() or state
        self._run.recorder.took(LATE, max(intended, self._noticed), time.monotonic())
        begins = intended
        if self._asks:
            state, begins = self._asked(begins), time.monotonic()
        move = self._table.plan.choose(state, self._chance)
        answer = self._run.call(
            "ApplyMove", lambda request_id: self._seat.apply(move, etag=state.etag, request_id=request_id), begins
        )
        self._moved = answer.committed_version
        self._table.committed(self.number, move, answer, intended)

    def _asked(self, intended: float) -> GameState:
        """Asks for the legal moves, and for the state that they belong to."""
        legal = self._run.call("LegalMoves", lambda _: self._seat.legal_moves(), intended)
        state = self._run.call("GetGame", lambda _: self._seat.state())
        if state.version != legal.version:
            return self._run.call("GetGame", lambda _: self._seat.state(legal_moves=True))
        state.legal_moves.extend(legal.moves)
        return state
