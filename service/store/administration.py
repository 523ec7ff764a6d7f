"""Administration: health of the servers, and resources used by a game."""

from typing import Final

from redis.exceptions import ResponseError

from service.store import rights, scripts
from service.store.client import Client
from service.store.connection import Command
from service.store.durability import Durability, deadline_after
from service.store.errors import StoreError
from service.store.keys import FORMAT_KEY, game_keys
from service.store.server_report import assess
from service.store.values import ServerReport, Usage

_UNKNOWN: Final = "a server that does not report its version"


class StoreAdministration:
    """Operations for operators and health checks. Thread-safe. Methods raise like those of `GameStore`."""

    def __init__(self, client: Client, durability: Durability) -> None:
        self._client = client
        self._durability = durability

    def ping(self, *, timeout: float) -> None:
        """Check that the store answers."""
        self._client.execute("sodafountain:ping", [("PING",)], writes=False, deadline=deadline_after(timeout))

    def check(self, *, timeout: float) -> ServerReport:
        """Check version and configuration of the servers, as far as they report them, and the rights that they grant.

        Raises:
            AccessDenied: a server refuses the user.
        """
        deadline = deadline_after(timeout)
        warnings: list[str] = []
        names: list[str] = []
        missing: set[str] = set()
        for address in self._client.servers(deadline):
            key = self._client.key_at(address, rights.KEY, deadline)
            tried = rights.commands(key, replicas=self._durability.replicas)
            missing.update(rights.missing(tried, self._client.query_server(address, tried, deadline)))
            [reply] = self._client.query_server(address, [("INFO",)], deadline)
            if isinstance(reply, ResponseError):
                continue
            info = dict(line.split(":", 1) for line in reply.decode(errors="replace").splitlines() if ":" in line)
            name, found = assess(info, self._durability.replicas)
            names.append(name)
            warnings += [f"{name} at {address[0]}: {warning}" for warning in found]
        return ServerReport(warnings, ", ".join(sorted(set(names))) or _UNKNOWN, sorted(missing))

    def usage(self, game_id: str, *, timeout: float) -> Usage:
        """Return the resources that a game uses; zero if it does not exist."""
        key = game_keys(game_id).game
        commands: list[Command] = [("LRANGE", key, 4, -1), ("MEMORY", "USAGE", key)]
        elements, size = self._client.execute(key, commands, writes=False, deadline=deadline_after(timeout))
        return Usage(sum(map(len, elements)), size if isinstance(size, int) else 0)

    def active_format(self, initial: int, *, timeout: float) -> int:
        """Return the active format of values. A store that has none yet gets the initial one.

        Raises:
            StoreError: it cannot be read.
        """
        [reply] = self._client.run_script(
            scripts.ACTIVE_FORMAT, (FORMAT_KEY,), (initial,), writes=True, deadline=deadline_after(timeout)
        )
        try:
            return int(reply)
        except ValueError:
            raise StoreError(f"the key {FORMAT_KEY} is not a number: set it to the active format") from None

    def raise_format(self, current: int, new: int, *, timeout: float) -> bool:
        """Change the active format, if it is the current one; return whether it was."""
        [reply, *confirmed] = self._client.run_script(
            scripts.RAISE_FORMAT,
            (FORMAT_KEY,),
            (current, new),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        self._durability.check(confirmed)
        return bool(reply)
