"""The server under test in a separate process, with an additional no-op RPC for comparison."""

import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc

from service.access import new_token_key, parse_token_keys
from service.observability import logs
from service.server.composition import bind
from service.server.settings import Settings

CHANNEL_OPTIONS: Final = (
    ("grpc.use_local_subchannel_pool", 1),  # a connection per channel
    (
        "grpc.service_config",  # on a busy machine the store may exceed its timeout
        json.dumps(
            {
                "methodConfig": [
                    {
                        "name": [{}],
                        "retryPolicy": {
                            "maxAttempts": 5,
                            "initialBackoff": "0.2s",
                            "backoffMultiplier": 2,
                            "maxBackoff": "2s",
                            "retryableStatusCodes": ["UNAVAILABLE"],
                        },
                    }
                ]
            }
        ),
    ),
)
"""The options of all channels to a server under test. They retry calls, so that moves need a request id."""

NOOP: Final = "/sodafountain.bench.Noop/Noop"
_PROCESS_CLOCK: Final = 2  # Linux: CPUCLOCK_SCHED of a whole process


class _Noop(grpc.GenericRpcHandler):
    """Return an empty response, to measure the cost of gRPC itself."""

    def service(self, details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes] | None":
        return grpc.unary_unary_rpc_method_handler(lambda _request, _context: b"") if details.method == NOOP else None


class ServerProcess(NamedTuple):
    """A server under test."""

    target: str
    pid: int

    def cpu(self) -> float:
        """Return the CPU time of the process including all its threads, in seconds."""
        return time.clock_gettime((~self.pid << 3) | _PROCESS_CLOCK)

    def threads(self) -> int:
        """Return the number of threads of the process."""
        return len(list(Path(f"/proc/{self.pid}/task").iterdir()))

    def resident(self) -> int:
        """Return the resident memory of the process in bytes."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def run_server(store_url: str, **settings: Any) -> Iterator[ServerProcess]:
    """Run a server in a separate process for the duration of the block."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    configuration = Settings(
        store_url=store_url, port=0, token_keys=parse_token_keys(new_token_key()), allow_fixed_seed=True, **settings
    )
    process = context.Process(target=_serve, args=(configuration, theirs), daemon=True)
    process.start()
    try:
        port = ours.recv()
        assert process.pid is not None, "it runs"
        yield ServerProcess(f"127.0.0.1:{port}", process.pid)
    finally:
        ours.close()
        process.join(10)
        if process.is_alive():
            process.kill()


def _serve(settings: Settings, parent: Connection) -> None:
    # Logging is part of the measurement, but its output is discarded.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    logs.configure(level="info", fmt="json")
    with bind(settings, more_handlers=(_Noop(),)) as server:
        parent.send(server.port)
        parent.poll(None)  # blocks until the parent closes its end
        server.drain()
