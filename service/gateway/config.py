"""Envoy's configuration: the template filled in, and the contract as Envoy reads it."""

import ipaddress
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, Final

from google.protobuf import any_pb2
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.rpc import error_details_pb2, status_pb2

from service.gateway import strict
from service.transport.errors import DOMAIN
from sodafountain.v1 import game_service_pb2

CONFIG_NAME: Final = "envoy.yaml"
DESCRIPTORS_NAME: Final = "sodafountain.binpb"

# In the wheel the templates lie beside this file, in the project where those look who deploy.
_TEMPLATES: Final = (Path(__file__).parent, Path(__file__).parents[2] / "deploy" / "envoy")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gateway:
    """What differs between one gateway and another.

    Attributes:
        host: the address to listen on.
        port: the port to listen on.
        admin: where Envoy's own pages listen: `host:port`, or the path of a Unix socket.
        services: where the services are: `host:port`, or paths of Unix sockets.
        origins: whose pages may call from a browser, such as `https://app.example`; `*` for everybody's.
        rate: how many calls a second are let through, for all callers together; as many again may come at once.
    """

    host: str
    port: int
    admin: str
    services: Sequence[str]
    origins: Sequence[str] = ("*",)
    rate: int = 5000


def write_config(gateway: Gateway, folder: Path) -> Path:
    """Writes the configuration, and the contract that it names, into a folder; returns the configuration's path.

    Raises:
        OSError: they cannot be written.
        ValueError: an address is none.
    """
    descriptors = folder / DESCRIPTORS_NAME
    descriptors.write_bytes(_contract().SerializeToString())
    config = folder / CONFIG_NAME
    config.write_text(_filled_in(gateway, descriptors))
    return config


def _filled_in(gateway: Gateway, descriptors: Path) -> str:
    addresses = [_address(service) for service in gateway.services]
    names = {
        "ADMIN": _address(gateway.admin),
        "LISTEN": {"address": gateway.host, "port_value": gateway.port},
        "DESCRIPTORS": str(descriptors),
        "DISCOVERY": "STATIC" if all(map(_is_fixed, addresses)) else "STRICT_DNS",
        "ENDPOINTS": [{"endpoint": {"address": address}} for address in addresses],
        "ORIGINS": [_origin(origin) for origin in gateway.origins],
        "RATE": gateway.rate,
        "BURST": 2 * gateway.rate,
        "STRICT": strict.tables() + _template("strict.lua"),
        "REFUSALS": list(_refusals()),
    }
    lines = [line for line in _template(CONFIG_NAME).splitlines(keepends=True) if not line.startswith("#")]
    return Template("".join(lines)).substitute({name: json.dumps(value) for name, value in names.items()})


def _origin(text: str) -> dict[str, Any]:
    if text == "*":
        return {"safe_regex": {"regex": ".*"}}
    return {"exact": text}


def _template(name: str) -> str:
    return next(path for folder in _TEMPLATES if (path := folder / name).exists()).read_text()


def _address(text: str) -> dict[str, Any]:
    if text.startswith("/"):
        return {"pipe": {"path": text}}
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise ValueError(f"{text!r} is no address such as 127.0.0.1:50051")
    return {"socket_address": {"address": host.strip("[]"), "port_value": int(port)}}


def _is_fixed(address: dict[str, Any]) -> bool:
    if "pipe" in address:
        return True
    try:
        ipaddress.ip_address(address["socket_address"]["address"])
    except ValueError:
        return False
    return True


# --- Envoy's own refusals ---------------------------------------------------------------------------------------------

_REFUSALS: Final = (
    # HTTP status, code of google.rpc, reason, sentence
    (400, 3, "MALFORMED", "The request is not well formed. %LOCAL_REPLY_BODY%"),
    (403, 12, "UNIMPLEMENTED", "Nothing but HTTP is spoken here: no upgrade is offered."),
    (404, 12, "UNIMPLEMENTED", "There is nothing at this path for this method."),
    (405, 12, "UNIMPLEMENTED", "There is nothing at this path for this method."),
    (408, 4, "LIMIT", "The request took too long to arrive; nothing was changed."),
    (413, 8, "LIMIT", "The request is too large; nothing was changed."),
    (429, 8, "LIMIT", "Too many calls: nothing was changed, try again soon."),
    (431, 8, "LIMIT", "The request's headers are too large; nothing was changed."),
    (503, 14, "UNCONFIRMED", "Whether this was done is not known: send the same request id again."),
    (504, 14, "UNCONFIRMED", "Whether this was done is not known: send the same request id again."),
)


def _refusals() -> Iterator[dict[str, Any]]:
    """Makes a google.rpc.Status of what Envoy itself refuses, unless gRPC is spoken, which has its own way."""
    speaks_grpc = {"name": "content-type", "string_match": {"prefix": "application/grpc"}}
    # strict.lua has written its own already.
    written = {"filter": "soda-fountain", "path": [{"key": "refused"}], "value": {"bool_match": True}}
    yield {
        "filter": {"metadata_filter": {"matcher": written, "match_if_key_not_found": False}},
        "body_format_override": {
            "text_format_source": {"inline_string": "%LOCAL_REPLY_BODY%"},
            "content_type": "application/json",
        },
    }
    not_grpc = {
        "header_filter": {"header": {**speaks_grpc, "invert_match": True, "treat_missing_header_as_empty": True}}
    }
    # By the time it finds fault with a body, the transcoder has written gRPC's content type over the caller's.
    transcoded = {"header_filter": {"header": {"name": "x-envoy-original-path", "present_match": True}}}
    of_rest = {"or_filter": {"filters": [not_grpc, transcoded]}}
    for http, code, reason, sentence in _REFUSALS:
        comparison = {"op": "EQ", "value": {"default_value": http, "runtime_key": f"refusal_{http}"}}
        info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": DOMAIN, "metadata": {}}
        yield {
            "filter": {"and_filter": {"filters": [{"status_code_filter": {"comparison": comparison}}, of_rest]}},
            "body_format_override": {"json_format": {"code": code, "message": sentence, "details": [info]}},
        }


# --- The contract -----------------------------------------------------------------------------------------------------


def _contract() -> FileDescriptorSet:
    """Collects the contract and everything that it or an error's details use, each file after those that it imports."""
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
