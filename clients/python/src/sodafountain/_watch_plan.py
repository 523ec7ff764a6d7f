"""Following a game, without I/O: what a watch asks the service for and what it makes of the messages.

A watch is a plan like every other operation (see `_calls`), but it has several results, and what it asks for takes its
time. It gives steps; the clients differ only in how they carry them out:

    Open      begin a stream; the one before is over
    Read      hear the next message of the stream, and be sent what was heard; `None` is silence
    Pause     wait
    Update    a result, for the caller

Each stream resumes after the last message that was heard. Messages are heard one by one, as the caller asks for
updates, so that this is also the last one that the caller was told.
"""

import math
import random
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Final, NamedTuple, TypeAlias

import grpc

from sodafountain._arguments import checked_timeout
from sodafountain._calls import Call, GameCalls
from sodafountain._errors import GameDeleted, GameExpired, SodaFountainError, Unreachable
from sodafountain._reasons import Reason
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED, Event, GameState

DEFAULT_PATIENCE: Final = 60.0
# A stream on which nothing was heard for so many seconds is given up: three times the period in which the service gives
# a sign of life, if its operator leaves that as it is. Where it is longer, quiet streams are begun anew in vain; that
# costs no more than a call.
SILENCE: Final = 45.0
SHORTEST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 5.0

# Refusals that pass. Of those without a reason of the service, from gRPC or something on the way, more may pass.
PASSING_REASONS: Final = frozenset({Reason.STORE_UNAVAILABLE, Reason.UNCONFIRMED, Reason.DRAINING, Reason.LIMIT})
PASSING_CODES: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        # What broken streams look like when a proxy broke them.
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)

# What a stream says that is over without having said why.
ENDED: Final = pb.WatchGameResponse(end=pb.WatchEnd())


@dataclass(frozen=True, kw_only=True)
class Update:
    """What `watch` tells: every event since the update before, and the newest state.

    Attributes:
        state: the game now, as the viewer may see it.
        events: what happened since the update before, in order, as the viewer may know it; several moves' events when
            they came fast or the watch was interrupted. Empty where `is_snapshot`.
        is_snapshot: whether this starts afresh: so does the first update of a watch that does not resume. Later on it
            means that what was told before is no part of the game any more (the service's store lost it): draw the
            state anew.
        resume_token: begins another `watch` after this update: `watch(resume_token=…)`. Opaque, and no secret.
    """

    state: GameState = field(repr=False)
    events: Sequence[Event] = field(repr=False)
    is_snapshot: bool
    resume_token: str


class Open(NamedTuple):
    """Begin a stream with this call."""

    call: Call


class Read(NamedTuple):
    """Hear the next message; be silent after so many seconds."""

    seconds: float


class Pause(NamedTuple):
    """Wait for so many seconds."""

    seconds: float


Step: TypeAlias = Open | Read | Pause | Update
# What a Read brings: a message, how the stream failed, or nothing in its time.
Heard: TypeAlias = pb.WatchGameResponse | grpc.RpcError | None


class WatchPlan:
    """Follows a game to its end.

    Raises:
        TypeError: the patience is no number.
        ValueError: the patience is not positive.
    """

    def __init__(
        self,
        calls: GameCalls,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None,
        patience: float | None,
    ) -> None:
        self._calls = calls
        self._seat = seat
        self._legal_moves = legal_moves
        self._resume_token = resume_token or ""
        self._patience = math.inf if patience is None else checked_timeout(patience, "patience")
        self._until = math.inf
        self._finished = False
        # Why the last stream that said so was over, if nothing was heard since.
        self._problem: SodaFountainError | None = None
        self._pauses = _pauses()
        self._steps = self._follow()

    @property
    def game_id(self) -> str:
        """The game's id."""
        return self._calls.game_id

    def step(self, heard: Heard) -> Step | None:
        """Tells what to do next; None: nothing, for the game is over and everything has been told.

        Args:
            heard: what the step before brought, if it was a Read.

        Raises:
            SodaFountainError: the watch cannot go on.
        """
        try:
            return self._steps.send(heard)
        except StopIteration:
            return None

    def be_patient(self) -> None:
        """Begins to count how long the caller has waited without a message."""
        self._until = monotonic() + self._patience

    def _follow(self) -> Generator[Step, Heard, None]:
        while True:
            call = self._call()
            yield Open(call)
            problem: SodaFountainError | None = None
            while problem is None:
                heard = yield Read(min(SILENCE, self._until - monotonic()))
                if heard is None:
                    problem = self._silent()
                elif isinstance(heard, grpc.RpcError):
                    problem = self._calls.explained(heard, call)
                elif heard.end.reason == pb.WATCH_END_REASON_FINISHED:
                    return
                elif heard.HasField("end"):
                    problem = self._ended(heard.end.reason)
                else:
                    yield from self._told(heard)
            if self._finished:
                return  # the rest would have been that it is over
            if not _passes(problem):
                raise problem
            if heard is not None or self._problem is None:
                self._problem = problem
            pause = max(next(self._pauses), problem.retry_delay or 0.0)
            if monotonic() + pause >= self._until:
                raise self._problem
            yield Pause(pause)

    def _call(self) -> Call:
        request = pb.WatchGameRequest(
            game_id=self._calls.game_id,
            seat=self._seat,
            resume_token=self._resume_token,
            include_legal_moves=self._legal_moves,
        )
        return self._calls.call("WatchGame", request, SILENCE)

    def _told(self, message: pb.WatchGameResponse) -> Iterator[Update]:
        """What a message tells the caller: nothing if it is a sign of life, or of a kind that is not known yet."""
        self._resume_token = message.resume_token
        self._problem = None
        self._pauses = _pauses()
        self.be_patient()
        update = _update(message)
        if update is not None:
            self._calls.note_state(self._seat, update.state, may_be_late=not update.is_snapshot)
            self._finished = update.state.status == GAME_STATUS_FINISHED
            yield update

    def _silent(self) -> SodaFountainError:
        """The problem of streams on which nothing was heard."""
        message = (
            f"Nothing was heard of game {self.game_id} for {self._patience:g} s: the service or the way to it hangs."
        )
        return Unreachable(message, code=grpc.StatusCode.UNAVAILABLE)

    def _ended(self, reason: pb.WatchEndReason.ValueType) -> SodaFountainError:
        """The problem of a stream that ended before the game did."""
        code, gone = grpc.StatusCode.NOT_FOUND, Reason.GAME_NOT_FOUND
        if reason == pb.WATCH_END_REASON_DELETED:
            return GameDeleted(f"Game {self.game_id} was deleted.", code=code, reason=gone)
        if reason == pb.WATCH_END_REASON_EXPIRED:
            return GameExpired(f"Game {self.game_id} has expired.", code=code, reason=gone)
        return Unreachable(
            f"The service ended the watch of game {self.game_id} too early.", code=grpc.StatusCode.UNAVAILABLE
        )


def _update(message: pb.WatchGameResponse) -> Update | None:
    match message.WhichOneof("item"):
        case "snapshot":
            return Update(state=message.snapshot, events=(), is_snapshot=True, resume_token=message.resume_token)
        case "update":
            state, events = message.update.state, tuple(message.update.events)
            return Update(state=state, events=events, is_snapshot=False, resume_token=message.resume_token)
    return None


def _passes(problem: SodaFountainError) -> bool:
    """Whether trying again later may help."""
    return problem.code in PASSING_CODES if problem.reason is None else problem.reason in PASSING_REASONS


def _pauses() -> Iterator[float]:
    """Pauses between attempts, longer and longer. Not the same for all, lest a crowd come back at once."""
    longest = SHORTEST_PAUSE
    while True:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 (no secret)
        longest = min(2 * longest, LONGEST_PAUSE)
