"""Looks before a run whether there can be one: that its options are right, and that a service plays along."""

import sys
from argparse import Namespace
from typing import Final

import sodafountain
from clients.loadtest.options import API_KEY_VARIABLE, client_of, folder_of, mix_of, target_of, users_of
from sodafountain.v1.game_pb2 import GameKindInfo

SECONDS: Final = 5.0
# What a game may be dealt from, where the service lets others choose.
SEED: Final = bytes(32)


def refusal(host: str | None, options: Namespace) -> str:
    """Tells in a line why a run cannot begin; empty if it can. The folder of its report is made."""
    try:
        if options.num_users is not None:
            users_of(str(options.num_users))
        folder_of(options.report)
        with client_of(target_of(host), options) as client:
            ask(client, options)
    except sodafountain.ApiKeyInvalid as error:
        return f"{error} The API key is taken from the variable {API_KEY_VARIABLE}."
    except (sodafountain.SodaFountainError, ValueError) as error:
        return str(error)
    return ""


def ask(client: sodafountain.Client, options: Namespace) -> None:
    """Asks the service whether it lets the run make its games. None is made: that would be in its own figures.

    Raises:
        ValueError: it does not offer a game, or no fixed deals.
        SodaFountainError: nobody answers, or it refuses; of an API key too.
    """
    kinds: dict[str | None, GameKindInfo] = {
        kind.presets[0].WhichOneof("game"): kind for kind in client.game_kinds(timeout=SECONDS) if kind.presets
    }

    games = [game for game, weight in mix_of(options.mix).items() if weight]
    if missing := [game for game in games if game not in kinds]:
        raise ValueError(f"the service does not offer {', '.join(missing)}")
    kind = kinds[games[0]]
    try:
        # With a seat too many: refused for the key and the seed first, and for the seats otherwise.
        seed = SEED if options.fixed_deals else None
        client.new_game(kind.presets[0], kind.max_seats + 1, seed=seed, timeout=SECONDS)
    except sodafountain.MalformedRequest as error:
        if any(violation.field == "seed" for violation in error.field_violations):
            raise ValueError(f"the service does not allow --fixed-deals: {error}") from None


def say(reason: str) -> None:
    """Tells why there is no run."""
    print(f"loadtest: {reason}", file=sys.stderr, flush=True)
