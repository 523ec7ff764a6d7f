"""The settings of a process. `service.commands.serve` reads them from flags and environment variables."""

import os
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Network
from pathlib import Path
from typing import Final

from service.server.tls import TlsFiles

PREFIX: Final = "SODAFOUNTAIN_"
"""The prefix of the environment variables of all settings."""

_NO_HOME: Final = (
    "this user has no home directory for the embedded store: set --data-dir, set HOME to an absolute path, or set "
    "--store-url"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one process.

    Attributes:
        host: the address to listen on.
        port: the port to listen on; 0 selects a free port.
        health_port: another port, for health checks only, without TLS; None means none.
        tls: the files of the certificate for callers; None means no TLS.
        socket: the path of a Unix socket to listen on as well, through which a gateway can address this worker.
        share_port: whether other processes may listen on the same port.
        threads: how many calls are processed concurrently.
        max_calls: the maximum number of open calls.
        max_connections: the maximum number of open connections.
        connection_idle_seconds: how long a connection without calls stays open.
        connection_age_seconds: how long a connection is used for new calls; its last calls may take as long again.
        max_watchers: the maximum number of open WatchGame streams.
        max_spectators: of those that are neither a seat's nor a host's; None means half of them.
        max_spectators_per_game: of these of one game; None means a tenth of `max_watchers`.
        max_watchers_per_caller: of one seat, host or address; None means a twentieth of `max_watchers`.
        trusted_proxies: the networks of the proxies that name the addresses of callers in `x-forwarded-for`.
        heartbeat_seconds: the interval of heartbeats on an idle WatchGame stream.
        store_url: the store.
        durable_replicas: how many replicas of the store must confirm a change; 0 means none.
        token_keys: the keys that sign and verify tokens, from `service.access.parse_token_keys`.
        api_keys: the API keys for NewGame, from `service.access.parse_api_keys`; if empty, anyone can create games.
        encryption_keys: the keys that encrypt games in the store, from `service.access.parse_encryption_keys`; empty
            stores them in the clear.
        idle_ms: how long an unfinished game lives without a move, in milliseconds.
        finished_ms: how long a finished game is kept, in milliseconds.
        cached_games: how many decoded games are cached.
        max_live_games: the maximum number of live games per API key; None means unlimited.
        max_new_games: the maximum number of games created per API key in any period of `new_games_window_ms`; None
            means unlimited.
        new_games_window_ms: the length of that period, in milliseconds.
        traces_endpoint: the OpenTelemetry collector for traces; empty means no traces.
        allow_fixed_seed: whether NewGame accepts a seed.
        drain_seconds: how long calls in progress may continue after SIGTERM.
        port_file: a file to which the port is written once calls are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 50051
    health_port: int | None = None
    tls: TlsFiles | None = None
    socket: Path | None = None
    share_port: bool = False
    threads: int = 8
    max_calls: int = 1000
    max_connections: int = 10_000
    connection_idle_seconds: float = 60.0
    connection_age_seconds: float = 1800.0
    max_watchers: int = 10_000
    max_spectators: int | None = None
    max_spectators_per_game: int | None = None
    max_watchers_per_caller: int | None = None
    trusted_proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    heartbeat_seconds: float = 15.0
    store_url: str = field(repr=False)  # may contain a password
    durable_replicas: int = 0
    token_keys: dict[str, bytes] = field(repr=False)
    api_keys: dict[str, str] = field(default_factory=dict, repr=False)
    encryption_keys: dict[str, bytes] = field(default_factory=dict, repr=False)
    idle_ms: int = 7 * 24 * 3600 * 1000
    finished_ms: int = 7 * 24 * 3600 * 1000
    cached_games: int = 4096
    max_live_games: int | None = None
    max_new_games: int | None = None
    new_games_window_ms: int = 3600 * 1000
    traces_endpoint: str = ""
    allow_fixed_seed: bool = False
    drain_seconds: float = 10.0
    port_file: Path | None = None


def default_data_dir() -> Path:
    """Return the user's data directory for the embedded store (XDG base directory specification).

    Raises:
        ValueError: the user has no home directory.
    """
    base = os.environ.get("XDG_DATA_HOME", "")
    if base.startswith("/"):
        return Path(base, "sodafountain")
    try:
        home = Path.home()
    except RuntimeError:  # HOME is not set, and the user has no entry in the user database
        raise ValueError(_NO_HOME) from None
    if os.environ.get("HOME") == "" or not home.is_absolute():  # for an empty HOME, Path.home() is the root directory
        raise ValueError(_NO_HOME)
    return home / ".local" / "share" / "sodafountain"
