"""Ports for servers under test."""

import random
import socket


def free_port() -> int:
    """Return a port without a listener, below the range of outgoing connections."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)  # parallel test runs may have the same seed
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def is_listening(target: str) -> bool:
    """Return whether the address accepts connections."""
    host, _, port = target.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
