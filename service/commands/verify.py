"""`sodafountain verify`."""

from pathlib import Path

import click

from service.commands.parameters import fail


@click.command(short_help="Replay a finished game and check it.")
@click.argument("game")
@click.option("--target", help="host:port of the service that has the game; GAME is then a game id.")
def verify(game: str, target: str | None) -> None:
    """Replay a finished game, and check its shuffles, events and result.

    GAME is a file with a GetHistory response as JSON or, with --target, a game id. A consistent history proves that the
    seed was not changed after the game began, and that the rules were applied. It does not prove that the seed was
    generated fairly. Exit status: 0 consistent, 1 not consistent, 2 unknown.
    """
    from service.verification import CannotVerify, VerificationFailed, verify_file, verify_target

    try:
        click.echo(verify_target(target, game) if target else verify_file(Path(game)))
    except VerificationFailed as error:
        fail(str(error), status=1)
    except CannotVerify as error:
        fail(str(error))
