"""Watch a game without I/O: the requests to send, and the meaning of the messages that arrive.

A watch is a plan, as the operations in `_calls` are, but with many results. `WatchPlan` produces steps; the sync and
the asyncio `Watch` execute them:

    Open      open a stream; the previous one is over
    Read      receive the next message of the stream, and pass it to the plan; pass None after the timeout
    Pause     wait before the next attempt
    Update    return this result to the caller

Each stream resumes after the last message that was received. `Watch` receives a message only when the caller requests
an update, so this is also the last message that the caller has seen.
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

DEFAULT_IDLE_TIMEOUT: Final = 60.0
# A stream without a message for this many seconds is replaced: three times the default heartbeat interval of the
# service. If an operator sets a longer interval, quiet streams are replaced needlessly, which costs one call each.
STREAM_IDLE_TIMEOUT: Final = 45.0
INITIAL_BACKOFF: Final = 0.1
MAX_BACKOFF: Final = 5.0

# The errors after which another attempt may succeed: by reason, or by code if there is no reason because gRPC itself or
# a proxy reported the error.
RETRYABLE_REASONS: Final = frozenset(
    {Reason.STORE_UNAVAILABLE, Reason.UNCONFIRMED, Reason.DRAINING, Reason.UPGRADING, Reason.LIMIT}
)
RETRYABLE_CODES: Final = frozenset(
    {
        grpc.StatusCode.UNAVAILABLE,
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.ABORTED,
        grpc.StatusCode.DEADLINE_EXCEEDED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        # The codes of streams that a proxy broke.
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
    }
)

# Stands for the end of a stream that gave no reason.
STREAM_ENDED: Final = pb.WatchGameResponse(end=pb.WatchEnd())


@dataclass(frozen=True, kw_only=True)
class Update:
    """A result of `watch`: the events since the previous update, and the newest state.

    Attributes:
        state: the current state, as the viewer sees it.
        events: the events since the previous update, in order, as the viewer may know them. One update may cover
            several moves. Empty if `is_snapshot`.
        is_snapshot: whether the update replaces everything before it. The first update does, unless the watch resumes.
            A later one does if the store of the service lost changes that were reported before: redraw the game.
        resume_token: pass it to `watch(resume_token=…)` to continue after this update. Opaque, and not a secret.
    """

    state: GameState = field(repr=False)
    events: Sequence[Event] = field(repr=False)
    is_snapshot: bool
    resume_token: str


class Open(NamedTuple):
    """Open a stream with this call."""

    call: Call


class Read(NamedTuple):
    """Receive the next message, or None after this many seconds."""

    seconds: float


class Pause(NamedTuple):
    """Wait for this many seconds."""

    seconds: float


Step: TypeAlias = Open | Read | Pause | Update
# The result of a Read: a message, the error of the stream, or None after the timeout.
Received: TypeAlias = pb.WatchGameResponse | grpc.RpcError | None


class WatchPlan:
    """Watch a game until its end.

    Raises:
        TypeError: `idle_timeout` is not a number.
        ValueError: `idle_timeout` is not positive.
    """

    def __init__(
        self,
        calls: GameCalls,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None,
        idle_timeout: float | None,
    ) -> None:
        self._calls = calls
        self._seat = seat
        self._legal_moves = legal_moves
        self._resume_token = resume_token or ""
        self._idle_timeout = math.inf if idle_timeout is None else checked_timeout(idle_timeout, "idle_timeout")
        self._deadline = math.inf
        self._finished = False
        # The error to raise at the deadline: the last one that a stream reported since the last message.
        self._last_error: SodaFountainError | None = None
        self._backoff = _backoff()
        self._steps = self._run()

    @property
    def game_id(self) -> str:
        """The id of the game."""
        return self._calls.game_id

    def step(self, received: Received) -> Step | None:
        """Return the next step; None if the game is over and all updates have been returned.

        Args:
            received: the result of the previous step, if that was a Read.

        Raises:
            SodaFountainError: the watch failed.
        """
        try:
            return self._steps.send(received)
        except StopIteration:
            return None

    def restart_idle_timer(self) -> None:
        """Restart the idle timeout: the caller waits for an update from now on."""
        self._deadline = monotonic() + self._idle_timeout

    def _run(self) -> Generator[Step, Received, None]:
        while True:
            call = self._call()
            yield Open(call)
            error: SodaFountainError | None = None
            while error is None:
                received = yield Read(min(STREAM_IDLE_TIMEOUT, self._deadline - monotonic()))
                if received is None:
                    error = self._idle_error()
                elif isinstance(received, grpc.RpcError):
                    error = self._calls.error_from(received, call)
                elif received.end.reason == pb.WATCH_END_REASON_FINISHED:
                    return
                elif received.HasField("end"):
                    error = self._end_error(received.end.reason)
                else:
                    yield from self._handle(received)
            if self._finished:
                return  # the stream could only have reported that the game is over
            if not _is_retryable(error):
                raise error
            if received is not None or self._last_error is None:
                self._last_error = error
            pause = max(next(self._backoff), error.retry_delay or 0.0)
            if monotonic() + pause >= self._deadline:
                raise self._last_error
            yield Pause(pause)

    def _call(self) -> Call:
        request = pb.WatchGameRequest(
            game_id=self._calls.game_id,
            seat=self._seat,
            resume_token=self._resume_token,
            include_legal_moves=self._legal_moves,
        )
        return self._calls.call("WatchGame", request, STREAM_IDLE_TIMEOUT)

    def _handle(self, message: pb.WatchGameResponse) -> Iterator[Update]:
        """Yield the update in a message. Heartbeats, and messages of kinds added later, contain none."""
        self._resume_token = message.resume_token
        self._last_error = None
        self._backoff = _backoff()
        self.restart_idle_timer()
        update = _update(message)
        if update is not None:
            self._calls.record_state(self._seat, update.state, may_be_outdated=not update.is_snapshot)
            self._finished = update.state.status == GAME_STATUS_FINISHED
            yield update

    def _idle_error(self) -> SodaFountainError:
        """Return the error of a stream without messages."""
        message = (
            f"No message about game {self.game_id} arrived for {self._idle_timeout:g} s: "
            "the service or the connection to it is not responding."
        )
        return Unreachable(message, code=grpc.StatusCode.UNAVAILABLE)

    def _end_error(self, reason: pb.WatchEndReason.ValueType) -> SodaFountainError:
        """Return the error of a stream that ended before the game was over."""
        code, not_found = grpc.StatusCode.NOT_FOUND, Reason.GAME_NOT_FOUND
        if reason == pb.WATCH_END_REASON_DELETED:
            return GameDeleted(f"Game {self.game_id} was deleted.", code=code, reason=not_found)
        if reason == pb.WATCH_END_REASON_EXPIRED:
            return GameExpired(f"Game {self.game_id} has expired.", code=code, reason=not_found)
        return Unreachable(
            f"The service ended the watch of game {self.game_id} before the game was over.",
            code=grpc.StatusCode.UNAVAILABLE,
        )


def _update(message: pb.WatchGameResponse) -> Update | None:
    match message.WhichOneof("item"):
        case "snapshot":
            return Update(state=message.snapshot, events=(), is_snapshot=True, resume_token=message.resume_token)
        case "update":
            state, events = message.update.state, tuple(message.update.events)
            return Update(state=state, events=events, is_snapshot=False, resume_token=message.resume_token)
    return None


def _is_retryable(error: SodaFountainError) -> bool:
    return error.code in RETRYABLE_CODES if error.reason is None else error.reason in RETRYABLE_REASONS


def _backoff() -> Iterator[float]:
    """Yield growing pauses between attempts. The jitter keeps many watches from reconnecting simultaneously."""
    longest = INITIAL_BACKOFF
    while True:
        yield longest * random.uniform(0.5, 1.0)  # noqa: S311 (not a secret)
        longest = min(2 * longest, MAX_BACKOFF)
