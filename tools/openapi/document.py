"""Makes the generated document say what is so, and no less: limits, presence, errors by reason, streams."""

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
"""What Envoy makes of a gRPC status."""

_OF_GATEWAY: Final[Mapping[int, str]] = {
    404: "Nothing is at this path for this method (reason UNIMPLEMENTED).",
    408: "The request took too long to arrive (reason LIMIT).",
    413: "The request is too large (reason LIMIT).",
    431: "The request's headers are too large (reason LIMIT).",
    503: "The service is not reached, or was lost on the way (reason UNCONFIRMED): send the same request id again.",
    504: "The service did not answer in time (reason UNCONFIRMED): send the same request id again.",
}
"""What the gateway itself refuses, by status."""


def refined(generated: Json, contract: FileDescriptorSet, overlay: Json) -> Json:
    """Returns the finished document.

    Args:
        generated: what protoc-gen-openapiv3 made.
        contract: the protos, with their comments.
        overlay: `reasons` by call, and the `document` to lay over.
    """
    messages = dict(_messages(contract))
    requests = {name for name in messages if name.endswith("Request")}
    sent = {name for request in requests for name in _reachable(request, messages)}
    schemas = generated["components"]["schemas"]
    for name, schema in schemas.items():
        if name in messages:
            _limit(schema, messages[name])
            if "oneOf" in schema:
                _choose_one(schema)
            if name not in sent:
                _require_what_is_always_there(schema, messages[name])
    schemas[f"{_PACKAGE}ErrorReason"] = _error_reason(contract)
    document: Json = {
        **generated,
        "security": [],
        "paths": {path: _path(item, messages, overlay["reasons"]) for path, item in generated["paths"].items()},
        "components": {**generated["components"], "responses": _shared_errors(overlay["reasons"])},
    }
    _lay_over(document, overlay["document"])
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


def _limit(schema: Json, message: DescriptorProto) -> None:
    """Adds the limits of buf.validate to a message's schema."""
    for field in message.field:
        if held := schema.get("properties", {}).get(field.json_name):
            held.update(_limits(field))


def _choose_one(schema: Json) -> None:
    """Says "exactly one", as every oneof of the contract means it; where there is nothing else, in two words."""
    branches = [branch for branch in schema.pop("oneOf") if "not" not in branch]
    if len(branches) == len(schema["properties"]):
        schema |= {"minProperties": 1, "maxProperties": 1}
    else:
        schema["oneOf"] = branches


def _limits(field: FieldDescriptorProto) -> Json:
    rules = field.options.Extensions[validate_pb2.field]
    whole, text = rules.int32, rules.string
    limits: Json = {}
    if whole.HasField("gte"):
        limits["minimum"] = whole.gte
    if whole.HasField("lte"):
        limits["maximum"] = whole.lte
    if text.HasField("pattern"):
        limits["pattern"] = text.pattern
    if text.HasField("max_len"):
        limits["maxLength"] = text.max_len
    if text.uuid:
        limits["format"] = "uuid"
    if rules.bytes.HasField("len"):
        limits |= {"minLength": 4 * -(-rules.bytes.len // 3), "maxLength": 4 * -(-rules.bytes.len // 3)}
    return limits


def _require_what_is_always_there(schema: Json, message: DescriptorProto) -> None:
    """In answers every field is there, even with its default, unless it knows to be absent: messages, optional ones."""
    always = [field.json_name for field in message.field if _is_always_there(field)]
    if always:
        schema["required"] = sorted({*schema.get("required", ()), *always})


def _is_always_there(field: FieldDescriptorProto) -> bool:
    if field.label == FieldDescriptorProto.LABEL_REPEATED:
        return True
    return field.type != FieldDescriptorProto.TYPE_MESSAGE and not field.HasField("oneof_index")


# --- Calls ------------------------------------------------------------------------------------------------------------


def _path(item: Json, messages: Mapping[str, DescriptorProto], reasons: Mapping[str, list[str]]) -> Json:
    return {method: _operation(operation, messages, reasons) for method, operation in item.items()}


def _operation(operation: Json, messages: Mapping[str, DescriptorProto], reasons: Mapping[str, list[str]]) -> Json:
    name = operation["operationId"].removeprefix("GameService_")
    told = " ".join(operation["summary"].split())
    request = messages[f"{_PACKAGE}{name}Request"]
    limits = {field.name: _limits(field) for field in request.field}
    limits |= {field.json_name: _limits(field) for field in request.field}
    for parameter in operation.get("parameters", ()):
        parameter["schema"].update(limits[parameter["name"]])
        if parameter["name"] == "game_id":
            parameter["example"] = "cayo46zx42kolnvtvmniyxlxvi"
    if body := operation.get("requestBody"):
        schema = body["content"]["application/json"]["schema"]
        _limit(schema, request)
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
        "summary": re.split(r"(?<=[^.])\.(?: |$)|: ", told, maxsplit=1)[0],
        "description": told,
        "responses": {"200": answer} | _errors_of(name, reasons, has_body="requestBody" in operation),
    }


# --- Errors -----------------------------------------------------------------------------------------------------------


def _errors(reasons: list[str], *, has_body: bool = True) -> dict[int, list[str]]:
    """Sorts reasons by their status; the statuses of the gateway are always among them."""
    statuses: dict[int, list[str]] = {status: [] for status in _OF_GATEWAY if status != 413 or has_body}
    for reason in reasons:
        statuses.setdefault(HTTP_STATUS[CODES[_reason(reason)]], []).append(reason)
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
    told = [f"Reasons: {', '.join(reasons)}."] if reasons else []
    if status in _OF_GATEWAY:
        told.append(_OF_GATEWAY[status])
    content: Json = {"schema": {"$ref": "#/components/schemas/google.rpc.Status"}}
    if reasons:
        content["example"] = _example(reasons[0])
    return {"description": " ".join(told), "content": {"application/json": content}}


def _example(reason: str) -> Json:
    told = "What was wrong, and what would be right."
    refusal = malformed("seat_count", told) if reason == "MALFORMED" else Refusal(_reason(reason), told)
    example: Json = json.loads(json_format.MessageToJson(refusal.status(), always_print_fields_with_no_presence=True))
    return example


def _error_reason(contract: FileDescriptorSet) -> Json:
    (file,) = (file for file in contract.file if file.name == "sodafountain/v1/errors.proto")
    (enum,) = file.enum_type
    comments = {tuple(place.path): place.leading_comments for place in file.source_code_info.location}
    lines = []
    for index, value in enumerate(enum.value):
        if value.number != 0:
            told = " ".join(comments[5, 0, 2, index].split())
            lines.append(f"- `{value.name.removeprefix('ERROR_REASON_')}`: {told}")
    names = [value.name.removeprefix("ERROR_REASON_") for value in enum.value if value.number != 0]
    introduction = "Why a call was refused. New values may be added: treat one that you don't know by its status alone."
    return {"type": "string", "description": "\n".join([introduction, "", *lines]), "enum": names}


# --- The overlay ------------------------------------------------------------------------------------------------------


def _lay_over(document: Json, overlay: Json) -> None:
    """Adds and replaces: objects are merged, everything else is put in the place of what was there."""
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(document.get(key), dict):
            _lay_over(document[key], value)
        else:
            document[key] = value
