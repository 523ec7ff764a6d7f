"""`sodafountain gateway`."""

from pathlib import Path
from typing import Any

import click

from service.commands.parameters import Origin, fail

_PATH = click.Path(dir_okay=False, path_type=Path)


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
@click.option("--tls-cert-file", type=_PATH, help="Certificate for callers, and those of its issuers, PEM.")
@click.option("--tls-key-file", type=_PATH, help="Private key of that certificate, PEM.")
@click.option(
    "--tls-client-ca-file",
    type=_PATH,
    help="Certificates of authorities, PEM: callers must then have a certificate of one (mutual TLS).",
)
@click.option(
    "--service-ca-file",
    type=_PATH,
    help="Certificates of the authorities of the services, PEM. Calls to the services then use TLS.",
)
@click.option(
    "--service-hostname", help="Name that the certificates of the services must have.  [default: the host of --service]"
)
@click.option("--service-cert-file", type=_PATH, help="Certificate of the gateway for the services, PEM (mutual TLS).")
@click.option("--service-key-file", type=_PATH, help="Private key of that certificate, PEM.")
@click.option(
    "--rate",
    default=5000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of calls per second, for all callers together.",
)
@click.option(
    "--rate-per-caller",
    "caller_rate",
    default=500,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of calls per second, for each address.",
)
@click.option(
    "--trusted-hops",
    default=0,
    show_default=True,
    type=click.IntRange(0, 16),
    help="Number of proxies in front of the gateway that add the address of their caller to x-forwarded-for.",
)
@click.option(
    "--max-connections",
    "connections",
    default=10_000,
    show_default=True,
    type=click.IntRange(1, 1_000_000),
    help="Maximum number of connections of callers; the limit of file descriptors (ulimit -n) must be higher.",
)
def gateway(folder: Path, **values: Any) -> None:
    """Write the files that make an Envoy a gateway to services: its configuration, and the contract.

    They are written to FOLDER as envoy.yaml and sodafountain.binpb; run `envoy -c FOLDER/envoy.yaml`. On a development
    machine, `sodafountain serve --rest-port 8080` does all of this.

    Envoy itself reads the files of certificates, again whenever they are replaced by others (renamed into their
    directory, as Kubernetes does it), so they need not exist yet.
    """
    from service.gateway import Gateway, ListenerTls, ServiceTls, write_config

    tls = {name: values.pop(name) for name in [*values] if name.startswith(("tls_", "service_"))}
    certificate, key = tls["tls_cert_file"], tls["tls_key_file"]
    if (certificate is None) != (key is None) or (tls["tls_client_ca_file"] and certificate is None):
        raise click.UsageError("TLS for callers requires both --tls-cert-file and --tls-key-file")
    if certificate is not None:
        values["tls"] = ListenerTls(certificate, key, tls["tls_client_ca_file"])
    authorities = tls["service_ca_file"]
    if authorities is None and any(tls[name] for name in tls if name.startswith("service_")):
        raise click.UsageError("TLS to the services requires --service-ca-file")
    if (tls["service_cert_file"] is None) != (tls["service_key_file"] is None):
        raise click.UsageError("Mutual TLS to the services requires both --service-cert-file and --service-key-file")
    if authorities is not None:
        hostname = tls["service_hostname"] or values["services"][0].rpartition(":")[0]
        values["service_tls"] = ServiceTls(authorities, hostname, tls["service_cert_file"], tls["service_key_file"])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        click.echo(write_config(Gateway(**values), folder.resolve()))
    except (OSError, ValueError) as error:
        fail(str(error))
