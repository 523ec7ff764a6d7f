"""`sodafountain serve`."""

from pathlib import Path
from typing import Any, Final

import click

from service.commands.parameters import Duration, Networks, Origins, fail, setting

_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Serve games until SIGTERM or Ctrl-C.")
@setting("--host", env="LISTEN_HOST", default="127.0.0.1", help="Address to listen on; 0.0.0.0 or :: for all.")
@setting(
    "--port",
    env="LISTEN_PORT",
    default=50051,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 selects a free port.",
)
@setting(
    "--health-port",
    type=click.IntRange(1, 65535),
    help="Another port, for health checks only: without TLS, and reachable when all --max-connections are open.  "
    "[default: none]",
)
@setting(
    "--tls-cert-file",
    type=_FILE,
    help="File with the certificate for TLS, and those of its issuers, PEM. It is read again when it changes.  "
    "[default: no TLS]",
)
@setting("--tls-key-file", type=_FILE, help="File with the private key of the certificate, PEM.")
@setting(
    "--tls-client-ca-file",
    type=_FILE,
    help="File with the certificates of authorities, PEM: callers must then have a certificate of one (mutual TLS).",
)
@setting(
    "--workers", default=1, type=click.IntRange(1, 64), help="Processes that share the port, one for each core to use."
)
@setting("--threads", default=8, type=click.IntRange(1, 256), help="Calls processed concurrently per process.")
@setting(
    "--max-calls",
    default=1000,
    type=click.IntRange(1, 100_000),
    help="Maximum number of open calls per process; further calls are rejected.",
)
@setting(
    "--max-connections",
    default=10_000,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of open connections per process; further ones are closed. It is less if the limit of file "
    "descriptors (ulimit -n) requires it.",
)
@setting("--max-connection-idle", default="1m", type=Duration(), help="How long a connection without calls stays open.")
@setting(
    "--max-connection-age",
    default="30m",
    type=Duration(),
    help="How long a connection is used for new calls; its last calls may take as long again.",
)
@setting(
    "--max-watchers",
    default=10_000,
    type=click.IntRange(0, 1_000_000),
    help="Maximum number of open WatchGame streams per process; further streams are rejected.",
)
@setting(
    "--max-spectators",
    type=click.IntRange(0, 1_000_000),
    help="Maximum number of those streams without a token of a seat or host; the rest is reserved for players.  "
    "[default: half of --max-watchers]",
)
@setting(
    "--max-spectators-per-game",
    type=click.IntRange(0, 1_000_000),
    help="Maximum number of spectators of one game per process.  [default: a tenth of --max-watchers]",
)
@setting(
    "--max-watchers-per-caller",
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of streams per process of one seat, one host, or one address of spectators.  [default: a "
    "twentieth of --max-watchers]",
)
@setting(
    "--trusted-proxies",
    default="",
    type=Networks(),
    help="Networks of the proxies whose x-forwarded-for names the address of a caller, separated by commas, such as "
    "10.0.0.0/8. The gateway of --rest-port is always trusted.  [default: none]",
)
@setting(
    "--heartbeat",
    default="15s",
    type=Duration(),
    help="Interval of heartbeats on an idle WatchGame stream.",
)
@setting(
    "--store-url",
    help="Redis or Valkey: redis://, rediss://, unix://, redis+sentinel://h1:p1,h2:p2/master, "
    "redis+cluster://h1:p1,h2:p2. Without it, an embedded Valkey stores the games in the data directory.",
)
@setting(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Directory in which the embedded store keeps games and token keys.  [default: $XDG_DATA_HOME/sodafountain or "
    "~/.local/share/sodafountain]",
)
@setting(
    "--embedded-fsync",
    default="everysec",
    type=click.Choice(("everysec", "always")),
    help="When the embedded store forces changes to the disk: once a second, so that a power failure can lose the last "
    "ones, or always, before a change is acknowledged.",
)
@setting(
    "--durable-replicas",
    default=0,
    type=click.IntRange(0, 16),
    help="Replicas of the store that must confirm each change; 0 for none.",
)
@setting(
    "--token-keys-file",
    type=_FILE,
    help="File with the keys that sign tokens, one `id:base64` per line; the first signs, all verify. "
    "SODAFOUNTAIN_TOKEN_KEYS may contain them instead. Required with --store-url; the embedded store keeps its own.",
)
@setting(
    "--api-keys-file",
    type=_FILE,
    help="File with the API keys for NewGame, one `name:key` per line. SODAFOUNTAIN_API_KEYS may contain them instead. "
    "Without API keys, anyone can create games.",
)
@setting(
    "--encryption-keys-file",
    type=_FILE,
    help="File with the keys that encrypt games in the store, one `id:base64` per line; the first encrypts, all "
    "decrypt. SODAFOUNTAIN_ENCRYPTION_KEYS may contain them instead. Without them, games are stored in the clear.",
)
@setting(
    "--max-live-games",
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of live games (not finished, deleted or expired) per API key; further games are rejected. "
    "Without API keys, the limit applies to all callers together.  [default: unlimited]",
)
@setting(
    "--max-new-games",
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of games created per API key in any period of --new-games-window; further games are rejected. "
    "Without API keys, the limit applies to all callers together.  [default: unlimited]",
)
@setting("--new-games-window", default="1h", type=Duration(), help="Length of the period for --max-new-games.")
@setting("--idle-ttl", default="7d", type=Duration(), help="How long an unfinished game is kept after its last move.")
@setting("--finished-ttl", default="7d", type=Duration(), help="How long a finished game is kept.")
@setting("--cached-games", default=4096, type=click.IntRange(1, 10_000_000), help="Decoded games to cache per process.")
@setting(
    "--allow-fixed-seed",
    is_flag=True,
    help="Let NewGame set the seed. For tests only: anyone who knows the seed knows every card.",
)
@setting("--drain", default="10s", type=Duration(), help="How long calls in progress may continue after SIGTERM.")
@setting(
    "--rest-port",
    type=click.IntRange(1, 65535),
    help="Port for REST, Server-Sent Events and gRPC-Web, served by an Envoy that this command runs.  [default: none]",
)
@setting(
    "--rest-origins",
    type=Origins(),
    help="Web origins that may call from a browser (CORS), separated by commas, such as https://app.example, "
    "https://*.app.example for every subdomain, or * for any.  [default: *, or none if there are API keys]",
)
@setting(
    "--rest-rate",
    default=5000,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of calls per second through the gateway, for all callers together.",
)
@setting(
    "--rest-rate-per-caller",
    default=500,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of calls per second through the gateway, for each address.",
)
@setting(
    "--rest-trusted-hops",
    default=0,
    type=click.IntRange(0, 16),
    help="Number of proxies in front of the gateway that add the address of their caller to x-forwarded-for.",
)
@setting(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    help="Port that serves metrics to Prometheus over HTTP; 0 selects a free port.  [default: none]",
)
@setting(
    "--traces-endpoint",
    default="",
    help="OTLP endpoint of an OpenTelemetry collector for traces, over gRPC: http://host:4317, or https:// for TLS. "
    "OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, … configure the rest.  [default: no traces]",
)
@setting(
    "--log-level",
    default="info",
    type=click.Choice(("debug", "info", "warning", "error")),
    help="Minimum level of log lines.",
)
@setting(
    "--log-format",
    default="auto",
    type=click.Choice(("auto", "json", "console")),
    help="auto means console on a terminal, json otherwise.",
)
@setting(
    "--port-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to which the port is written once calls are accepted.",
)
def serve(**values: Any) -> None:
    """Serve games over gRPC until SIGTERM or Ctrl-C, then finish the calls in progress."""
    from service.server.run import CannotServe, run

    known_variables = {parameter.envvar for parameter in serve.params if isinstance(parameter.envvar, str)}
    try:
        run(values, known_variables=known_variables)
    except CannotServe as error:
        fail(str(error))
