"""Complete the generated document: limits, field presence, errors by reason, streams."""

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

import grpc
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet

from buf.validate import validate_pb2
from service.errors import CODES, Reason, Refusal, malformed
from sodafountain.v1 import errors_pb2

Json: TypeAlias = dict[str, Any]  # Any: JSON, or an OpenAPI document, which is JSON too

_PACKAGE: Final = "sodafountain.v1."

HTTP_STATUS: Final[Mapping[grpc.StatusCode, int]] = {
    grpc.StatusCode.INVALID_ARGUMENT: 400,
    grpc.StatusCode.FAILED_PRECONDITION: 400,
    grpc.StatusCode.UNAUTHENTICATED: 401,
    grpc.StatusCode.PERMISSION_DENIED: 403,
    grpc.StatusCode.NOT_FOUND: 404,
    grpc.StatusCode.ABORTED: 409,
    grpc.StatusCode.RESOURCE_EXHAUSTED: 429,
    grpc.StatusCode.INTERNAL: 500,
    grpc.StatusCode.UNIMPLEMENTED: 501,
    grpc.StatusCode.UNAVAILABLE: 503,
}
"""The HTTP status to which Envoy maps a gRPC status."""

_GATEWAY_ERRORS: Final[Mapping[int, str]] = {
    404: "This path does not exist for this method (reason UNIMPLEMENTED).",
    408: "The request took too long to arrive (reason LIMIT).",
    413: "The request is too large (reason LIMIT).",
    431: "The request's headers are too large (reason LIMIT).",
    503: "The service is unreachable or the connection was lost (reason UNCONFIRMED): send the same request id again.",
    504: "The service did not answer in time (reason UNCONFIRMED): send the same request id again.",
}
"""Descriptions of the errors of the gateway itself, by status."""


def refine(generated: Json, contract: FileDescriptorSet, overlay: Json) -> Json:
    """Return the complete document.

    Args:
        generated: the output of protoc-gen-openapiv3.
        contract: the protos, with their comments.
        overlay: `reasons` by call, and the `document` to merge.
    """
    messages = dict(_messages(contract))
    requests = {name for name in messages if name.endswith("Request")}
    sent = {name for request in requests for name in _reachable(request, messages)}
    schemas = generated["components"]["schemas"]
    for name, schema in schemas.items():
        if name in messages:
            _add_limits(schema, messages[name])
            if "oneOf" in schema:
                _require_one(schema)
            if name not in sent:
                _require_present_fields(schema, messages[name])
    schemas[f"{_PACKAGE}ErrorReason"] = _error_reason(contract)
    document: Json = {
        **generated,
        "security": [],
        "paths": {path: _path(item, messages, overlay["reasons"]) for path, item in generated["paths"].items()},
        "components": {**generated["components"], "responses": _shared_errors(overlay["reasons"])},
    }
    _merge(document, overlay["document"])
    order = ("openapi", "info", "servers", "security", "tags", "paths", "components")
    return {key: document[key] for key in order}


# --- Messages ---------------------------------------------------------------------------------------------------------


def _messages(contract: FileDescriptorSet) -> Iterator[tuple[str, DescriptorProto]]:
    def nested(prefix: str, message: DescriptorProto) -> Iterator[tuple[str, DescriptorProto]]:
        yield prefix + message.name, message
        for inner in message.nested_type:
            yield from nested(f"{prefix}{message.name}.", inner)

    for file in contract.file:
        if f"{file.package}." == _PACKAGE:
            for message in file.message_type:
                yield from nested(_PACKAGE, message)


def _reachable(name: str, messages: Mapping[str, DescriptorProto]) -> set[str]:
    found: set[str] = set()
    pending = [name]
    while pending:
        if (name := pending.pop()) not in found and name in messages:
            found.add(name)
            pending += [field.type_name.removeprefix(".") for field in messages[name].field]
    return found


def _add_limits(schema: Json, message: DescriptorProto) -> None:
    """Add the limits of buf.validate to the schema of a message."""
    for field in message.field:
        if found := schema.get("properties", {}).get(field.json_name):
            found.update(_limits(field))


def _require_one(schema: Json) -> None:
    """Require exactly one field of a oneof, with two keywords if the message has no other fields."""
    branches = [branch for branch in schema.pop("oneOf") if "not" not in branch]
    if len(branches) == len(schema["properties"]):
        schema |= {"minProperties": 1, "maxProperties": 1}
    else:
        schema["oneOf"] = branches


def _limits(field: FieldDescriptorProto) -> Json:
    rules = field.options.Extensions[validate_pb2.field]
    integer, text = rules.int32, rules.string
    limits: Json = {}
    if integer.HasField("gte"):
        limits["minimum"] = integer.gte
    if integer.HasField("lte"):
        limits["maximum"] = integer.lte
    if text.HasField("pattern"):
        limits["pattern"] = text.pattern
    if text.HasField("max_len"):
        limits["maxLength"] = text.max_len
    if text.uuid:
        limits["format"] = "uuid"
    if rules.bytes.HasField("len"):
        limits |= {"minLength": 4 * -(-rules.bytes.len // 3), "maxLength": 4 * -(-rules.bytes.len // 3)}
    return limits


def _require_present_fields(schema: Json, message: DescriptorProto) -> None:
    """Require the fields that a response always contains: all but unset messages and unset optional fields."""
    present = [field.json_name for field in message.field if _is_always_present(field)]
    if present:
        schema["required"] = sorted({*schema.get("required", ()), *present})


def _is_always_present(field: FieldDescriptorProto) -> bool:
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return True
    return field.type != FieldDescriptorProto.TYPE_MESSAGE and not field.HasField("oneof_index")


# --- Calls ------------------------------------------------------------------------------------------------------------


def _path(item: Json, messages: Mapping[str, DescriptorProto], reasons: Mapping[str, list[str]]) -> Json:
    return {method: _operation(operation, messages, reasons) for method, operation in item.items()}


def _operation(operation: Json, messages: Mapping[str, DescriptorProto], reasons: Mapping[str, list[str]]) -> Json:
    name = operation["operationId"].removeprefix("GameService_")
    description = " ".join(operation["summary"].split())
    request = messages[f"{_PACKAGE}{name}Request"]
    limits = {field.name: _limits(field) for field in request.field}
    limits |= {field.json_name: _limits(field) for field in request.field}
    for parameter in operation.get("parameters", ()):
        parameter["schema"].update(limits[parameter["name"]])
        if parameter["name"] == "game_id":
            parameter["example"] = "cayo46zx42kolnvtvmniyxlxvi"
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        _add_limits(schema, request)
        schema["additionalProperties"] = False
    success = operation["responses"]["200"]
    if "(streaming responses)" in success["description"]:
        message = {"$ref": f"#/components/schemas/{_PACKAGE}{name}Response"}
        success["content"] = {
            "application/json": {"schema": message},
            "text/event-stream": {"schema": {"type": "string"}},
        }
    return {
        **operation,
        "operationId": name,
        "summary": re.split(r"(?<=[^.])\.(?: |$)|: ", description, maxsplit=1)[0],
        "description": description,
        "responses": {"200": success} | _error_responses(name, reasons, has_body="requestBody" in operation),
    }


# --- Errors -----------------------------------------------------------------------------------------------------------


def _errors(reasons: list[str], *, has_body: bool = True) -> dict[int, list[str]]:
    """Group reasons by status. The statuses of the gateway are always included."""
    statuses: dict[int, list[str]] = {status: [] for status in _GATEWAY_ERRORS if status != 413 or has_body}
    for reason in reasons:
        statuses.setdefault(HTTP_STATUS[CODES[_reason(reason)]], []).append(reason)
    return dict(sorted(statuses.items()))


def _reason(name: str) -> Reason:
    return errors_pb2.ErrorReason.Value(f"ERROR_REASON_{name}")


def _error_responses(call: str, reasons: Mapping[str, list[str]], *, has_body: bool) -> Json:
    shared = _errors(reasons["*"])
    return {
        str(status): {"$ref": f"#/components/responses/{_title(status)}"}
        if shared.get(status) == names
        else _error_response(status, names)
        for status, names in _errors(reasons["*"] + reasons[call], has_body=has_body).items()
    }


def _shared_errors(reasons: Mapping[str, list[str]]) -> Json:
    return {_title(status): _error_response(status, names) for status, names in _errors(reasons["*"]).items()}


def _title(status: int) -> str:
    return HTTPStatus(status).phrase.replace(" ", "")


def _error_response(status: int, reasons: list[str]) -> Json:
    sentences = [f"Reasons: {', '.join(reasons)}."] if reasons else []
    if status in _GATEWAY_ERRORS:
        sentences.append(_GATEWAY_ERRORS[status])
    content: Json = {"schema": {"$ref": "#/components/schemas/google.rpc.Status"}}
    if reasons:
        content["example"] = _example(reasons[0])
    return {"description": " ".join(sentences), "content": {"application/json": content}}


def _example(reason: str) -> Json:
    if reason == "MALFORMED":
        refusal = malformed("seat_count", "must be from 2 to 4")
    else:
        refusal = Refusal(_reason(reason), "What is wrong, and what is right.")
    example: Json = json.loads(json_format.MessageToJson(refusal.status(), always_print_fields_with_no_presence=True))
    return example


def _error_reason(contract: FileDescriptorSet) -> Json:
    (file,) = (file for file in contract.file if file.name == "sodafountain/v1/errors.proto")
    (enum,) = file.enum_type
    comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
    lines = []
    for index, value in enumerate(enum.value):
        if value.number != 0:
            comment = " ".join(comments[5, 0, 2, index].split())
            lines.append(f"- `{value.name.removeprefix('ERROR_REASON_')}`: {comment}")
    names = [value.name.removeprefix("ERROR_REASON_") for value in enum.value if value.number != 0]
    introduction = "The reason for an error. New values may be added: handle an unknown one by its status."
    return {"type": "string", "description": "\n".join([introduction, "", *lines]), "enum": names}


# --- The overlay ------------------------------------------------------------------------------------------------------


def _merge(document: Json, overlay: Json) -> None:
    """Merge `overlay` into `document`: objects are merged recursively, other values are replaced."""
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value
