"""What an operator may set. `service.commands.main` reads it from flags and the environment."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of one process.

    Attributes:
        host: the address to listen on.
        port: the port to listen on; 0 takes a free one.
        socket: the path of a Unix socket to listen on too, for a gateway that must meet this very process.
        share_port: whether other processes may listen on the same port.
        threads: how many calls are worked on at once.
        max_calls: how many calls may be open at once before more are refused.
        max_watchers: how many streams of WatchGame may be open at once before more are refused.
        heartbeat_seconds: how often a stream of WatchGame on which nothing happens gives a sign of life.
        store_url: where the games are kept.
        durable_replicas: how many replicas of the store must confirm a change; 0 asks none.
        token_keys: the keys that sign and verify tokens, as `service.access.tokens.parse_keys` reads them.
        api_keys: the keys that open NewGame, as `service.access.tokens.parse_api_keys` reads them; empty leaves it open.
        idle_ms: how long an unfinished game lives without a move, in milliseconds.
        finished_ms: how long a finished game is kept, in milliseconds.
        cached_games: how many decoded games are remembered.
        max_live_games: how many games that are not over an API key may have at once; None: any number.
        max_new_games: how many games an API key may make in any span of `new_games_window_ms`; None: any number.
        new_games_window_ms: that span, in milliseconds.
        traces_endpoint: where a collector of OpenTelemetry takes spans; empty sends none.
        allow_fixed_seed: whether NewGame accepts a seed.
        drain_seconds: how long calls may go on after SIGTERM.
        port_file: a file to write the port to once calls are accepted.
    """

    host: str = "127.0.0.1"
    port: int = 50051
    socket: Path | None = None
    share_port: bool = False
    threads: int = 8
    max_calls: int = 1000
    max_watchers: int = 10_000
    heartbeat_seconds: float = 15.0
    store_url: str = field(repr=False)  # it may hold a password
    durable_replicas: int = 0
    token_keys: dict[str, bytes] = field(repr=False)
    api_keys: dict[str, str] = field(default_factory=dict, repr=False)
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
