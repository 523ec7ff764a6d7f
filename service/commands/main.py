"""The command `sodafountain` and its subcommands."""

import os
import sys

import click

from service.commands.finalize_upgrade import finalize_upgrade
from service.commands.gateway import gateway
from service.commands.inspect import inspect
from service.commands.keygen import keygen
from service.commands.parameters import fail
from service.commands.probe import probe
from service.commands.serve import serve
from service.commands.verify import verify


@click.group(
    commands=(serve, verify, inspect, probe, gateway, keygen, finalize_upgrade),
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="sodafountain-service")
def sodafountain() -> None:
    """A game-engine service for tabletop games about drinks."""


def main() -> None:
    """Run the command. Print an error in flags or settings as one line."""
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # gRPC's own log lines have another format, and duplicate ours
    try:
        status = sodafountain.main(prog_name="sodafountain", standalone_mode=False)
    except click.Abort:
        sys.exit(130)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        fail(error.format_message().replace("\n", " "))
    sys.exit(status if isinstance(status, int) else 0)
