"""TLS in Envoy's configuration: certificates that Envoy reads again when their files are replaced."""

import ipaddress
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

_TYPES: Final = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3."


class ListenerTls(NamedTuple):
    """TLS for callers of the gateway: PEM files.

    Attributes:
        certificate: the certificate and those of its issuers.
        key: its private key.
        client_authorities: the certificates of the authorities of which callers must have a certificate; None accepts
            callers without.
    """

    certificate: Path
    key: Path
    client_authorities: Path | None = None


class ServiceTls(NamedTuple):
    """TLS from the gateway to the services: PEM files.

    Attributes:
        authorities: the certificates of the authorities that the services' certificates must be of.
        hostname: the name that those certificates must have.
        certificate: the gateway's own certificate, for mutual TLS.
        key: its private key.
    """

    authorities: Path
    hostname: str
    certificate: Path | None = None
    key: Path | None = None


def listener_socket(tls: ListenerTls | None, folder: Path) -> dict[str, Any] | None:
    """Return the transport socket of the listener, and write the secrets that it names to a folder."""
    if tls is None:
        return None
    context: dict[str, Any] = {
        "alpn_protocols": ["h2", "http/1.1"],
        "tls_certificate_sds_secret_configs": [_certificate("listener", tls.certificate, tls.key, folder)],
    }
    if tls.client_authorities is not None:
        context["validation_context_sds_secret_config"] = _authorities("callers", tls.client_authorities, folder)
    return _socket("DownstreamTlsContext", context, {"require_client_certificate": tls.client_authorities is not None})


def service_socket(tls: ServiceTls | None, folder: Path) -> dict[str, Any] | None:
    """Return the transport socket to the services, and write the secrets that it names to a folder."""
    if tls is None:
        return None
    name = {"san_type": "IP_ADDRESS" if _is_ip(tls.hostname) else "DNS", "matcher": {"exact": tls.hostname}}
    context: dict[str, Any] = {
        "alpn_protocols": ["h2"],
        "combined_validation_context": {
            "default_validation_context": {"match_typed_subject_alt_names": [name]},
            "validation_context_sds_secret_config": _authorities("services", tls.authorities, folder),
        },
    }
    if tls.certificate is not None and tls.key is not None:
        certificate = _certificate("gateway", tls.certificate, tls.key, folder)
        context["tls_certificate_sds_secret_configs"] = [certificate]
    return _socket("UpstreamTlsContext", context, {} if _is_ip(tls.hostname) else {"sni": tls.hostname})


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _socket(kind: str, common: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": "envoy.transport_sockets.tls",
        "typed_config": {"@type": _TYPES + kind, "common_tls_context": common, **more},
    }


def _certificate(name: str, certificate: Path, key: Path, folder: Path) -> dict[str, Any]:
    secret = {"certificate_chain": _file(certificate), "private_key": _file(key), **_watched((certificate, key))}
    return _secret(name, {"tls_certificate": secret}, folder)


def _authorities(name: str, authorities: Path, folder: Path) -> dict[str, Any]:
    secret = {"trusted_ca": _file(authorities), **_watched((authorities,))}
    return _secret(name, {"validation_context": secret}, folder)


def _file(path: Path) -> dict[str, str]:
    return {"filename": str(path.absolute())}


def _watched(paths: Sequence[Path]) -> dict[str, Any]:
    return {"watched_directory": {"path": str(paths[0].absolute().parent)}}


def _secret(name: str, secret: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write a secret in the form that Envoy watches, and return its reference."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"resources": [{"@type": _TYPES + "Secret", "name": name, **secret}]}))
    return {"name": name, "sds_config": {"path_config_source": {"path": str(path)}, "resource_api_version": "V3"}}
