"""Parsing of requests."""

from typing import Final, TypeVar

from google.protobuf.message import DecodeError, Message

from service.contract import errors_pb2 as pb
from service.transport.errors import FieldViolation, StatusError
from service.transport.validation import violations

MAX_REQUEST_BYTES: Final = 64 * 1024
"""The largest request, in bytes; moves and options are far smaller."""

Request = TypeVar("Request", bound=Message)


def check_size(data: bytes) -> None:
    """Check the size of a request.

    Raises:
        StatusError: LIMIT, it is too large.
    """
    if len(data) > MAX_REQUEST_BYTES:
        raise StatusError(
            pb.ERROR_REASON_LIMIT, f"The request has {len(data)} bytes; the maximum is {MAX_REQUEST_BYTES}."
        )


def parse_request(request_type: type[Request], data: bytes) -> Request:
    """Parse and validate a request.

    Raises:
        StatusError: LIMIT, it is too large; MALFORMED, it cannot be parsed or a field is invalid.
    """
    check_size(data)
    request = request_type()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise StatusError(
            pb.ERROR_REASON_MALFORMED, f"The request is not a valid {request_type.DESCRIPTOR.full_name}."
        ) from None
    if fields := [FieldViolation(*violation) for violation in violations(request)]:
        message = "; ".join(f"{field} {problem}" for field, problem in fields)
        raise StatusError(pb.ERROR_REASON_MALFORMED, message, fields=fields)
    return request
