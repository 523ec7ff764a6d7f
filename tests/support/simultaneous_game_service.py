"""A process that serves the simultaneous game: `python -m tests.support.simultaneous_game_service serve …`.

It accepts the flags of `sodafountain serve` that tests need, and ends on SIGTERM.
"""

import argparse
import os
import signal
from pathlib import Path

from service.access import parse_token_keys
from service.observability import logs
from service.server.composition import bind
from service.server.settings import Settings
from tests.support.service import Service
from tests.support.simultaneous_game import simultaneous_game


class SimultaneousGameService(Service):
    """A process that serves the simultaneous game."""

    module = "tests.support.simultaneous_game_service"


def main() -> None:
    """Serve until SIGTERM."""
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["serve"])
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--port-file", type=Path, required=True)
    parser.add_argument("--log-format", required=True)
    parser.add_argument("--store-url", required=True)
    parser.add_argument("--rounds", type=int, required=True)
    flags = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})  # threads that are started later inherit the mask
    logs.configure(level="info", fmt=flags.log_format)
    settings = Settings(
        port=flags.port,
        port_file=flags.port_file,
        store_url=flags.store_url,
        token_keys=parse_token_keys(os.environ["SODAFOUNTAIN_TOKEN_KEYS"]),
    )
    with bind(settings, **simultaneous_game(flags.rounds)) as server:
        signal.sigwait({signal.SIGTERM})
        server.drain()


if __name__ == "__main__":
    main()
