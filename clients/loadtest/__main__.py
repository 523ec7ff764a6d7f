"""Runs a load test without Locust's page, against an address or a service of its own: `python -m clients.loadtest`.

What it does not know goes to Locust as it is: `--users 50`, `--run-time 10m`, `--processes 4`.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from clients.loadtest.options import add_options, checked, folder_of, target_of, users_of
from clients.loadtest.preflight import say
from clients.own_service import ServiceTrouble, own_service

LOCUSTFILE = Path(__file__).parent / "locustfile.py"
# What is said first is overruled by what is said again.
DEFAULTS = ("--headless", "--only-summary", "--loglevel=WARNING", "--users=8", "--spawn-rate=8", "--run-time=30s")


def main() -> int:
    """Runs a load test as the command line says; returns the exit status."""
    # Wrong options, and --help, end here.
    told, _ = parser_of_all().parse_known_args()
    try:
        folder_of(told.report)
    except ValueError as error:
        say(str(error))
        return 2
    # The rest goes on as it is.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-H", "--host", default=told.host)
    known, rest = parser.parse_known_args()
    # Until Locust has run, nothing has been tested.
    status = 2
    try:
        with ExitStack() as service:
            host, own = known.host, []
            if host is None and "--worker" not in rest:
                port = free_port()
                print("Starting a service with its own store …", flush=True)
                host = service.enter_context(own_service(f"--metrics-port={port}"))
                own = ["--fixed-deals", f"--metrics=http://localhost:{port}/metrics"]
            command = [sys.executable, "-m", "locust", f"--locustfile={LOCUSTFILE}", *DEFAULTS]
            status = run([*command, *([f"--host={host}"] if host else []), *own, *rest])
    except ServiceTrouble as error:
        say(str(error))
        return status or 1
    return status


def parser_of_all() -> argparse.ArgumentParser:
    """Declares our options, and what of Locust's everybody needs."""
    parser = argparse.ArgumentParser(
        prog="loadtest",
        usage=argparse.SUPPRESS,
        description="Plays many games at once and reports how that went; 8 for 30 seconds if not told otherwise.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"All else goes to Locust as it is, whose help is: {Path(sys.executable).parent / 'locust'} --help",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-H",
        "--host",
        type=checked(target_of),
        default=os.environ.get("LOCUST_HOST") or None,
        help="Where the service is, host:port; without it one is run for the test.",
    )
    parser.add_argument("-u", "--users", type=checked(users_of), help="How many tables.")
    parser.add_argument("-r", "--spawn-rate", help="How many of them more each second at the beginning.")
    parser.add_argument("-t", "--run-time", help="How long, 90s or 1h30m for instance.")
    parser.add_argument("--processes", help="How many processes of the load generator, -1 for one a core.")
    add_options(parser)
    return parser


def run(command: list[str]) -> int:
    """Runs Locust to its end; Ctrl-C and SIGTERM have it end the games and write the report first."""
    locust = subprocess.Popen(command, env=os.environ | {"GRPC_VERBOSITY": "NONE"})  # noqa: S603 (of our own making)
    signal.signal(signal.SIGINT, lambda *_: None)  # it gets it too
    signal.signal(signal.SIGTERM, lambda *_: locust.terminate())
    return locust.wait()


def free_port() -> int:
    """A port that nobody listens at just now."""
    with socket.socket() as taken:
        taken.bind(("localhost", 0))
        port: int = taken.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
