"""`sodafountain verify`."""

import re
from pathlib import Path
from typing import Any

import click

from service.commands.parameters import fail
from service.commands.tls import credentials, tls_options
from service.server.settings import PREFIX


class Commitment(click.ParamType[bytes]):
    """A commitment: 64 hexadecimal digits."""

    name = "hex"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        """Parse a commitment."""
        if not re.fullmatch("[0-9a-fA-F]{64}", value):
            self.fail(f"{value!r} is not a commitment: 64 hexadecimal digits", param, ctx)
        return bytes.fromhex(value)


@click.command(short_help="Replay a finished game and check it.")
@click.argument("game")
@click.option("--commitment", type=Commitment(), help="The seed_commitment that you kept from your first look.")
@click.option("--target", help="host:port of the service that has the game; GAME is then a game id.")
@tls_options
@click.option(
    "--token",
    envvar=PREFIX + "TOKEN",
    show_envvar=True,
    default="",
    help="A token of the game, for a private game of --target. Prefer the variable: other users see flags.",
)
def verify(
    game: str, commitment: bytes | None, target: str | None, *, tls: bool, tls_ca: Path | None, token: str
) -> None:
    """Replay a finished game, and check its shuffles, events and result.

    GAME is a file with a GetHistory response as JSON or, with --target, a game id.

    The result `Consistent` says that the history obeys the rules: every shuffle, event and point follows from its seed
    and its moves. Anyone can invent such a history with another seed.

    The result `Verified` requires --commitment: the seed_commitment, as 64 hexadecimal digits, that you kept from your
    first look at the game. It says in addition that game, seats, options and seed are the same as at that look.

    Neither proves that the moves are those that the seats made; compare them with those that you saw. Neither proves
    that the seed was drawn by chance: the creator of a game can discard deals until one pleases. The creator also
    holds all tokens, and can see every hand. A player must therefore never be the creator.

    Exit status: 0 consistent or verified, 1 not consistent, 2 unknown.
    """
    from service.verification import CannotVerify, Target, VerificationFailed, verify_file, verify_target

    if (tls or tls_ca) and not target:
        raise click.UsageError("--tls and --tls-ca require --target")
    try:
        if target:
            service = Target(target, credentials=credentials(tls=tls, tls_ca=tls_ca), token=token)
            click.echo(verify_target(service, game, commitment))
        else:
            click.echo(verify_file(Path(game), commitment))
    except VerificationFailed as error:
        fail(str(error), status=1)
    except CannotVerify as error:
        fail(str(error))
