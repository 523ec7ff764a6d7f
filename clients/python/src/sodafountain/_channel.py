"""How a client's channel behaves: its retries, its reconnection, its credentials."""

import json
from collections.abc import Sequence
from importlib import metadata

import grpc

DEFAULT_TARGET = "localhost:50051"
DEFAULT_TIMEOUT = 5.0

# While a call's deadline lasts, gRPC sends the very same message again, request id included, after pauses of about
# 0.2, 0.4, 0.8 and 1.6 s, so that a restart of two seconds passes unnoticed. UNAVAILABLE says "nothing happened, or ask
# again with the same request id". CANCELLED is what gRPC's servers answer to calls that arrive while they shut down; a
# call that its own caller cancels is not retried. Every other code would be answered alike again.
RETRIES = {
    "methodConfig": [
        # A watch goes on by itself, from what it has told its caller.
        {"name": [{"service": "sodafountain.v1.GameService", "method": "WatchGame"}]},
        {
            "name": [{"service": "sodafountain.v1.GameService"}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.2s",
                "backoffMultiplier": 2,
                "maxBackoff": "2s",
                "retryableStatusCodes": ["UNAVAILABLE", "CANCELLED"],
            },
        },
    ]
}


def channel_options() -> Sequence[tuple[str, str | int]]:
    """The options of every channel."""
    return (
        ("grpc.service_config", json.dumps(RETRIES)),
        ("grpc.primary_user_agent", f"sodafountain-python/{metadata.version('sodafountain')}"),
        # A retry is of use only if the channel has tried to connect again by then, and so is a call after a long time
        # without a server; gRPC's own pauses grow from 1 s to 2 min.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 500),
        # With this set, the system gives a connection up whose peer has vanished without a word for 20 s (the keepalive
        # timeout, as TCP_USER_TIMEOUT). The interval is the shortest that every gRPC server puts up with.
        ("grpc.keepalive_time_ms", 300_000),
        # Without it all clients of a process share one connection to an address, and the 256 calls that it carries.
        ("grpc.use_local_subchannel_pool", 1),
    )


def channel_credentials(tls: bool | grpc.ChannelCredentials) -> grpc.ChannelCredentials | None:
    """The credentials that `tls` stands for: its own, those of the public authorities, or None for plain text."""
    if isinstance(tls, grpc.ChannelCredentials):
        return tls
    return grpc.ssl_channel_credentials() if tls else None
