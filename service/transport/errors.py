"""Refusals: what the service answers when it does not do what was asked.

One table says which status goes with which reason. A refusal becomes a google.rpc.Status with exactly one ErrorInfo,
and BadRequest or RetryInfo where they help. Its sentence is for the caller: it holds nothing hidden and no
exception's text.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import BadRequest, ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status

from sodafountain.v1 import errors_pb2 as pb

DOMAIN: Final = "sodafountain.v1"
STATUS_KEY: Final = "grpc-status-details-bin"
"""The trailing metadata that carries a google.rpc.Status beside the bare gRPC one."""

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
    pb.ERROR_REASON_NOT_FINISHED: grpc.StatusCode.FAILED_PRECONDITION,
    pb.ERROR_REASON_LIMIT: grpc.StatusCode.RESOURCE_EXHAUSTED,
    pb.ERROR_REASON_STORE_UNAVAILABLE: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_REASON_UNCONFIRMED: grpc.StatusCode.UNAVAILABLE,
    pb.ERROR_REASON_API_KEY_INVALID: grpc.StatusCode.UNAUTHENTICATED,
    pb.ERROR_REASON_UNIMPLEMENTED: grpc.StatusCode.UNIMPLEMENTED,
    pb.ERROR_REASON_INTERNAL: grpc.StatusCode.INTERNAL,
    pb.ERROR_REASON_DRAINING: grpc.StatusCode.UNAVAILABLE,
}
"""The status code of every reason."""

RETRY_AFTER_MS: Final = 200
"""How long a caller should wait before trying an unavailable store again."""


class FieldProblem(NamedTuple):
    """A field that is wrong: its path in the request, and what would be right."""

    field: str
    problem: str


class Refusal(Exception):
    """An answer other than success.

    Attributes:
        reason: the ErrorReason.
        sentence: what was wrong and what would be right.
        fields: the fields that are wrong.
        metadata: what goes into the ErrorInfo.
        retry_after_ms: in how many milliseconds the same may be asked again; None where time alone changes nothing.
    """

    def __init__(
        self,
        reason: Reason,
        sentence: str,
        *,
        fields: Sequence[FieldProblem] = (),
        version: int | None = None,
        retry_after_ms: int | None = None,
        **metadata: str,
    ) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.fields = tuple(fields)
        self.retry_after_ms = RETRY_AFTER_MS if self.code is grpc.StatusCode.UNAVAILABLE else retry_after_ms
        self.metadata = metadata if version is None else {"version": str(version), **metadata}

    @property
    def code(self) -> grpc.StatusCode:
        """The gRPC status code."""
        return CODES[self.reason]

    @property
    def reason_name(self) -> str:
        """The reason as ErrorInfo carries it."""
        return pb.ErrorReason.Name(self.reason).removeprefix("ERROR_REASON_")

    def status(self) -> Status:
        """Builds the google.rpc.Status."""
        details = [_packed(ErrorInfo(reason=self.reason_name, domain=DOMAIN, metadata=self.metadata))]
        if self.fields:
            violations = [BadRequest.FieldViolation(field=field, description=problem) for field, problem in self.fields]
            details.append(_packed(BadRequest(field_violations=violations)))
        if (ms := self.retry_after_ms) is not None:
            delay = Duration(seconds=ms // 1000, nanos=ms % 1000 * 1_000_000)
            details.append(_packed(RetryInfo(retry_delay=delay)))
        return Status(code=self.code.value[0], message=self.sentence, details=details)


def malformed(field: str, problem: str) -> Refusal:
    """Refuses a request for one field."""
    return Refusal(pb.ERROR_REASON_MALFORMED, f"{field} {problem}", fields=(FieldProblem(field, problem),))


def _packed(detail: BadRequest | ErrorInfo | RetryInfo) -> Any:
    packed = Any()
    packed.Pack(detail)
    return packed
