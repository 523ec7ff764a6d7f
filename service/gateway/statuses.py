"""The HTTP status of each error over REST: that of its gRPC code, unless its reason has a more precise one."""

from collections.abc import Mapping
from typing import Final

import grpc

STATUS_OF_CODE: Final[Mapping[grpc.StatusCode, int]] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
}
"""The HTTP status that Envoy's transcoder sends for a gRPC code."""

STATUS_OF_REASON: Final[Mapping[str, int]] = {"NOT_YOUR_TURN": 409, "GAME_FINISHED": 410, "STALE_ETAG": 412}
"""The HTTP status with which strict.lua replaces that of the code, by reason."""


def http_status(reason: str, code: grpc.StatusCode) -> int:
    """Return the HTTP status of an error over REST."""
    return STATUS_OF_REASON.get(reason, STATUS_OF_CODE[code])
