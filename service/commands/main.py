"""The command `sodafountain`: serve games, verify finished ones, look into one, ask for health, draw keys."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

PREFIX: Final = "SODAFOUNTAIN_"
_ORIGIN: Final = re.compile(r"\*|https?://[^/\s]+")
_LONGEST: Final = 3650 * 86_400_000
_UNITS: Final = {"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}


class Duration(click.ParamType[int]):
    """A time span such as `90s`, `12h` or `7d`, as milliseconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Reads a time span."""
        if isinstance(value, int):
            return value
        if not (match := re.fullmatch(r"([1-9][0-9]{0,8})(ms|s|m|h|d)", value)):
            self.fail(f"{value!r} is not a duration such as 90s, 12h or 7d", param, ctx)
        span = int(match[1]) * _UNITS[match[2]]
        if span > _LONGEST:
            self.fail(f"{value!r} is more than ten years", param, ctx)
        return span


class Origin(click.ParamType[str]):
    """The origin of web pages; `*` for everybody's."""

    name = "origin"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Reads it."""
        origin: str = value.strip()
        if not _ORIGIN.fullmatch(origin):
            self.fail(f"{origin!r} is not an origin such as https://app.example", param, ctx)
        return origin


class Origins(click.ParamType[tuple[str, ...]]):
    """Origins with commas between."""

    name = "origins"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Reads them."""
        if not isinstance(value, str):
            return tuple(value)
        return tuple(Origin().convert(origin, param, ctx) for origin in value.split(","))


def setting(flag: str, *, env: str = "", help: str, **kwargs: Any) -> Callable[[F], F]:  # noqa: A002 - click's words
    """Declares a setting: a flag, and an environment variable named after it."""
    variable = PREFIX + (env or flag.removeprefix("--").replace("-", "_").upper())
    return click.option(flag, envvar=variable, show_envvar=True, show_default=True, help=help, **kwargs)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="sodafountain-service")
def sodafountain() -> None:
    """A game-engine service for tabletop games about drinks."""


@sodafountain.command()
@setting("--host", env="LISTEN_HOST", default="127.0.0.1", help="Address to listen on; 0.0.0.0 or :: for every one.")
@setting(
    "--port",
    env="LISTEN_PORT",
    default=50051,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 takes a free one.",
)
@setting("--workers", default=1, type=click.IntRange(1, 64), help="Processes that share the port, for several cores.")
@setting("--threads", default=8, type=click.IntRange(1, 256), help="Calls worked on at once, per process.")
@setting(
    "--max-calls",
    default=1000,
    type=click.IntRange(1, 100_000),
    help="Calls open at once, per process; more are refused.",
)
@setting(
    "--max-watchers",
    default=10_000,
    type=click.IntRange(0, 1_000_000),
    help="Games watched at once, per process; more watchers are refused.",
)
@setting(
    "--heartbeat",
    default="15s",
    type=Duration(),
    help="How often a watcher to whom nothing happens hears that the game is there.",
)
@setting(
    "--store-url",
    help="Redis or Valkey: redis://, rediss://, unix://, redis+sentinel://h1:p1,h2:p2/master, "
    "redis+cluster://h1:p1,h2:p2. Without it an embedded Valkey keeps the games in the data directory.",
)
@setting(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the embedded store keeps games and token keys.  [default: $XDG_DATA_HOME/sodafountain or "
    "~/.local/share/sodafountain]",
)
@setting(
    "--durable-replicas",
    default=0,
    type=click.IntRange(0, 16),
    help="Replicas of the store that must confirm each change; 0 asks none.",
)
@setting(
    "--token-keys-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Keys that sign tokens, one `id:base64` a line; the first signs, all verify. SODAFOUNTAIN_TOKEN_KEYS may "
    "hold them instead. Needed with --store-url; the embedded store keeps its own.",
)
@setting(
    "--api-keys-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Keys that open NewGame, one `name:key` a line. SODAFOUNTAIN_API_KEYS may hold them instead. Without any, "
    "everybody may make games.",
)
@setting(
    "--max-live-games",
    type=click.IntRange(1, 1_000_000),
    help="Games that an API key may have at once, neither finished, deleted nor expired; more are refused. Without API "
    "keys it holds for all callers together.  [default: any number]",
)
@setting(
    "--max-new-games",
    type=click.IntRange(1, 1_000_000),
    help="Games that an API key may make in any span of --new-games-window; more are refused. Without API keys it "
    "holds for all callers together.  [default: any number]",
)
@setting("--new-games-window", default="1h", type=Duration(), help="The span of time of --max-new-games.")
@setting("--idle-ttl", default="7d", type=Duration(), help="How long an unfinished game lives without a move.")
@setting("--finished-ttl", default="7d", type=Duration(), help="How long a finished game is kept.")
@setting(
    "--cached-games", default=4096, type=click.IntRange(1, 10_000_000), help="Decoded games to remember, per process."
)
@setting(
    "--allow-fixed-seed",
    is_flag=True,
    help="Let NewGame fix the seed. For tests: whoever knows the seed sees every card.",
)
@setting("--drain", default="10s", type=Duration(), help="How long calls may go on after SIGTERM.")
@setting(
    "--rest-port",
    type=click.IntRange(1, 65535),
    help="Port for REST, Server-Sent Events and gRPC-Web, through an Envoy run beside the service; without it there is "
    "none.",
)
@setting(
    "--rest-origins",
    default="*",
    type=Origins(),
    help="Whose pages may call from a browser, such as https://app.example; several with commas between.",
)
@setting(
    "--rest-rate",
    default=5000,
    type=click.IntRange(1, 1_000_000),
    help="Calls a second that the gateway lets through, for all callers together.",
)
@setting(
    "--metrics-port",
    type=click.IntRange(0, 65535),
    help="Port for Prometheus to read metrics from, over HTTP; 0 takes a free one, without it there is none.",
)
@setting(
    "--traces-endpoint",
    default="",
    help="Where a collector of OpenTelemetry takes spans of calls, over gRPC: http://host:4317, or https:// for TLS. "
    "Without it none are made. OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, … say the rest.",
)
@setting(
    "--log-level",
    default="info",
    type=click.Choice(("debug", "info", "warning", "error")),
    help="The least that is logged.",
)
@setting(
    "--log-format",
    default="auto",
    type=click.Choice(("auto", "json", "console")),
    help="auto is console on a terminal and json elsewhere.",
)
@setting(
    "--port-file",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write the port to once calls are accepted.",
)
def serve(**values: Any) -> None:
    """Serve games over gRPC until SIGTERM or Ctrl-C, then let the calls under way finish."""
    from service.server.run import CannotServe, run

    known = {parameter.envvar for parameter in serve.params if isinstance(parameter.envvar, str)}
    try:
        run(values, known_variables=known)
    except CannotServe as error:
        _fail(str(error))


@sodafountain.command()
@click.argument("game")
@click.option("--target", help="host:port of a service to fetch the history from; GAME is then a game's id.")
def verify(game: str, target: str | None) -> None:
    """Replay a finished game and check its shuffles, events and result.

    GAME is a file with a GetHistory response as JSON, or, with --target, a game's id. A history that holds proves
    that nobody changed the seed after the game began and that the rules were kept; it does not prove that the seed
    was drawn honestly. Exit status: 0 it holds, 1 it does not, 2 it cannot be told.
    """
    from service.verification.histories import CannotVerify, DoesNotHold, verify_file, verify_target

    try:
        click.echo(verify_target(target, game) if target else verify_file(Path(game)))
    except DoesNotHold as error:
        _fail(str(error), status=1)
    except CannotVerify as error:
        _fail(str(error))


@sodafountain.command()
@click.argument("game")
@setting(
    "--store-url",
    help="Where the service keeps its games.  [default: the embedded store of --data-dir, while its service runs]",
)
@setting(
    "--data-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="The data directory of a service with an embedded store.  [default: as `serve` has it]",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def inspect(game: str, store_url: str | None, data_dir: Path | None, *, as_json: bool) -> None:
    """Show what an operator may see of a game that seems stuck.

    GAME is its id. That is its head, who is awaited since when, how long it will be kept, and sizes: no move, card,
    seed or token. The game is left as it is.
    """
    import json

    from service.commands.inspection import CannotInspect, inspected, told
    from service.store.embedded import EmbeddedStoreError, EmbeddedValkey

    try:
        facts = inspected(store_url or EmbeddedValkey(data_dir or default_data_dir()).found(), game)
    except (CannotInspect, EmbeddedStoreError) as error:
        _fail(str(error), status=1)
    click.echo(json.dumps(facts) if as_json else told(facts))


@sodafountain.command()
@click.argument("name", default="")
@click.option(
    "--target",
    help="host:port of the service.  [default: 127.0.0.1, at the port of SODAFOUNTAIN_LISTEN_PORT, or 50051]",
)
def probe(name: str, target: str | None) -> None:
    """Ask a service whether it accepts calls.

    NAME asks for something else: `liveness` whether it is alive, `store` whether its store answers. For those who
    cannot ask by gRPC's own health protocol, such as a container engine. Exit status: 0 SERVING, 1 anything else.
    """
    from service.commands.probing import NotServing
    from service.commands.probing import probe as ask

    try:
        ask(target or f"127.0.0.1:{os.environ.get(PREFIX + 'LISTEN_PORT') or 50051}", name)
    except NotServing as error:
        _fail(str(error), status=1)
    click.echo("SERVING")


@sodafountain.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--service",
    "services",
    multiple=True,
    required=True,
    metavar="HOST:PORT",
    help="Where a service is; again for more. A name may stand for many.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 or :: for every one."
)
@click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--admin", default="127.0.0.1:9901", show_default=True, help="Where Envoy's own pages listen.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    default=("*",),
    show_default=True,
    type=Origin(),
    help="Whose pages may call from a browser; again for more.",
)
@click.option(
    "--rate",
    default=5000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Calls a second that are let through, for all callers together.",
)
def gateway(folder: Path, **values: Any) -> None:
    """Write what Envoy needs to be a gateway to services: its configuration, and the contract.

    They go into FOLDER as envoy.yaml and sodafountain.binpb; run `envoy -c FOLDER/envoy.yaml`. On a laptop
    `sodafountain serve --rest-port 8080` does all of it.
    """
    from service.gateway import Gateway, write_config

    try:
        folder.mkdir(parents=True, exist_ok=True)
        click.echo(write_config(Gateway(**values), folder.resolve()))
    except (OSError, ValueError) as error:
        _fail(str(error))


@sodafountain.command()
@click.option("--api", metavar="NAME", help="Draw an API key of that name instead, as --api-keys-file wants it.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Append it to a file that only its owner may read, instead of printing it.",
)
def keygen(api: str | None, output: Path | None) -> None:
    """Draw a key that signs tokens, for --token-keys-file."""
    from service.access.tokens import new_api_key, new_key

    try:
        key = new_key() if api is None else new_api_key(api)
        if output is None:
            click.echo(key)
            return
        output.touch(mode=0o600)
        with output.open("a") as file:
            file.write(f"{key}\n")
    except ValueError as error:
        _fail(str(error))
    except OSError as error:
        _fail(f"cannot write {output}: {error.strerror}")


def main() -> None:
    """Runs the command; whatever is wrong with its flags or settings is told in one line."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own lines fit no log format, and we say the same better
    try:
        status = sodafountain.main(prog_name="sodafountain", standalone_mode=False)
    except click.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message().replace("\n", " "))
    sys.exit(status if isinstance(status, int) else 0)


def default_data_dir() -> Path:
    """Tells where this user's data goes (XDG base directory specification)."""
    base = os.environ.get("XDG_DATA_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".local" / "share") / "sodafountain"


def _fail(problem: str, *, status: int = 2) -> NoReturn:
    click.echo(f"sodafountain: {problem}", err=True)
    sys.exit(status)
