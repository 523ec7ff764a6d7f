"""How a client's channel behaves: its retries, its reconnection, its credentials."""

import json
from collections.abc import Sequence
from importlib import metadata

import grpc

DEFAULT_TARGET = "localhost:50051"
DEFAULT_TIMEOUT = 5.0

# gRPC sends the very same message again, request id included, while a call's deadline lasts: at once after about 0.1,
# 0.3, 0.9 and 2 s, so that a restart of up to three seconds passes unnoticed. Only UNAVAILABLE says "nothing happened,
# or ask again with the same request id"; every other code would be answered alike again.
RETRIES = {
    "methodConfig": [
        {
            "name": [{"service": "sodafountain.v1.GameService"}],
            "retryPolicy": {
                "maxAttempts": 5,
                "initialBackoff": "0.1s",
                "backoffMultiplier": 3,
                "maxBackoff": "2s",
                "retryableStatusCodes": ["UNAVAILABLE"],
            },
        }
    ]
}


def channel_options() -> Sequence[tuple[str, str | int]]:
    """The options of every channel."""
    return (
        ("grpc.service_config", json.dumps(RETRIES)),
        ("grpc.primary_user_agent", f"sodafountain-python/{metadata.version('sodafountain')}"),
        # A retry is of use only if the channel has tried to connect again by then; gRPC's own pause begins at 1 s.
        ("grpc.initial_reconnect_backoff_ms", 100),
        ("grpc.max_reconnect_backoff_ms", 2000),
        # With this set, the system gives a connection up whose peer has vanished without a word for 20 s (the keepalive
        # timeout, as TCP_USER_TIMEOUT). The interval is the shortest that every gRPC server puts up with.
        ("grpc.keepalive_time_ms", 300_000),
    )


def channel_credentials(tls: bool | grpc.ChannelCredentials) -> grpc.ChannelCredentials | None:
    """The credentials that `tls` stands for: its own, those of the public authorities, or None for plain text."""
    if isinstance(tls, grpc.ChannelCredentials):
        return tls
    return grpc.ssl_channel_credentials() if tls else None
