"""`sodafountain keygen`."""

from pathlib import Path

import click

from service.commands.parameters import fail


@click.command(short_help="Generate a key for tokens or for encryption, or an API key.")
@click.option("--api", metavar="NAME", help="Generate an API key of that name instead, for --api-keys-file.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, writable=True, path_type=Path),
    help="Append the key to a file that only its owner can read, instead of printing it.",
)
def keygen(api: str | None, output: Path | None) -> None:
    """Generate a key that signs tokens, for --token-keys-file, or that encrypts games, for --encryption-keys-file."""
    from service.access.keys import new_api_key, new_token_key

    try:
        key = new_token_key() if api is None else new_api_key(api)
        if output is None:
            click.echo(key)
            return
        output.touch(mode=0o600)
        with output.open("a") as file:
            file.write(f"{key}\n")
    except ValueError as error:
        fail(str(error))
    except OSError as error:
        fail(f"cannot write {output}: {error.strerror}")
