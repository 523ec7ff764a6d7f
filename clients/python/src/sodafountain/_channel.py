"""Configure the gRPC channels of the clients: retries, reconnection and credentials."""

import json
from collections.abc import Sequence
from importlib import metadata

import grpc

DEFAULT_TARGET = "localhost:50051"
DEFAULT_TIMEOUT = 5.0
# A call that is sent when its server freezes must reach another server before its default deadline.
KEEPALIVE_MS = 2000

# gRPC resends the identical message, request id included, after about 0.2, 0.4, 0.8 and 1.6 s, until the deadline of
# the call. A restart of two seconds therefore causes no error.
RETRY_POLICY: dict[str, object] = {
    "maxAttempts": 5,
    "initialBackoff": "0.2s",
    "backoffMultiplier": 2,
    "maxBackoff": "2s",
    # UNAVAILABLE: nothing happened, or the request id makes the call safe to repeat. CANCELLED: a gRPC server that is
    # shutting down; gRPC does not retry a call that its caller cancels. A retry after any other code would fail again.
    "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
}


def channel_options() -> Sequence[tuple[str, str | int]]:
    """Return the options of every channel."""
    return (
        ("grpc.service_config", json.dumps(service_config())),
        ("grpc.primary_user_agent", f"sodafountain-python/{metadata.version('sodafountain')}"),
        # A retry, or a call after a long outage, fails unless the channel has tried to reconnect by then. gRPC's own
        # backoff grows from 1 s to 2 min.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        # A server that does not answer a ping within the timeout is frozen, or its host has disappeared. The connection
        # is closed, and calls are retried at another address of the target. The service allows these pings; if another
        # server rejects them, gRPC sends fewer. The timeout is also that of TCP.
        ("grpc.keepalive_time_ms", KEEPALIVE_MS),
        ("grpc.keepalive_timeout_ms", KEEPALIVE_MS),
        # Without this, gRPC waits a minute for the answer to a ping, even to one of keepalive.
        ("grpc.http2.ping_timeout_ms", KEEPALIVE_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        # Otherwise gRPC pauses for a minute after two pings without messages.
        ("grpc.http2.max_pings_without_data", 0),
        # Otherwise all clients of a process share one connection to an address, and its limit of 256 calls.
        ("grpc.use_local_subchannel_pool", 1),
    )


def service_config() -> dict[str, object]:
    """Return the gRPC service config: retry every call but WatchGame, whose `WatchPlan` resumes it."""
    return {
        "methodConfig": [
            {"name": [{"service": "sodafountain.v1.GameService", "method": "WatchGame"}]},
            {"name": [{"service": "sodafountain.v1.GameService"}], "retryPolicy": RETRY_POLICY},
        ]
    }


def channel_credentials(tls: bool | grpc.ChannelCredentials) -> grpc.ChannelCredentials | None:
    """Return the credentials for the argument `tls` of `connect`; None for plaintext."""
    if isinstance(tls, grpc.ChannelCredentials):
        return tls
    return grpc.ssl_channel_credentials() if tls else None
