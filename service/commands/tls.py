"""The options `--tls` and `--tls-ca` of commands that call a service."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:  # its import takes long
    import grpc

F = TypeVar("F", bound=Callable[..., Any])


def tls_options(command: F) -> F:
    """Add the options to a command."""
    for option in (
        click.option(
            "--tls-ca",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            help="The certificates of the authorities to trust, PEM. Implies --tls.",
        ),
        click.option("--tls", is_flag=True, help="Use TLS for --target."),
    ):
        command = option(command)
    return command


def credentials(*, tls: bool, tls_ca: Path | None) -> "grpc.ChannelCredentials | None":
    """Return the credentials for a channel; None for one without TLS."""
    import grpc

    if not tls and tls_ca is None:
        return None
    return grpc.ssl_channel_credentials(None if tls_ca is None else tls_ca.read_bytes())
