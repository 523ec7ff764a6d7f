"""Administration: health of the servers, and resources used by a game."""

from redis.exceptions import ResponseError

from service.store.client import Client
from service.store.connection import Command
from service.store.durability import Durability, deadline_after
from service.store.errors import StoreError
from service.store.keys import game_keys
from service.store.server_report import assess
from service.store.values import ServerReport, Usage


class StoreAdministration:
    """Operations for operators and health checks. Thread-safe. Methods raise like those of `GameStore`."""

    def __init__(self, client: Client, durability: Durability) -> None:
        self._client = client
        self._durability = durability

    def ping(self, *, timeout: float) -> None:
        """Check that the store answers."""
        self._client.execute("sodafountain:ping", [("PING",)], writes=False, deadline=deadline_after(timeout))

    def check(self, *, timeout: float) -> ServerReport:
        """Check version and configuration of the servers, as far as they report them."""
        deadline = deadline_after(timeout)
        warnings: list[str] = []
        names: list[str] = []
        for address in self._client.servers(deadline):
            [reply] = self._client.query_server(address, [("INFO",)], deadline)
            if isinstance(reply, ResponseError):
                continue
            info = dict(line.split(":", 1) for line in reply.decode(errors="replace").splitlines() if ":" in line)
            name, found = assess(info, self._durability.replicas)
            names.append(name)
            warnings += [f"{name} at {address[0]}: {warning}" for warning in found]
        return ServerReport(warnings, ", ".join(sorted(set(names))) or "a server that does not report its version")

    def usage(self, game_id: str, *, timeout: float) -> Usage:
        """Return the resources that a game uses; zero if it does not exist."""
        keys = game_keys(game_id)
        commands: list[Command] = [("XLEN", keys.log), ("HLEN", keys.requests)]
        commands += [("MEMORY", "USAGE", key) for key in (keys.game, keys.log, keys.requests)]
        deadline = deadline_after(timeout)
        entries, requests, *sizes = self._client.execute(keys.game, commands, writes=False, deadline=deadline)
        if isinstance(requests, ResponseError):
            raise StoreError(str(requests))
        return Usage(entries, requests, sum(size for size in sizes if isinstance(size, int)))
