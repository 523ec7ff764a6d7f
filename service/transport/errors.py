"""Errors as callers receive them: the one place where exceptions become statuses.

A `StatusError` becomes a google.rpc.Status with exactly one ErrorInfo and, if it helps, BadRequest or RetryInfo. Its
message is for the caller: it contains no hidden information and no text of an unexpected exception.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import grpc
import structlog
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from service.access import ApiKeyInvalid, PermissionDenied, SeatRequired, TokenInvalid
from service.contract import ERROR_DOMAIN
from service.contract import errors_pb2 as pb
from service.games import errors as games
from service.observability.logs import frames
from service.store import AccessDenied, StoreError, StoreFull, StoreUnavailable, Unconfirmed, UnknownLayout
from service.transport.call import Call
from service.watching import WatchLimitReached

STATUS_KEY: Final = "grpc-status-details-bin"
"""The trailing metadata that carries the google.rpc.Status."""

Reason: TypeAlias = pb.ErrorReason.ValueType

CODES: Final[dict[Reason, grpc.StatusCode]] = {
    pb.ERROR_REASON_MALFORMED: grpc.StatusCode.INVALID_ARGUMENT,
    pb.ERROR_REASON_ILLEGAL_MOVE: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_REASON_NOT_YOUR_TURN: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_REASON_GAME_FINISHED: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_REASON_STALE_ETAG: grpc.StatusCode.ABORTED,
    pb.ERROR_REASON_CONTENTION: grpc.StatusCode.ABORTED,
    pb.ERROR_REASON_REQUEST_ID_REUSED: grpc.StatusCode.INVALID_ARGUMENT,
    pb.ERROR_REASON_TOKEN_INVALID: grpc.StatusCode.UNAUTHENTICATED,
    pb.ERROR_REASON_WRONG_SEAT: grpc.StatusCode.PERMISSION_DENIED,
    pb.ERROR_REASON_GAME_NOT_FOUND: grpc.StatusCode.NOT_FOUND,
    pb.ERROR_REASON_UPGRADING: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_REASON_LIMIT: grpc.StatusCode.RESOURCE_EXHAUSTED,
    pb.ERROR_REASON_STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_REASON_UNCONFIRMED: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_REASON_API_KEY_INVALID: grpc.StatusCode.UNAUTHENTICATED,
    pb.ERROR_REASON_UNIMPLEMENTED: grpc.StatusCode.UNIMPLEMENTED,
    pb.ERROR_REASON_INTERNAL: grpc.StatusCode.INTERNAL,
    pb.ERROR_REASON_DRAINING: grpc.StatusCode.UNAVAILABLE,
}
"""The status code of every reason."""

_REASONS: Final[dict[type[Exception], Reason]] = {
    games.InvalidField: pb.ERROR_REASON_MALFORMED,
    games.KindNotOffered: pb.ERROR_REASON_UNIMPLEMENTED,
    games.GameNotFound: pb.ERROR_REASON_GAME_NOT_FOUND,
    games.GameFinished: pb.ERROR_REASON_GAME_FINISHED,
    games.NotYourTurn: pb.ERROR_REASON_NOT_YOUR_TURN,
    games.IllegalMove: pb.ERROR_REASON_ILLEGAL_MOVE,
    games.StaleEtag: pb.ERROR_REASON_STALE_ETAG,
    games.Contention: pb.ERROR_REASON_CONTENTION,
    games.RequestIdReused: pb.ERROR_REASON_REQUEST_ID_REUSED,
    games.QuotaExceeded: pb.ERROR_REASON_LIMIT,
    TokenInvalid: pb.ERROR_REASON_TOKEN_INVALID,
    ApiKeyInvalid: pb.ERROR_REASON_API_KEY_INVALID,
    PermissionDenied: pb.ERROR_REASON_WRONG_SEAT,
    WatchLimitReached: pb.ERROR_REASON_LIMIT,
}
"""The reason for every exception with which the core, access control and watching reject a request."""

ELSEWHERE_KEY: Final = "x-sodafountain-elsewhere"
"""The initial metadata of errors after which the same call may succeed at another server at once."""
_ELSEWHERE: Final = frozenset({pb.ERROR_REASON_DRAINING, pb.ERROR_REASON_UPGRADING})

_DENIED_ADVICE: Final = "set the password in the store URL, or grant the rights that docs/operate.md lists"

RETRY_AFTER_MS: Final = 200
"""How long a caller should wait before it retries an UNAVAILABLE call, in milliseconds."""

_log = structlog.get_logger()


class FieldViolation(NamedTuple):
    """An invalid field: its path in the request, and what is valid."""

    field: str
    description: str


class StatusError(Exception):
    """An error response.

    Attributes:
        reason: the ErrorReason.
        message: what is wrong, and what is valid.
        fields: the invalid fields.
        metadata: the metadata of the ErrorInfo.
        retry_after_ms: when to send the same request again, in milliseconds; None if waiting does not help.
    """

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        fields: Sequence[FieldViolation] = (),
        version: int | None = None,
        retry_after_ms: int | None = None,
        **metadata: str,
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.fields = tuple(fields)
        self.retry_after_ms = RETRY_AFTER_MS if self.code is grpc.StatusCode.UNAVAILABLE else retry_after_ms
        self.metadata = metadata if version is None else {"version": str(version), **metadata}

    @property
    def code(self) -> grpc.StatusCode:
        """The gRPC status code."""
        return CODES[self.reason]

    @property
    def reason_name(self) -> str:
        """The reason as in ErrorInfo."""
        return pb.ErrorReason.Name(self.reason).removeprefix("ERROR_REASON_")

    def status(self) -> Status:
        """Return the google.rpc.Status."""
        details = [_packed(ErrorInfo(reason=self.reason_name, domain=ERROR_DOMAIN, metadata=self.metadata))]
        if self.fields:
            violations = [BadRequest.FieldViolation(field=field, description=text) for field, text in self.fields]
            details.append(_packed(BadRequest(field_violations=violations)))
        if (ms := self.retry_after_ms) is not None:
            delay = Duration(seconds=ms // 1000, nanos=ms % 1000 * 1_000_000)
            details.append(_packed(RetryInfo(retry_delay=delay)))
        return Status(code=self.code.value[0], message=self.message, details=details)

    def initial_metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the initial metadata, by which the gateway finds errors that another server need not make.

        Nothing was changed, so the gateway repeats the call there.
        """
        return ((ELSEWHERE_KEY, "1"),) if self.reason in _ELSEWHERE else ()

    def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
        """Return the trailing metadata that carries the status."""
        return ((STATUS_KEY, self.status().SerializeToString()),)


def invalid_field(field: str, description: str) -> StatusError:
    """Return the error for one invalid field."""
    return StatusError(
        pb.ERROR_REASON_MALFORMED, f"{field} {description}", fields=(FieldViolation(field, description),)
    )


def status_error(error: Exception, call: Call) -> StatusError:
    """Return the error response for any exception. Unexpected exceptions are logged without their text."""
    match error:
        case StatusError():
            return error
        case games.InvalidField(field=field, problem=problem):
            fields = (FieldViolation(field, problem),)
            return StatusError(pb.ERROR_REASON_MALFORMED, str(error), fields=fields)
        case SeatRequired():
            return invalid_field("seat", "is required with a host token")
        case games.QuotaExceeded(owner=owner, quota=quota):
            _log.info("quota_reached", api_key=owner, quota=quota, call_id=call.call_id)
            return StatusError(pb.ERROR_REASON_LIMIT, str(error), retry_after_ms=error.retry_after_ms)
        case games.UnreadableRecord(problem=problem):
            return _upgrading(call, problem)
        case UnknownLayout():
            return _upgrading(call, str(error))
        case AccessDenied():
            _log.error("store_denied", call_id=call.call_id, problem=str(error), advice=_DENIED_ADVICE)
            return _store_unavailable()
        case StoreUnavailable():
            _log.warning("store_unavailable", call_id=call.call_id, problem=str(error))
            return _store_unavailable()
        case Unconfirmed():
            _log.warning("store_unconfirmed", call_id=call.call_id, problem=str(error))
            return StatusError(
                pb.ERROR_REASON_UNCONFIRMED, "The outcome is unknown: send the request again with the same request_id."
            )
        case StoreFull():
            _log.error("store_full", call_id=call.call_id)
            return StatusError(pb.ERROR_REASON_LIMIT, "The store is full; nothing was changed.")
        case StoreError():
            _log.error("store_failed", call_id=call.call_id, problem=str(error))
            return internal_error(call)
    if (reason := _REASONS.get(type(error))) is not None:
        return StatusError(reason, str(error), version=getattr(error, "version", None))
    _log.error("rpc_failed", method=call.method, call_id=call.call_id, error=type(error).__name__, frames=frames(error))
    return internal_error(call)


def _store_unavailable() -> StatusError:
    return StatusError(
        pb.ERROR_REASON_STORE_UNAVAILABLE, "The store is unavailable; nothing was changed. Try again soon."
    )


def _upgrading(call: Call, problem: str) -> StatusError:
    _log.warning("game_unreadable", call_id=call.call_id, problem=problem)
    return StatusError(
        pb.ERROR_REASON_UPGRADING,
        "This server cannot read the game: another release stored it, or the server lacks its encryption key. Try "
        "again.",
    )


def internal_error(call: Call) -> StatusError:
    """Return the error response for a failure of the service."""
    return StatusError(
        pb.ERROR_REASON_INTERNAL,
        "The service failed; the operator can find the cause by the call_id.",
        call_id=call.call_id,
    )


def _packed(detail: BadRequest | ErrorInfo | RetryInfo) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
