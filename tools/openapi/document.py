"""Complete the generated document: limits, presence, errors by reason, streams."""

import json
import re
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, TypeAlias

from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorSet

from service.gateway.statuses import http_status
from service.transport.errors import CODES, Reason, StatusError, invalid_field
from service.transport.validation import RULES, Bytes, Counts, GameId, Integer, Items, Rule, Text, Uuid4
from sodafountain.v1 import errors_pb2

Json: TypeAlias = dict[str, Any]  # Any: JSON, or an OpenAPI document, which is JSON too

_PACKAGE: Final = "sodafountain.v1."

_GATEWAY_ERRORS: Final[Mapping[int, str]] = {
    404: "The path does not exist (reason UNIMPLEMENTED).",
    408: "The request took too long to arrive (reason LIMIT).",
    413: "The request is too large (reason LIMIT).",
    414: "The path and query are too long (reason LIMIT).",
    415: "The body is compressed, or not JSON in UTF-8 (reason MALFORMED).",
    431: "The request's headers are too large (reason LIMIT).",
    503: "The service cannot be reached or the connection broke (reason UNCONFIRMED): send the same request id again.",
    504: "The service did not answer in time (reason UNCONFIRMED): send the same request id again.",
}
"""The errors that the gateway itself returns, by status."""
_OF_BODIES: Final = frozenset({413, 415})

_RULES: Final[Mapping[str, Mapping[str, Rule]]] = {message.DESCRIPTOR.full_name: RULES[message] for message in RULES}


def refined(generated: Json, contract: FileDescriptorSet, overlay: Json) -> Json:
    """Return the complete document.

    Args:
        generated: the output of protoc-gen-openapiv3.
        contract: the protos, with their comments.
        overlay: the `reasons` of each call, and the `document` that is merged over the generated one.
    """
    messages = dict(_messages(contract))
    requests = {name for name in messages if name.endswith("Request")}
    sent = {name for request in requests for name in _reachable(request, messages)}
    schemas = generated["components"]["schemas"]
    for name, schema in schemas.items():
        if name in messages:
            _add_limits(schema, name, messages[name])
            if "oneOf" in schema:
                _choose_one(schema)
            if name not in sent:
                _require_fields_without_presence(schema, messages[name])
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
    ahead = [name]
    while ahead:
        if (name := ahead.pop()) not in found and name in messages:
            found.add(name)
            ahead += [field.type_name.removeprefix(".") for field in messages[name].field]
    return found


def _add_limits(schema: Json, name: str, message: DescriptorProto) -> None:
    """Add the limits of a message's fields to its schema."""
    for field in message.field:
        if described := schema.get("properties", {}).get(field.json_name):
            _merge(described, _limits(name, field))


def _choose_one(schema: Json) -> None:
    """Require exactly one field of a oneof, in the short form if the message has no other fields."""
    branches = [branch for branch in schema.pop("oneOf") if "not" not in branch]
    if len(branches) == len(schema["properties"]):
        schema |= {"minProperties": 1, "maxProperties": 1}
    else:
        schema["oneOf"] = branches


def _limits(message: str, field: FieldDescriptorProto) -> Json:
    rule = _RULES.get(message, {}).get(field.name)
    match rule:
        case Integer(minimum, maximum):
            return {"minimum": minimum} | ({} if maximum is None else {"maximum": maximum})
        case GameId(pattern):
            return {"pattern": pattern}
        case Text(max_length):
            return {"maxLength": max_length}
        case Uuid4():
            return {"format": "uuid"}
        case Bytes(length):
            return dict.fromkeys(("minLength", "maxLength"), 4 * -(-length // 3))  # characters of base64
        case Items(minimum, maximum, each):
            items = {"items": {"minimum": each.minimum, "maximum": each.maximum}} if each else {}
            return {"minItems": minimum, "maxItems": maximum, **items}
        case Counts(length, total):
            return {"maxItems": length, "items": {"minimum": 0, "maximum": total}}
    return {}


def _require_fields_without_presence(schema: Json, message: DescriptorProto) -> None:
    """Require the fields that a response always contains: all but messages and optional fields."""
    always = [field.json_name for field in message.field if _is_always_present(field)]
    if always:
        schema["required"] = sorted({*schema.get("required", ()), *always})


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
    request_name = f"{_PACKAGE}{name}Request"
    request = messages[request_name]
    limits = {field.name: _limits(request_name, field) for field in request.field}
    limits |= {field.json_name: _limits(request_name, field) for field in request.field}
    for parameter in operation.get("parameters", ()):
        parameter["schema"].update(limits[parameter["name"]])
        if parameter["name"] == "game_id":
            parameter["example"] = "cayo46zx42kolnvtvmniyxlxvi"
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        _add_limits(schema, request_name, request)
        schema["additionalProperties"] = False
    answer = operation["responses"]["200"]
    if "(streaming responses)" in answer["description"]:
        message = {"$ref": f"#/components/schemas/{_PACKAGE}{name}Response"}
        answer["content"] = {
            "application/json": {"schema": message},
            "text/event-stream": {"schema": {"type": "string"}},
        }
    return {
        **operation,
        "operationId": name,
        "summary": re.split(r"(?<=[^.])\.(?: |$)|: ", description, maxsplit=1)[0],
        "description": description,
        "responses": {"200": answer} | _errors_of(name, reasons, has_body="requestBody" in operation),
    }


# --- Errors -----------------------------------------------------------------------------------------------------------


def _errors(reasons: list[str], *, has_body: bool = True) -> dict[int, list[str]]:
    """Group reasons by HTTP status. The statuses of the gateway are always included."""
    statuses: dict[int, list[str]] = {status: [] for status in _GATEWAY_ERRORS if status not in _OF_BODIES or has_body}
    for reason in reasons:
        statuses.setdefault(http_status(reason, CODES[_reason(reason)]), []).append(reason)
    return dict(sorted(statuses.items()))


def _reason(name: str) -> Reason:
    return errors_pb2.ErrorReason.Value(f"ERROR_REASON_{name}")


def _errors_of(call: str, reasons: Mapping[str, list[str]], *, has_body: bool) -> Json:
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
    message = "What is wrong, and what is right."
    error = invalid_field("seat_count", message) if reason == "MALFORMED" else StatusError(_reason(reason), message)
    example: Json = json.loads(json_format.MessageToJson(error.status(), always_print_fields_with_no_presence=True))
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
    introduction = "The reason of an error. New values may be added. Treat an unknown value by its status."
    return {"type": "string", "description": "\n".join([introduction, "", *lines]), "enum": names}


# --- The overlay ------------------------------------------------------------------------------------------------------


def _merge(document: Json, overlay: Json) -> None:
    """Merge the overlay into the document: objects are merged, all other values are replaced."""
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _merge(document[key], value)
        else:
            document[key] = value
