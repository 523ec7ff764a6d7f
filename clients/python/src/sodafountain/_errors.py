"""The exceptions of the client, and the translation of a failed RPC into one: by reason, or else by status code."""

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
    """An invalid field of a request.

    Attributes:
        field: the path of the field in the request message, such as `options.soda_jerk.first_seat`.
        description: what a valid value is.
    """

    field: str
    description: str


class SodaFountainError(Exception):
    """A call failed. `str(error)` is one sentence for users; the attributes are for programs.

    Each reason has its own subclass. If the service gave no reason, or one that this release does not know, the error
    is of this class itself: use its `code`.

    Attributes:
        code: the gRPC status code.
        reason: the `Reason` from the service; None if there is none, or one that this release does not know.
        message: the sentence.
        metadata: the facts that belong to the reason, such as `version` or `call_id`; see `Reason`.
        field_violations: the invalid fields of the request.
        retry_delay: the delay in seconds before a retry that the service suggests; None if it suggests none.
        request_id: the request id of a `new_game` or an `apply`; None for other calls. Repeat the call with it to learn
            the outcome if that is unknown. The request id of a `new_game` is a secret: keep it out of logs.
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
    """The request is invalid; `field_violations` names the fields."""


class IllegalMove(SodaFountainError):
    """The rules do not allow this move now."""


class NotYourTurn(SodaFountainError):
    """The game does not await a move of this seat now."""


class GameFinished(SodaFountainError):
    """The game is over."""


class StaleEtag(SodaFountainError):
    """The move answers a decision that is no longer open: get the state and choose again."""


class Contention(SodaFountainError):
    """Concurrent moves of the same game won every attempt until the deadline: try again."""


class RequestIdReused(SodaFountainError):
    """The request id was used before with another request: use a new one."""


class TokenInvalid(SodaFountainError):
    """The token is missing, malformed, forged, or signed with a key that is no longer accepted.

    Raised before any call if the token has an invalid format.
    """


class WrongSeat(SodaFountainError):
    """The token is valid, but for another game or seat, or the call requires the host token."""


class GameNotFound(SodaFountainError):
    """The game does not exist: it never did, has expired or was deleted."""


class GameDeleted(GameNotFound):
    """The game was deleted during a watch."""


class GameExpired(GameNotFound):
    """The game expired during a watch: it had no move for the time that the operator keeps games."""


class NotFinished(SodaFountainError):
    """The call requires a finished game."""


class LimitExceeded(SodaFountainError):
    """A limit was reached: the size of a request, the number of concurrent calls, the capacity of the store."""


class StoreUnavailable(SodaFountainError):
    """The service cannot reach its store; nothing has changed. Try again after `retry_delay`."""


class Unconfirmed(SodaFountainError):
    """It is unknown whether the change was stored: repeat the call with this error's `request_id`."""


class ApiKeyInvalid(SodaFountainError):
    """The service requires an API key to create games, and the key is missing or unknown.

    Raised before any call if the key has an invalid format.
    """


class Unimplemented(SodaFountainError):
    """The server does not support the call or the kind of game."""


class InternalError(SodaFountainError):
    """The service has a bug; its operator finds the details in the log by `metadata["call_id"]`."""


class Draining(SodaFountainError):
    """The server is shutting down, and all retries failed; nothing has changed. Try again."""


class Unreachable(SodaFountainError):
    """The service is unreachable, and all retries failed. It is unknown whether a change was stored."""


class DeadlineExceeded(SodaFountainError):
    """The call did not finish before its deadline. It is unknown whether a change was stored."""


class ClientClosed(SodaFountainError):
    """The client was closed, before the call or during it. In the latter case the outcome is unknown."""


# The class of each reason.
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

# The class and the sentence of each status without a reason, from gRPC itself or from a proxy.
BY_CODE: Mapping[grpc.StatusCode, tuple[type[SodaFountainError], str]] = {
    grpc.StatusCode.UNAVAILABLE: (Unreachable, "Cannot reach a Soda Fountain service at {target}{over} ({details})."),
    grpc.StatusCode.CANCELLED: (Unreachable, "The server at {target} went away during {rpc} ({details})."),
    grpc.StatusCode.DEADLINE_EXCEEDED: (DeadlineExceeded, "{target} did not answer {rpc}{over} within {timeout:g} s."),
    grpc.StatusCode.UNIMPLEMENTED: (Unimplemented, "The server at {target} does not offer {rpc} ({details})."),
    grpc.StatusCode.RESOURCE_EXHAUSTED: (LimitExceeded, "{rpc} hit a limit at {target} ({details})."),
}
ANY_CODE = (SodaFountainError, "{rpc} failed at {target} with {code} ({details}).")


def error_from_rpc(
    failure: grpc.RpcError, *, target: str, tls: bool, rpc: str, timeout: float, request_id: str | None = None
) -> SodaFountainError:
    """Translate a failed RPC into an error.

    Args:
        failure: the error that grpc raised.
        target: the address that was called.
        tls: whether the call used TLS.
        rpc: the name of the RPC.
        timeout: the timeout of the call in seconds.
        request_id: the request id, if the request has one.
    """
    status = status_of(failure)
    info = error_info(status.details)
    if info is None:
        kind, sentence = BY_CODE.get(failure.code(), ANY_CODE)
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
    """Return the google.rpc.Status of a failed RPC; an empty one if it is missing or cannot be decoded."""
    # Both grpc and grpc.aio return pairs, but their type stubs do not say so.
    trailers = cast("Iterable[tuple[str, str | bytes]]", failure.trailing_metadata() or ())
    for key, value in trailers:
        if key == STATUS_DETAILS and isinstance(value, bytes):
            try:
                return Status.FromString(value)
            except DecodeError:
                return Status()
    return Status()


def error_info(details: Iterable[AnyMessage]) -> ErrorInfo | None:
    """Return the ErrorInfo of the service; None if there is none."""
    for detail in details:
        info = ErrorInfo()
        if unpacks(detail, info) and info.domain == DOMAIN:
            return info
    return None


def reason_of(info: ErrorInfo) -> Reason | None:
    """Return the reason; None if this release does not know it."""
    return Reason.__members__.get(info.reason)


def field_violations(details: Iterable[AnyMessage]) -> list[FieldViolation]:
    """Return the invalid fields."""
    request = BadRequest()
    return [
        FieldViolation(violation.field, violation.description)
        for detail in details
        if unpacks(detail, request)
        for violation in request.field_violations
    ]


def retry_delay(details: Iterable[AnyMessage]) -> float | None:
    """Return the suggested delay before a retry, in seconds."""
    retry = RetryInfo()
    for detail in details:
        if unpacks(detail, retry) and retry.HasField("retry_delay"):
            return float(retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9)
    return None


def unpacks(detail: AnyMessage, message: ErrorInfo | BadRequest | RetryInfo) -> bool:
    """Unpack a detail into a message. Return whether it has that type and can be decoded."""
    try:
        return bool(detail.Unpack(message))
    except DecodeError:
        return False
