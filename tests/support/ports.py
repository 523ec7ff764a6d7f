"""Ports for servers under test."""

import random
import socket


def free_port() -> int:
    """Finds a port on which nobody is_listening, below those that outgoing connections are given."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000)  # the seeds of test runs in parallel may be the same
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return port


def is_listening(target: str) -> bool:
    """Whether anybody accepts connections there."""
    host, _, port = target.rpartition(":")
    with socket.socket() as probe:
        return probe.connect_ex((host, int(port))) == 0
