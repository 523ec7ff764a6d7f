"""Check before a run that its options are valid and that the service can serve it."""

import sys
from argparse import Namespace
from typing import Final

import sodafountain
from clients.loadtest.options import (
    API_KEY_VARIABLE,
    connect,
    ensure_report_folder,
    parse_mix,
    parse_target,
    parse_users,
)
from sodafountain.v1.game_pb2 import GameKindInfo

TIMEOUT_SECONDS: Final = 5.0
# Any valid seed: it only shows whether the service accepts fixed seeds.
SEED: Final = bytes(32)


def find_problem(host: str | None, options: Namespace) -> str:
    """Return why a run cannot start, in one line, or an empty text if it can. Create the report folder."""
    try:
        if options.num_users is not None:
            parse_users(str(options.num_users))
        ensure_report_folder(options.report)
        with connect(parse_target(host), options) as client:
            check_service(client, options)
    except sodafountain.ApiKeyInvalid as error:
        return f"{error} The API key is read from the environment variable {API_KEY_VARIABLE}."
    except (sodafountain.SodaFountainError, ValueError) as error:
        return str(error)
    return ""


def check_service(client: sodafountain.Client, options: Namespace) -> None:
    """Check that the service allows the run to create its games, without creating one: its metrics would count it.

    Raises:
        ValueError: the service does not offer one of the games, or does not allow fixed deals.
        SodaFountainError: the service is unreachable, or rejects the request or the API key.
    """
    kinds: dict[str | None, GameKindInfo] = {
        kind.presets[0].WhichOneof("game"): kind for kind in client.game_kinds(timeout=TIMEOUT_SECONDS) if kind.presets
    }

    games = [game for game, weight in parse_mix(options.mix).items() if weight]
    if missing := [game for game in games if game not in kinds]:
        raise ValueError(f"the service does not offer {', '.join(missing)}")
    kind = kinds[games[0]]
    try:
        # One seat too many, so that no game is created. The service checks the API key and the seed before the seats.
        seed = SEED if options.fixed_deals else None
        client.new_game(kind.presets[0], kind.max_seats + 1, seed=seed, timeout=TIMEOUT_SECONDS)
    except sodafountain.MalformedRequest as error:
        if any(violation.field == "seed" for violation in error.field_violations):
            raise ValueError(f"the service does not allow --fixed-deals: {error}") from None


def print_error(message: str) -> None:
    """Print an error to stderr."""
    print(f"loadtest: {message}", file=sys.stderr, flush=True)
