"""Envoy's configuration: the rendered template, and the contract as a descriptor set."""

import ipaddress
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final

from google.protobuf import any_pb2
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.rpc import error_details_pb2, status_pb2

from service.contract import ERROR_DOMAIN, game_service_pb2
from service.gateway import strict
from service.gateway.tls import ListenerTls, ServiceTls, listener_socket, service_socket

CONFIG_NAME: Final = "envoy.yaml"
DESCRIPTORS_NAME: Final = "sodafountain.binpb"

# In the wheel the templates are beside this file, in the repository under deploy/.
_TEMPLATES: Final = (Path(__file__).parent, Path(__file__).parents[2] / "deploy" / "envoy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """The settings of a gateway.

    Attributes:
        host: the address to listen on.
        port: the port to listen on.
        admin: the address of Envoy's admin interface: `host:port`, or the path of a Unix socket.
        services: the addresses of the services: `host:port`, or paths of Unix sockets.
        origins: the web origins that may call from a browser (CORS), such as `https://app.example`; `*` for any,
            `https://*.app.example` for every subdomain.
        tls: TLS for callers; None means none.
        service_tls: TLS to the services; None means none.
        rate: the maximum number of calls per second, for all callers together; a burst may have twice as many.
        caller_rate: the same for each address; for IPv6, each /64 network.
        trusted_hops: the number of proxies in front of the gateway that add the address of their caller to
            `x-forwarded-for`.
        connections: the maximum number of connections of callers.
    """

    host: str
    port: int
    admin: str
    services: Sequence[str]
    origins: Sequence[str] = ()
    tls: ListenerTls | None = None
    service_tls: ServiceTls | None = None
    rate: int = 5000
    caller_rate: int = 500
    trusted_hops: int = 0
    connections: int = 10_000


def write_config(gateway: Gateway, folder: Path) -> Path:
    """Write the configuration, and the files that it names, to a folder; return the path of the configuration.

    Raises:
        OSError: a file cannot be written.
        ValueError: an address is invalid.
    """
    descriptors = folder / DESCRIPTORS_NAME
    descriptors.write_bytes(_descriptor_set().SerializeToString())
    config = folder / CONFIG_NAME
    config.write_text(_rendered(gateway, descriptors))
    return config


def _rendered(gateway: Gateway, descriptors: Path) -> str:
    addresses = [_address(service) for service in gateway.services]
    values = {
        "ADMIN": _address(gateway.admin),
        "LISTEN": {"address": gateway.host, "port_value": gateway.port},
        "DESCRIPTORS": str(descriptors),
        "LISTENER_TLS": listener_socket(gateway.tls, descriptors.parent),
        "SERVICE_TLS": service_socket(gateway.service_tls, descriptors.parent),
        "DISCOVERY": "STATIC" if all(map(_is_fixed, addresses)) else "STRICT_DNS",
        "ENDPOINTS": [{"endpoint": {"address": address}} for address in addresses],
        "ORIGINS": [_origin(origin) for origin in gateway.origins],
        "RATE": gateway.rate,
        "BURST": 2 * gateway.rate,
        "CALLER_RATE": gateway.caller_rate,
        "CALLER_BURST": 2 * gateway.caller_rate,
        "TRUSTED_HOPS": gateway.trusted_hops,
        "CONNECTIONS": gateway.connections,
        "STRICT": strict.tables() + _template("strict.lua"),
        "LOCAL_REPLIES": list(_local_replies()),
    }
    lines = [line for line in _template(CONFIG_NAME).splitlines(keepends=True) if not line.startswith("#")]
    return Template("".join(lines)).substitute({name: json.dumps(value) for name, value in values.items()})


def _origin(text: str) -> dict[str, Any]:
    if text == "*":
        return {"safe_regex": {"regex": ".*"}}
    scheme, wildcard, domain = text.partition("*.")
    if wildcard:
        return {"safe_regex": {"regex": rf"{re.escape(scheme)}([a-z0-9_-]+\.)+{re.escape(domain)}"}}
    return {"exact": text}


def _template(name: str) -> str:
    return next(path for folder in _TEMPLATES if (path := folder / name).exists()).read_text()


def _address(text: str) -> dict[str, Any]:
    if text.startswith("/"):
        return {"pipe": {"path": text}}
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is not an address such as 127.0.0.1:50051")
    return {"socket_address": {"address": host.strip("[]"), "port_value": int(port)}}


def _is_fixed(address: dict[str, Any]) -> bool:
    if "pipe" in address:
        return True
    try:
        ipaddress.ip_address(address["socket_address"]["address"])
    except ValueError:
        return False
    return True


# --- Errors that Envoy itself returns -------------------------------------------------------------------------------

_LOCAL_REPLIES: Final = (
    # HTTP status, code of google.rpc, reason, message
    (400, 3, "MALFORMED", "The request is malformed. %LOCAL_REPLY_BODY%"),
    (403, 12, "UNIMPLEMENTED", "Protocol upgrades are not supported."),
    (404, 12, "UNIMPLEMENTED", "This path does not exist."),
    (408, 4, "LIMIT", "The request took too long to arrive; nothing was changed."),
    (413, 8, "LIMIT", "The request is too large; nothing was changed."),
    (429, 8, "LIMIT", "The rate limit is reached; nothing was changed. Try again soon."),
    (431, 8, "LIMIT", "The request's headers are too large; nothing was changed."),
    (503, 14, "UNCONFIRMED", "The outcome is unknown: send the request again with the same request_id."),
    (504, 14, "UNCONFIRMED", "The outcome is unknown: send the request again with the same request_id."),
)
_RETRIED: Final = frozenset({429, 503})


def _local_replies() -> Iterator[dict[str, Any]]:
    """Yield the mappers that turn errors of Envoy itself into a google.rpc.Status, except for gRPC callers."""
    is_grpc = {"name": "content-type", "string_match": {"prefix": "application/grpc"}}
    # strict.lua has written a complete body.
    by_lua = {"filter": "soda-fountain", "path": [{"key": "refused"}], "value": {"bool_match": True}}
    yield {
        "filter": {"metadata_filter": {"matcher": by_lua, "match_if_key_not_found": False}},
        "body_format_override": {
            "text_format_source": {"inline_string": "%LOCAL_REPLY_BODY%"},
            "content_type": "application/json",
        },
    }
    not_grpc = {"header_filter": {"header": {**is_grpc, "invert_match": True, "treat_missing_header_as_empty": True}}}
    # When the transcoder rejects a body, it has already replaced the caller's content type with gRPC's.
    transcoded = {"header_filter": {"header": {"name": "x-envoy-original-path", "present_match": True}}}
    is_rest = {"or_filter": {"filters": [not_grpc, transcoded]}}
    for http, code, reason, message in _LOCAL_REPLIES:
        comparison = {"op": "EQ", "value": {"default_value": http, "runtime_key": f"refusal_{http}"}}
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": reason,
            "domain": ERROR_DOMAIN,
            "metadata": {},
        }
        yield {
            "filter": {"and_filter": {"filters": [{"status_code_filter": {"comparison": comparison}}, is_rest]}},
            "body_format_override": {"json_format": {"code": code, "message": message, "details": [info]}},
            "headers_to_add": [{"header": {"key": "retry-after", "value": "1"}}] if http in _RETRIED else [],
        }


# --- The contract -----------------------------------------------------------------------------------------------------


def _descriptor_set() -> FileDescriptorSet:
    """Return the contract and everything that it or error details import, each file after its imports."""
    found = FileDescriptorSet()
    seen: set[str] = set()

    def add(file: FileDescriptor) -> None:
        if file.name not in seen:
            seen.add(file.name)
            for imported in file.dependencies:
                add(imported)
            file.CopyToProto(found.file.add())

    for module in (game_service_pb2, status_pb2, error_details_pb2, any_pb2):
        add(module.DESCRIPTOR)
    return found
