"""Checks of responses and logs that hold for every request."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import grpc
from google.protobuf.message import DecodeError
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from service.transport.errors import STATUS_KEY
from tests.hostile.fuzz_model import API_KEY
from tests.support import forging

FORBIDDEN: Final = (
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.DATA_LOSS,
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.CANCELLED,
)
"""Statuses that no request may cause: they mean a defect, a call that was cut off, or one that hangs."""
GRPC_MESSAGES: Final = re.compile(
    "Method not found!|unknown service|.*metadata size exceeds|.*larger than max", re.IGNORECASE | re.DOTALL
)
"""Messages of gRPC itself, without a reason: the call did not reach our code."""
SECRETS: Final = re.compile(
    b"eyJ"  # the start of every token
    b"|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"  # a request id
    b"|[0-9a-f]{64}"  # a seed
    b"|" + re.escape(API_KEY.encode()) + b"|" + re.escape(forging.KEYS.partition(":")[2].encode())
)
_INTERNALS: Final = re.compile(rb"Traceback|File \"|\.py\b|Error\(|<class|0x[0-9a-f]{6,}")

Trailing = tuple[tuple[str, str | bytes], ...]


def error_problem(code: grpc.StatusCode, details: str, trailing: Trailing, *, ours: bool) -> str:
    """Return the problem of an error; an empty string if it is valid."""
    values = [value if isinstance(value, bytes) else value.encode() for _, value in trailing]
    data = b"\n".join([details.encode(), *values])
    if code in FORBIDDEN:
        return f"{code.name}: {details}"
    if secret := SECRETS.search(data):
        return f"a secret in an error: {secret[0]!r}"
    if found := _INTERNALS.search(data):
        return f"an internal detail of the service in an error: {found[0]!r}"
    if not ours or GRPC_MESSAGES.match(details):
        return ""
    if len(details.split()) < 3:
        return f"{code.name} without a sentence: {details!r}"
    try:
        (raw,) = [value for key, value in trailing if key == STATUS_KEY]
        status = Status.FromString(raw if isinstance(raw, bytes) else raw.encode())
    except (ValueError, DecodeError):
        return f"{code.name} without one status: {details}"
    infos = [info for packed in status.details if packed.Unpack(info := ErrorInfo())]
    if len(infos) != 1 or infos[0].domain != "sodafountain" or not infos[0].reason:
        return f"{code.name} with {len(infos)} reasons: {details}"
    if (status.code, status.message) != (code.value[0], details):
        return f"{code.name} whose status differs from its code or message: {details}"
    return ""


def log_problems(log: Path) -> Iterator[str]:
    """Return the first problems in a log."""
    found = 0
    with log.open("rb") as lines:
        for line in lines:
            if not line.startswith(b"{"):
                problem = "a line that is no log line"
            elif b'"level":"error"' in line or b'"level":"critical"' in line:
                problem = "an error was logged"
            elif SECRETS.search(line):
                problem = "a secret was logged"
            else:
                continue
            found += 1
            if found > 5:
                return
            yield f"{problem}: {line[:500]!r}"
