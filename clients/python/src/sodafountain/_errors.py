"""What a call may raise, and how a failed RPC becomes one of these errors: one table by reason, one by status code."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sodafountain._connection_errors import cause_of
from sodafountain._reasons import Reason

DOMAIN = "sodafountain.v1"
STATUS_DETAILS = "grpc-status-details-bin"


class FieldViolation(NamedTuple):
    """A field of a request that is wrong.

    Attributes:
        field: the path of the field in the request message, `options.soda_jerk.first_seat` for instance.
        description: what would be right.
    """

    field: str
    description: str


class SodaFountainError(Exception):
    """A call failed. `str(error)` is one sentence for people; the attributes are for programs.

    Each reason has its own subclass; an error of this class itself has a reason that this release does not know, or
    none: go by its `code` then.

    Attributes:
        code: the gRPC status code.
        reason: the `Reason` that the service gave; None where it gave none that this release knows.
        message: the sentence.
        metadata: facts that come with the reason, `version` or `call_id` for instance; see `Reason`.
        field_violations: the fields of the request that are wrong.
        retry_delay: after how many seconds the service suggests to try again; None where it suggests nothing.
        request_id: the id under which a new game or a move was asked for, else None. Sending the same again under the
            same id shows what became of it where that is not known. A secret where it made a game: keep it out of logs.
    """

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        reason: Reason | None = None,
        metadata: Mapping[str, str] | None = None,
        field_violations: Iterable[FieldViolation] = (),
        retry_delay: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.metadata = dict(metadata or {})
        self.field_violations = tuple(field_violations)
        self.retry_delay = retry_delay
        self.request_id = request_id


class MalformedRequest(SodaFountainError):
    """The request is not well formed; `field_violations` names the fields."""


class IllegalMove(SodaFountainError):
    """The rules forbid this move now."""


class NotYourTurn(SodaFountainError):
    """Nothing is awaited from this seat now."""


class GameFinished(SodaFountainError):
    """The game is over."""


class StaleEtag(SodaFountainError):
    """The move answers another decision than the one open now: look again and choose again."""


class Contention(SodaFountainError):
    """Other moves of the same game won every race until the deadline: try again."""


class RequestIdReused(SodaFountainError):
    """The request id was used before for something else: draw a new one."""


class TokenInvalid(SodaFountainError):
    """The token is missing, malformed, forged, or signed with a key that is no longer accepted.

    Raised before any call where no token looks like that.
    """


class WrongSeat(SodaFountainError):
    """The token is good, but not for this game or seat, or the call is the host's alone."""


class GameNotFound(SodaFountainError):
    """There is no such game: it never was, has expired or was deleted."""


class GameDeleted(GameNotFound):
    """The game was deleted while it was watched."""


class GameExpired(GameNotFound):
    """The game expired while it was watched: nothing had happened in it for as long as the operator keeps games."""


class NotFinished(SodaFountainError):
    """That is shown only after the end of the game."""


class LimitExceeded(SodaFountainError):
    """A limit was hit: a request too large, too many at once, the store full."""


class StoreUnavailable(SodaFountainError):
    """The service cannot reach its store; nothing was changed. Try again after `retry_delay`."""


class Unconfirmed(SodaFountainError):
    """Whether the change was stored is not known: send the same again with this error's `request_id`."""


class ApiKeyInvalid(SodaFountainError):
    """Creating games needs an API key, and none or an unknown one was sent.

    Raised before any call where no key looks like that.
    """


class Unimplemented(SodaFountainError):
    """The server does not offer the call or the kind of game."""


class InternalError(SodaFountainError):
    """A defect of the service; its operator finds the details under `metadata["call_id"]`."""


class Draining(SodaFountainError):
    """The server is going away, after every retry; nothing was changed. The same may be asked again."""


class Unreachable(SodaFountainError):
    """No service answers at the address, after every retry. Whether a change was made is not known."""


class DeadlineExceeded(SodaFountainError):
    """No answer came in time. Whether a change was made is not known."""


class ClientClosed(SodaFountainError):
    """The client was closed before the call, or under it: then whether a change was made is not known."""


# Every reason that the service gives, with its class.
BY_REASON: Mapping[Reason, type[SodaFountainError]] = {
    Reason.MALFORMED: MalformedRequest,
    Reason.ILLEGAL_MOVE: IllegalMove,
    Reason.NOT_YOUR_TURN: NotYourTurn,
    Reason.GAME_FINISHED: GameFinished,
    Reason.STALE_ETAG: StaleEtag,
    Reason.CONTENTION: Contention,
    Reason.REQUEST_ID_REUSED: RequestIdReused,
    Reason.TOKEN_INVALID: TokenInvalid,
    Reason.WRONG_SEAT: WrongSeat,
    Reason.GAME_NOT_FOUND: GameNotFound,
    Reason.NOT_FINISHED: NotFinished,
    Reason.LIMIT: LimitExceeded,
    Reason.STORE_UNAVAILABLE: StoreUnavailable,
    Reason.UNCONFIRMED: Unconfirmed,
    Reason.API_KEY_INVALID: ApiKeyInvalid,
    Reason.UNIMPLEMENTED: Unimplemented,
    Reason.INTERNAL: InternalError,
    Reason.DRAINING: Draining,
}

# What gRPC itself or something on the way reports, without a reason of the service: the class and its sentence.
BY_CODE: Mapping[grpc.StatusCode, tuple[type[SodaFountainError], str]] = {
    grpc.StatusCode.UNAVAILABLE: (Unreachable, "Cannot reach a Soda Fountain service at {target}{over} ({details})."),
    grpc.StatusCode.CANCELLED: (Unreachable, "The server at {target} went away during {rpc} ({details})."),
    grpc.StatusCode.DEADLINE_EXCEEDED: (DeadlineExceeded, "{target} did not answer {rpc}{over} within {timeout:g} s."),
    grpc.StatusCode.UNIMPLEMENTED: (Unimplemented, "The server at {target} does not offer {rpc} ({details})."),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (LimitExceeded, "{rpc} hit a limit at {target} ({details})."),
}
OTHERWISE = (SodaFountainError, "{rpc} failed at {target} with {code} ({details}).")


def explain(
    failure: grpc.RpcError, *, target: str, tls: bool, rpc: str, timeout: float, request_id: str | None = None
) -> SodaFountainError:
    """Finds the error that tells best why an RPC failed.

    Args:
        failure: what grpc raised.
        target: the address that was called.
        tls: whether it was called over TLS.
        rpc: the RPC's name.
        timeout: the call's deadline in seconds.
        request_id: the id under which a change was asked for.
    """
    status = status_of(failure)
    info = error_info(status.details)
    if info is None:
        kind, sentence = BY_CODE.get(failure.code(), OTHERWISE)
        message = sentence.format(
            target=target,
            over=" over TLS" if tls else "",
            rpc=rpc,
            timeout=timeout,
            code=failure.code().name,
            details=cause_of(failure.details() or "", target=target, tls=tls),
        )
        return kind(message, code=failure.code(), request_id=request_id)
    reason = reason_of(info)
    kind = SodaFountainError if reason is None else BY_REASON.get(reason, SodaFountainError)
    return kind(
        status.message or failure.details() or f"{rpc} failed with {info.reason}.",
        code=failure.code(),
        reason=reason,
        metadata=info.metadata,
        field_violations=field_violations(status.details),
        retry_delay=retry_delay(status.details),
        request_id=request_id,
    )


def status_of(failure: grpc.RpcError) -> Status:
    """Reads the google.rpc.Status of a failed RPC; an empty one where there is none that can be read."""
    # Pairs in grpc and grpc.aio alike; their stubs say otherwise.
    trailers = cast("Iterable[tuple[str, str | bytes]]", failure.trailing_metadata() or ())
    for key, value in trailers:
        if key == STATUS_DETAILS and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                return Status()
    return Status()


def error_info(details: Iterable[AnyMessage]) -> ErrorInfo | None:
    """Finds the service's own ErrorInfo."""
    for detail in details:
        info = ErrorInfo()
        if unpacks(detail, info) and info.domain == DOMAIN:
            return info
    return None


def reason_of(info: ErrorInfo) -> Reason | None:
    """Finds the reason by its name; None where this release does not know it."""
    return Reason.__members__.get(info.reason)


def field_violations(details: Iterable[AnyMessage]) -> list[FieldViolation]:
    """Lists the wrong fields."""
    request = BadRequest()
    return [
        FieldViolation(violation.field, violation.description)
        for detail in details
        if unpacks(detail, request)
        for violation in request.field_violations
    ]


def retry_delay(details: Iterable[AnyMessage]) -> float | None:
    """Finds the suggested delay in seconds."""
    retry = RetryInfo()
    for detail in details:
        if unpacks(detail, retry) and retry.HasField("retry_delay"):
            return float(retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9)
    return None


def unpacks(detail: AnyMessage, message: ErrorInfo | BadRequest | RetryInfo) -> bool:
    """Unpacks a detail into a message, if it is of that type and can be read."""
    try:
        return bool(detail.Unpack(message))
    except DecodeError:
        return False
