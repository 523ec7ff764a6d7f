"""What a run can be told, beside Locust's own options; and what that means for each game."""

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
from clients.loadtest.limits import limits_of
from clients.loadtest.metrics import url_of
from clients.loadtest.game_session import Plan
from clients.strategies import GREEDY, strategy
from sodafountain._arguments import checked_target
from sodafountain.v1.game_pb2 import GameKindInfo

API_KEY_VARIABLE: Final = "SODAFOUNTAIN_LOAD_API_KEY"


def add_options(parser: ArgumentParser) -> None:
    """Declares the options."""
    group = parser.add_argument_group("Games", "One user of Locust's is one table: it plays one game after the other.")
    group.add_argument(
        "--mix",
        type=checked(mix_of),
        default=",".join(f"{game}=1" for game in GREEDY),
        help="Which games, and how many tables of each for how many of others (%(default)s).",
    )
    group.add_argument(
        "--seats",
        type=checked(seats_of),
        default="2-5",
        help="How many seats, 4 or 2-5; nearest to it where a game has no such number (%(default)s).",
    )
    group.add_argument(
        "--spectators",
        type=number(),
        default=0.25,
        help="Watchers beside the seats, as a share of them: with 0.5 a game of four has two (%(default)s).",
    )
    group.add_argument(
        "--asking",
        type=number(most=1),
        default=0.25,
        help="The share of seats that ask for state and legal moves instead of being told (%(default)s).",
    )
    group.add_argument(
        "--think",
        type=number(),
        default=1.0,
        help="Seconds that a seat thinks before a move, on average (%(default)s).",
    )
    group.add_argument(
        "--strategy", choices=("greedy", "random"), default="greedy", help="How seats choose (%(default)s)."
    )
    group.add_argument("--run-seed", default="1", help="What all of this is drawn from (%(default)s).")
    group.add_argument(
        "--fixed-deals",
        action="store_true",
        help="Draw the service's seeds from it too; the service must allow that.",
    )
    group = parser.add_argument_group("Service and report")
    group.add_argument(
        "--secure", action="store_true", help=f"Use TLS. An API key is taken from the variable {API_KEY_VARIABLE}."
    )
    group.add_argument(
        "--metrics", type=checked(url_of), default="", help="URL of the service's metrics, for lost races."
    )
    group.add_argument(
        "--limits",
        type=checked(limits_of),
        default="",
        help="What must not be exceeded, with commas between: 'ApplyMove p99 100, whole move p95 250, errors 0.1'; "
        "milliseconds, and errors in percent of all calls.",
    )
    group.add_argument(
        "--finish-within",
        type=number(),
        default=60.0,
        help="Seconds that games may take to end after the time (%(default)s).",
    )
    group.add_argument(
        "--report", default="build/load", help="The folder for report.html, .json and .csv (%(default)s)."
    )


def checked(reader: Callable[[str], object]) -> Callable[[str], str]:
    """Lets an option stay the text that it is, so that it travels to workers, once a reader has found it good."""

    def check(text: str) -> str:
        try:
            reader(text)
        except ValueError as error:
            raise ArgumentTypeError(str(error)) from None
        return text

    return check


def number(most: float = math.inf) -> Callable[[str], float]:
    """Reads a number, from 0 to `most`, as an option's type."""
    right = "a number from 0 on" if most == math.inf else f"a number from 0 to {most:g}"

    def read(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        # Not a number is no more than anything.
        if not (0 <= value <= most and value < math.inf):
            raise ArgumentTypeError(f"{text!r} is not {right}")
        return value

    return read


def check_fields(fields: Mapping[str, str]) -> None:
    """Checks what a form says of the options, by their names in Python; what it says of others, and flags, is not ours.

    Raises:
        ValueError: an option cannot be that.
    """
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    add_options(parser)
    flags = {name for name, value in vars(parser.parse_args([])).items() if isinstance(value, bool)}
    try:
        parser.parse_known_args([f"--{name.replace('_', '-')}={fields[name]}" for name in fields if name not in flags])
    except ArgumentError as error:
        raise ValueError(str(error)) from None


def users_of(text: str) -> int:
    """Reads how many tables there are.

    Raises:
        ValueError: it is no number, or there is none.
    """
    if not text.isdecimal() or not int(text):
        raise ValueError(f"{text!r} is not a number of tables from 1 on")
    return int(text)


def target_of(text: str | None) -> str:
    """Reads the service's address.

    Raises:
        ValueError: it is none.
    """
    if not text:
        raise ValueError("no --host names the service")
    return checked_target(text)


def folder_of(text: str) -> Path:
    """Makes the folder that a report goes to, if it is not there.

    Raises:
        ValueError: that cannot be done, or nothing can be written there.
    """
    folder = Path(text)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except (OSError, ValueError) as error:
        raise ValueError(f"no report can be written to {text!r}: {error}") from None
    return folder


def mix_of(text: str) -> Mapping[str, float]:
    """Reads a mix such as `soda_jerk=3,juices=1`: weights by game.

    Raises:
        ValueError: it is none.
    """
    mix = {}
    for part in text.split(","):
        game, _, weight = part.strip().partition("=")
        if game not in GREEDY:
            raise ValueError(f"{game!r} is not one of {', '.join(GREEDY)}")
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", weight or "1"):
            raise ValueError(f"{weight!r} is not a weight such as 2 or 0.5")
        mix[game] = float(weight or "1")
    if not any(mix.values()):
        raise ValueError("no game has a weight")
    return mix


def seats_of(text: str) -> tuple[int, int]:
    """Reads a number of seats, or the fewest and the most.

    Raises:
        ValueError: it is none.
    """
    found = re.fullmatch(r"([1-9][0-9]?)(?:-([1-9][0-9]?))?", text.strip())
    if not found or int(found[1]) > int(found[2] or found[1]):
        raise ValueError(f"{text!r} is not a number of seats such as 4, or 2-5")
    return int(found[1]), int(found[2] or found[1])


def client_of(target: str, options: Namespace) -> sodafountain.Client:
    """Connects somebody to the service."""
    return sodafountain.connect(
        target, tls=options.secure, api_key=os.environ.get(API_KEY_VARIABLE) or None, timeout=10.0
    )


def planned(game: str, kinds: Sequence[GameKindInfo], options: Namespace, name: str) -> Plan:
    """Plans a game: the same again for the same name and options.

    Args:
        game: its kind.
        kinds: what the service offers.
        options: what the run was told.
        name: what its chances are drawn from.

    Raises:
        ValueError: the service does not offer the game.
    """
    kind = next((kind for kind in kinds if kind.presets and kind.presets[0].WhichOneof("game") == game), None)
    if kind is None:
        raise ValueError(f"the service does not offer {game}")
    chance = random.Random(name)  # noqa: S311 (no secret)
    fewest, most = seats_of(options.seats)
    wanted = chance.randint(fewest, most)
    # The presets that come nearest to the number of seats wanted.
    nearest = [min(max(wanted, preset.min_seats), preset.max_seats) for preset in kind.preset_infos]
    off = min(abs(seats - wanted) for seats in nearest)
    number = chance.choice([number for number, seats in enumerate(nearest) if abs(seats - wanted) == off])
    seats = nearest[number]
    spectators = options.spectators * seats
    return Plan(
        game=game,
        options=kind.presets[number],
        seats=seats,
        spectators=int(spectators) + (chance.random() < spectators % 1),
        asking=frozenset(seat for seat in range(seats) if chance.random() < options.asking),
        think=options.think,
        choose=strategy(options.strategy, game),
        name=name,
        seed=sha256(name.encode()).digest() if options.fixed_deals else None,
    )
