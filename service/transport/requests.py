"""Parsing and validation of requests."""

from typing import Final, TypeVar

from google.protobuf.message import DecodeError, Message
from protovalidate import Validator, Violation

from service.transport.errors import FieldViolation, StatusError
from sodafountain.v1 import errors_pb2 as pb

MAX_REQUEST_BYTES: Final = 64 * 1024
"""The largest request, in bytes; moves and options are far smaller."""
_MAX_VIOLATIONS: Final = 8
"""How many invalid fields an error names; gRPC clients accept 8 KiB of metadata, and each is sent twice."""
_LONG_BYTES: Final = 1024
"""In a request longer than any sensible one, validation stops at the first violation: thousands would take seconds."""

Request = TypeVar("Request", bound=Message)

_DESCRIPTIONS: Final = {
    "required": "is required",
    "enum.not_in": "is required",
    "enum.defined_only": "is not a value that this release knows",
    "string.pattern": "must be a game id from NewGame: 26 lower-case letters and digits",
}
"""Descriptions for rules whose own text does not help the reader."""

_validator = Validator()


def parse_request(request_type: type[Request], data: bytes) -> Request:
    """Parse and validate a request.

    Raises:
        StatusError: LIMIT, it is too large; MALFORMED, it is invalid.
    """
    if len(data) > MAX_REQUEST_BYTES:
        raise StatusError(
            pb.ERROR_REASON_LIMIT, f"The request has {len(data)} bytes; the maximum is {MAX_REQUEST_BYTES}."
        )
    request = request_type()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise StatusError(
            pb.ERROR_REASON_MALFORMED, f"The request is not a valid {request_type.DESCRIPTOR.full_name}."
        ) from None
    if violations := _validator.collect_violations(request, fail_fast=len(data) > _LONG_BYTES):
        fields = [_field_violation(violation) for violation in violations[:_MAX_VIOLATIONS]]
        message = "; ".join(f"{field} {description}".strip() for field, description in fields)
        raise StatusError(pb.ERROR_REASON_MALFORMED, message, fields=fields)
    return request


def _field_violation(violation: Violation) -> FieldViolation:
    proto = violation.proto
    path = ""
    for element in proto.field.elements if proto.field is not None else ():
        index = element.subscript
        path += f"{'.' if path else ''}{element.field_name}"
        if index is not None and index.field == "index":
            path += f"[{index.value}]"
    return FieldViolation(path or "request", _DESCRIPTIONS.get(proto.rule_id or "", proto.message or "is malformed"))
