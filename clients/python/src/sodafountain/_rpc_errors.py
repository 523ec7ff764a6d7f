"""Translate a failed RPC into an exception: by its reason, or else by its status code."""

from collections.abc import Iterable, Mapping
from typing import cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sodafountain._connection_errors import cause_of
from sodafountain._errors import (
    ApiKeyInvalid,
    Contention,
    DeadlineExceeded,
    Draining,
    FieldViolation,
    GameFinished,
    GameNotFound,
    IllegalMove,
    InternalError,
    LimitExceeded,
    MalformedRequest,
    NotYourTurn,
    RequestIdReused,
    SodaFountainError,
    StaleEtag,
    StoreUnavailable,
    TokenInvalid,
    Unconfirmed,
    Unimplemented,
    Unreachable,
    Upgrading,
    WrongSeat,
)
from sodafountain._reasons import Reason

DOMAIN = "sodafountain"
STATUS_DETAILS = "grpc-status-details-bin"

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
    Reason.LIMIT: LimitExceeded,
    Reason.STORE_UNAVAILABLE: StoreUnavailable,
    Reason.UNCONFIRMED: Unconfirmed,
    Reason.API_KEY_INVALID: ApiKeyInvalid,
    Reason.UNIMPLEMENTED: Unimplemented,
    Reason.INTERNAL: InternalError,
    Reason.DRAINING: Draining,
    Reason.UPGRADING: Upgrading,
}

# The class and the sentence of each status without a reason, from gRPC itself or from a proxy.
BY_CODE: Mapping[grpc.StatusCode, tuple[type[SodaFountainError], str]] = {
    grpc.StatusCode.UNAVAILABLE: (Unreachable, "Cannot reach a Soda Fountain service at {target}{over} ({details})."),
    grpc.StatusCode.CANCELLED: (Unreachable, "The server at {target} cancelled {rpc} ({details})."),
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
    """Return the ErrorInfo of the service; None if it is missing."""
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
