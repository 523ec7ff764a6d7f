"""The options of a run in addition to Locust's own, and the games that follow from them."""

import math
import os
import random
import re
from argparse import ArgumentError, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

import sodafountain
from clients.loadtest.game_session import Plan
from clients.loadtest.limits import parse_limits
from clients.loadtest.metrics import parse_metrics_url
from clients.strategies import GREEDY, strategy
from sodafountain._arguments import checked_target, is_loopback
from sodafountain.v1.game_pb2 import GameKindInfo

API_KEY_VARIABLE: Final = "SODAFOUNTAIN_LOAD_API_KEY"


def add_options(parser: ArgumentParser) -> None:
    """Add the options to a parser."""
    group = parser.add_argument_group("Games", "Each Locust user plays one game after the other.")
    group.add_argument(
        "--mix",
        type=validated(parse_mix),
        default=",".join(f"{game}=1" for game in GREEDY),
        help="Games to play, with their relative weights (%(default)s).",
    )
    group.add_argument(
        "--seats",
        type=validated(parse_seats),
        default="2-5",
        help="Number of seats or a range, such as 4 or 2-5, limited to what the game supports (%(default)s).",
    )
    group.add_argument(
        "--spectators",
        type=number(),
        default=0.25,
        help="Number of spectators per seat: with 0.5 a game of four seats has two (%(default)s).",
    )
    group.add_argument(
        "--asking",
        type=number(maximum=1),
        default=0.25,
        help="Share of seats that poll state and legal moves instead of receiving them by watch (%(default)s).",
    )
    group.add_argument(
        "--think",
        type=number(),
        default=1.0,
        help="Average think time of a seat before a move, in seconds (%(default)s).",
    )
    group.add_argument(
        "--strategy", choices=("greedy", "random"), default="greedy", help="Strategy of the seats (%(default)s)."
    )
    group.add_argument("--run-seed", default="1", help="Seed of seats, options, think times and moves (%(default)s).")
    group.add_argument(
        "--fixed-deals",
        action="store_true",
        help="Derive the deals from the run seed too. The service must allow fixed seeds.",
    )
    group = parser.add_argument_group("Service and report")
    group.add_argument(
        "--secure", action="store_true", help=f"Use TLS. The API key is read from the variable {API_KEY_VARIABLE}."
    )
    group.add_argument(
        "--allow-insecure",
        action="store_true",
        help="Connect to a service on another host without TLS: everyone on the network can read tokens and API key.",
    )
    group.add_argument(
        "--metrics", type=validated(parse_metrics_url), default="", help="URL of the service's metrics, for lost races."
    )
    group.add_argument(
        "--limits",
        type=validated(parse_limits),
        default="",
        help="Comma-separated limits that fail the run when exceeded: 'ApplyMove p99 100, whole move p95 250, "
        "errors 0.1'. In milliseconds; errors in percent of all calls.",
    )
    group.add_argument(
        "--finish-within",
        type=number(),
        default=60.0,
        help="Seconds that games may take to finish after the run time (%(default)s).",
    )
    group.add_argument(
        "--report", default="build/load", help="Folder for report.html, report.json and report.csv (%(default)s)."
    )


def validated(parse: Callable[[str], object]) -> Callable[[str], str]:
    """Return an option type that validates a text but does not convert it: Locust sends options to workers as text."""

    def check(text: str) -> str:
        try:
            parse(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None
        return text

    return check


def number(maximum: float = math.inf) -> Callable[[str], float]:
    """Return an option type for numbers from 0 to `maximum`."""
    expected = "a number of at least 0" if maximum == math.inf else f"a number from 0 to {maximum:g}"

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        # Comparisons with NaN are false.
        if not (0 <= value <= maximum and value < math.inf):
            raise ArgumentTypeError(f"must be {expected}, not {text!r}")
        return value

    return parse


def validate_form(fields: Mapping[str, str]) -> None:
    """Validate the options in a form, by their Python names; ignore flags and the fields of Locust's own options.

    Raises:
        ValueError: an option is invalid.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_options(parser)
    flags = {name for name, value in vars(parser.parse_args([])).items() if isinstance(value, bool)}
    try:
        parser.parse_known_args([f"--{name.replace('_', '-')}={fields[name]}" for name in fields if name not in flags])
    except ArgumentError as error:
        raise ValueError(str(error)) from None


def parse_users(text: str) -> int:
    """Parse the number of users.

    Raises:
        ValueError: the text is not a whole number of at least 1.
    """
    if not text.isdecimal() or not int(text):
        raise ValueError(f"users must be a whole number of at least 1, not {text!r}")
    return int(text)


def parse_target(text: str | None) -> str:
    """Parse the address of the service.

    Raises:
        ValueError: the address is missing or invalid.
    """
    if not text:
        raise ValueError("--host is required: the address of the service, host:port")
    return checked_target(text)


def ensure_report_folder(text: str) -> Path:
    """Create the report folder if it is missing, and check that it is writable.

    Raises:
        ValueError: the folder cannot be created or written to.
    """
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot write a report to {text!r}: {error}") from None
    return folder


def parse_mix(text: str) -> Mapping[str, float]:
    """Parse a mix such as `soda_jerk=3,juices=1`; return weights by game.

    Raises:
        ValueError: the text is invalid.
    """
    mix = {}
    for part in text.split(","):
        game, _, weight = part.strip().partition("=")
        if game not in GREEDY:
            raise ValueError(f"{game!r} is not a game; expected one of {', '.join(GREEDY)}")
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", weight or "1"):
            raise ValueError(f"the weight of {game} must be a number such as 2 or 0.5, not {weight!r}")
        mix[game] = float(weight or "1")
    if not any(mix.values()):
        raise ValueError("at least one game must have a weight above 0")
    return mix


def parse_seats(text: str) -> tuple[int, int]:
    """Parse a number of seats or a range; return minimum and maximum.

    Raises:
        ValueError: the text is invalid.
    """
    found = re.fullmatch(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?", text.strip())
    if not found or int(found[1]) > int(found[2] or found[1]):
        raise ValueError(f"seats must be a number such as 4 or a range such as 2-5, not {text!r}")
    return int(found[1]), int(found[2] or found[1])


def connect(target: str, options: Namespace) -> sodafountain.Client:
    """Connect a client to the service.

    Raises:
        ValueError: the service is on another host, and the options neither choose TLS nor allow to do without it.
    """
    if not (options.secure or options.allow_insecure or is_loopback(target)):
        raise ValueError(
            f"--host {target} is another host: use --secure for TLS. Without TLS everyone on the network can read "
            "tokens and the API key; use --allow-insecure if you trust the network"
        )
    return sodafountain.connect(
        target,
        tls=options.secure,
        allow_insecure=options.allow_insecure,
        api_key=os.environ.get(API_KEY_VARIABLE) or None,
        timeout=10.0,
    )


def plan_game(game: str, kinds: Sequence[GameKindInfo], options: Namespace, name: str) -> Plan:
    """Plan a game; equal names and options give equal plans.

    Args:
        game: the kind of game.
        kinds: the kinds that the service offers.
        options: the options of the run.
        name: the seed of all random choices.

    Raises:
        ValueError: the service does not offer the game.
    """
    kind = next((kind for kind in kinds if kind.presets and kind.presets[0].WhichOneof("game") == game), None)
    if kind is None:
        raise ValueError(f"the service does not offer {game}")
    rng = random.Random(name)  # noqa: S311 (no secret)
    minimum, maximum = parse_seats(options.seats)
    requested = rng.randint(minimum, maximum)
    # Choose among the presets that support the requested number of seats best.
    nearest = [min(max(requested, preset.min_seats), preset.max_seats) for preset in kind.preset_infos]
    distance = min(abs(seats - requested) for seats in nearest)
    preset = rng.choice([index for index, seats in enumerate(nearest) if abs(seats - requested) == distance])
    seats = nearest[preset]
    spectators = options.spectators * seats
    return Plan(
        game=game,
        options=kind.presets[preset],
        seats=seats,
        spectators=int(spectators) + (rng.random() < spectators % 1),
        polling_seats=frozenset(seat for seat in range(seats) if rng.random() < options.asking),
        think=options.think,
        choose=strategy(options.strategy, game),
        name=name,
        seed=sha256(name.encode()).digest() if options.fixed_deals else None,
    )
