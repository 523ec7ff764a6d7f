"""Run a load test without Locust's web page, against a given address or a service of its own.

`python -m clients.loadtest` passes options that it does not know to Locust, for example `--users 50`,
`--run-time 10m` and `--processes 4`.
"""

import argparse
import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from clients.loadtest.options import add_options, ensure_report_folder, parse_target, parse_users, validated
from clients.loadtest.preflight import print_error
from clients.own_service import ServiceError, own_service

LOCUSTFILE = Path(__file__).parent / "locustfile.py"
LOCUST = Path(sys.executable).parent / "locust"
# The user's options follow these on the command line and override them.
DEFAULTS = ("--headless", "--only-summary", "--loglevel=WARNING", "--users=8", "--spawn-rate=8", "--run-time=30s")


def main() -> int:
    """Run the load test that the command line describes; return the exit status."""
    # Exits here for --help and invalid options.
    options, _ = build_parser().parse_known_args()
    try:
        ensure_report_folder(options.report)
    except ValueError as error:
        print_error(str(error))
        return 2
    # Only --host is consumed; Locust receives all other options unchanged.
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("-H", "--host", default=options.host)
    known, rest = parser.parse_known_args()
    # Status 2 means that nothing was tested.
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
            status = run_locust([*command, *([f"--host={host}"] if host else []), *own, *rest])
    except ServiceError as error:
        print_error(str(error))
        return status or 1
    return status


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of our options and of Locust's most common ones."""
    parser = argparse.ArgumentParser(
        prog="loadtest",
        usage=argparse.SUPPRESS,
        description="Play many games concurrently and report the results. Default: 8 games for 30 seconds.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"All other options are passed to Locust. List them with: {LOCUST} --help",
        allow_abbrev=False,
    )
    parser.add_argument(
        "-H",
        "--host",
        type=validated(parse_target),
        default=os.environ.get("LOCUST_HOST") or None,
        help="Address of the service, host:port. Default: start a service for the test.",
    )
    parser.add_argument("-u", "--users", type=validated(parse_users), help="Number of concurrent games.")
    parser.add_argument("-r", "--spawn-rate", help="Number of games to start per second during ramp-up.")
    parser.add_argument("-t", "--run-time", help="Duration of the run, for example 90s or 1h30m.")
    parser.add_argument("--processes", help="Number of generator processes; -1 starts one per core.")
    add_options(parser)
    return parser


def run_locust(command: list[str]) -> int:
    """Run Locust until it exits; on SIGINT or SIGTERM it first finishes the games and writes the report."""
    locust = subprocess.Popen(command, env=os.environ | {"GRPC_VERBOSITY": "NONE"})  # noqa: S603 (our own command)
    signal.signal(signal.SIGINT, lambda *_: None)  # the terminal sends SIGINT to Locust as well
    signal.signal(signal.SIGTERM, lambda *_: locust.terminate())
    return locust.wait()


def free_port() -> int:
    """Return a port that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        port: int = probe.getsockname()[1]
        return port


if __name__ == "__main__":
    sys.exit(main())
