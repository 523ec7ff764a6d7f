"""A client that retries the same request at another service when one is unavailable."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, Self, TypeVar, cast

import grpc
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import GameClient

T = TypeVar("T")

RETRY_SECONDS: Final = 30.0
_PAUSE_SECONDS: Final = 0.02
_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection of its own
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 200),
)


class RetryingClient:
    """Makes calls at the first of several services that is available. It retries UNAVAILABLE calls, and no others.

    Attributes:
        errors: why calls were UNAVAILABLE, in order: the reason, or gRPC's message if the service gave none.
    """

    def __init__(self, targets: Sequence[str], *, retry_seconds: float = RETRY_SECONDS) -> None:
        """`retry_seconds` limits how long a call may be UNAVAILABLE."""
        self._retry_seconds = retry_seconds
        self._channels = [grpc.insecure_channel(target, _OPTIONS) for target in targets]
        self._stubs = [GameServiceStub(channel) for channel in self._channels]
        self.errors: list[str] = []

    def call(self, method: Callable[..., T], caller: GameClient, *arguments: Any, **fields: Any) -> T:
        """Make a call of a client. A retry sends the same request id."""
        deadline = time.monotonic() + self._retry_seconds
        while True:
            try:
                return method(caller.at(self._stubs[0]), *arguments, **fields)
            except grpc.RpcError as error:
                if cast("grpc.Call", error).code() is not grpc.StatusCode.UNAVAILABLE or time.monotonic() > deadline:
                    raise
                self.errors.append(reason_of(error))
            self._stubs.append(self._stubs.pop(0))
            time.sleep(_PAUSE_SECONDS)

    @property
    def stub(self) -> GameServiceStub:
        """The service that answered last."""
        return self._stubs[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for channel in self._channels:
            channel.close()


def reason_of(error: grpc.RpcError) -> str:
    """Return the ErrorReason of a failed call, or gRPC's status and message."""
    call = cast("Any", error)
    for key, value in call.trailing_metadata() or ():
        if key == "grpc-status-details-bin":
            info = ErrorInfo()
            assert Status.FromString(value).details[0].Unpack(info)
            return str(info.reason)
    return f"{call.code().name}: {call.details()}"
