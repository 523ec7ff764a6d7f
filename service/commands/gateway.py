"""`sodafountain gateway`."""

from pathlib import Path
from typing import Any

import click

from service.commands.parameters import Origin, fail


@click.command(short_help="Write an Envoy's configuration.")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--service",
    "services",
    multiple=True,
    required=True,
    metavar="HOST:PORT",
    help="Address of a service; repeat for several. A host name may resolve to several services.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 or :: for all.")
@click.option("--port", default=8080, show_default=True, type=click.IntRange(1, 65535), help="Port to listen on.")
@click.option("--admin", default="127.0.0.1:9901", show_default=True, help="Address of Envoy's admin interface.")
@click.option(
    "--origin",
    "origins",
    multiple=True,
    type=Origin(),
    help="Web origin that may call from a browser (CORS), such as https://app.example, https://*.app.example for every "
    "subdomain, or * for any; repeat for several.  [default: none]",
)
@click.option(
    "--rate",
    default=5000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of calls per second, for all callers together.",
)
def gateway(folder: Path, **values: Any) -> None:
    """Write the files that make an Envoy a gateway to services: its configuration, and the contract.

    They are written to FOLDER as envoy.yaml and sodafountain.binpb; run `envoy -c FOLDER/envoy.yaml`. On a development
    machine, `sodafountain serve --rest-port 8080` does all of this.
    """
    from service.gateway import Gateway, write_config

    try:
        folder.mkdir(parents=True, exist_ok=True)
        click.echo(write_config(Gateway(**values), folder.resolve()))
    except (OSError, ValueError) as error:
        fail(str(error))
