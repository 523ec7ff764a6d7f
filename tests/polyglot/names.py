"""Find names of a contract that are hard to use in some language: keywords, and members that collide."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    OneofDescriptorProto,
)

from tests.polyglot.keywords import WORDS, camel, pascal, snake

_Field = FieldDescriptorProto

MEMBERS: Final[dict[str, dict[str, str]]] = {
    "C++": {
        "any": "{snake} clear_{snake} k{Pascal}FieldNumber",
        "single": "set_{snake}",
        "presence": "has_{snake}",
        "text": "mutable_{snake} release_{snake} set_allocated_{snake}",
        "message": "mutable_{snake} release_{snake} set_allocated_{snake}",
        "repeated": "set_{snake} add_{snake} mutable_{snake} {snake}_size",
        "oneof": "{snake}_case clear_{snake} has_{snake} {Pascal}Case {SNAKE}_NOT_SET",
        "member": "k{Pascal}",
        "nested": "{name}",
        "value": "{name}",
        "own": "descriptor default_instance internal_default_instance unknown_fields mutable_unknown_fields",
    },
    "C#": {
        "any": "{Pascal} {Pascal}FieldNumber",
        "presence": "Has{Pascal} Clear{Pascal}",
        "oneof": "{Pascal}Case {Pascal}OneofCase Clear{Pascal}",
        "own": "Parser Descriptor Types Clone Equals GetHashCode ToString WriteTo CalculateSize MergeFrom {message}",
    },
    "Dart": {
        "any": "{camel} clear{Pascal}",
        "presence": "has{Pascal}",
        "message": "has{Pascal} ensure{Pascal}",
        "oneof": "which{Pascal} clear{Pascal}",
        "own": "clone copyWith createEmptyInstance create createRepeated deepCopy freeze getDefault getField hasField"
        " hashCode info_ isFrozen isInitialized mergeFromMessage rebuild runtimeType setField toBuilder toString"
        " unknownFields writeToBuffer",
    },
    "Go": {
        "any": "{Pascal} Get{Pascal}",
        "oneof": "{Pascal} Get{Pascal}",
        "own": "Reset String ProtoMessage ProtoReflect Descriptor Marshal Unmarshal ExtensionRangeArray ExtensionMap",
    },
    "Java": {
        "any": "get{Pascal} clear{Pascal} set{Pascal} {SNAKE}_FIELD_NUMBER",
        "presence": "has{Pascal}",
        "message": "get{Pascal}Builder get{Pascal}OrBuilder merge{Pascal}",
        "text": "get{Pascal}Bytes set{Pascal}Bytes",
        "enum": "get{Pascal}Value set{Pascal}Value",
        "repeated": "get{Pascal}List get{Pascal}Count add{Pascal} addAll{Pascal} get{Pascal}ValueList"
        " get{Pascal}OrBuilderList get{Pascal}BuilderList remove{Pascal} add{Pascal}Builder",
        "oneof": "get{Pascal}Case clear{Pascal} {Pascal}Case",
        "own": "getClass getDescriptor getDefaultInstance getDefaultInstanceForType getDescriptorForType getAllFields"
        " getUnknownFields getSerializedSize getParserForType getInitializationErrorString",
    },
    "Kotlin": {
        "any": "{camel} clear{Pascal}",
        "presence": "has{Pascal}",
        "message": "{camel}OrNull",
        "enum": "{camel}Value",
        "repeated": "{Pascal}Proxy",
        "oneof": "{camel}Case clear{Pascal}",
        "own": "_build _builder dslBuilder",
    },
    "Objective-C": {
        "single": "{camel}",
        "presence": "has{Pascal}",
        "repeated": "{camel}Array {camel}Array_Count",
        "oneof": "{camel}OneOfCase",
        "own": "data delimitedData descriptor initialized serializedSize unknownFields isInitialized",
    },
    "PHP": {
        "any": "get{Pascal} set{Pascal}",
        "presence": "has{Pascal} clear{Pascal}",
        "oneof": "get{Pascal} has{Pascal} clear{Pascal} which{Pascal}",
        "own": "clear discardUnknownFields serializeToString mergeFromString serializeToJsonString mergeFromJsonString"
        " mergeFrom byteSize jsonByteSize",
    },
    "Python": {
        "any": "{snake} {SNAKE}_FIELD_NUMBER",
        "nested": "{name}",
        "value": "{name}",
        "own": "DESCRIPTOR Extensions FromString",
    },
    "Ruby": {
        "any": "{snake} clear_{snake}",
        "presence": "has_{snake}?",
        "message": "{snake}_as_value",
        "enum": "{snake}_const",
        "oneof": "{snake} has_{snake}? clear_{snake}",
        "own": "to_h to_s to_proto to_json method_missing respond_to?",
    },
    "Rust": {
        "any": "{snake}",
        "enum": "set_{snake} push_{snake}",
        "own": "encode decode merge clear encoded_len",
    },
    # The module of a message contains its nested types and the enums of its oneofs.
    "Rust's module": {"nested": "{name}", "oneof": "{Pascal}"},
    "Swift": {
        "any": "{camel}",
        "presence": "has{Pascal} clear{Pascal}",
        "oneof": "{camel}",
        "own": "unknownFields isInitialized debugDescription hashValue protoMessageName serializedData",
    },
    # Beside the nested types of a message stand the enums of its oneofs.
    "Swift's types": {"nested": "{name}", "oneof": "OneOf_{Pascal}", "own": "Type Protocol"},
    "TypeScript": {
        "any": "{camel}",
        "oneof": "{camel}",
        "own": "$typeName $unknown toJSON constructor toString",
    },
}
"""The members that generated code gives a message, by language and by what they come from: any field, a single or a
repeated field, a field with presence, a field of one type, a oneof and its members, nested types and their values.
`own` are the members that every message has."""

_CASELESS: Final = {"PHP"}
"""Languages in which two methods that differ in their letters' case are one."""

ACCEPTED: Final = {
    ("Rust", "move"): "The word of the field for it. The code writes `r#move`.",
    ("Ruby", "end"): "Valid as a method, as in Range: `message.end`, `new(end: …)`.",
    ("Objective-C", "description"): "The API improvement proposals name it so. The code writes `description_p`.",
    ("Rust", "Move"): "As the field; the module of the message's oneof is `r#move`.",
    ("Swift", "description"): "As in Objective-C.",
}
"""Names of the contract that are keywords, and why they stay: the code of all languages compiles, and the word is the
right one."""


def messages(file: FileDescriptorProto) -> Iterator[DescriptorProto]:
    """Yield all messages of a file, nested ones after the one that contains them."""
    open_ones = list(file.message_type)
    while open_ones:
        message = open_ones.pop(0)
        yield message
        open_ones[:0] = message.nested_type


def enums(file: FileDescriptorProto) -> Iterator[EnumDescriptorProto]:
    """Yield all enums of a file."""
    yield from file.enum_type
    for message in messages(file):
        yield from message.enum_type


def short_value(enum: EnumDescriptorProto, value: str) -> str:
    """Return the name of an enum value without the name of its enum, as C#, Rust and Swift write it."""
    return value.removeprefix(f"{snake(enum.name).upper()}_")


def keyword_uses(file: FileDescriptorProto) -> Iterator[tuple[str, str]]:
    """Yield each name of a file that is a keyword where a language's code writes it, with the language."""
    for language, words in WORDS.items():
        written: list[tuple[str, str]] = []
        for message in messages(file):
            written += [(message.name, style(message.name)) for style in words.message]
            written += [(field.name, words.field(field.name)) for field in message.field]
            written += [(oneof.name, words.field(oneof.name)) for oneof in _oneofs(message)]
        for enum in enums(file):
            written += [(enum.name, style(enum.name)) for style in words.message]
        for service in file.service:
            written += [(call.name, words.call(call.name)) for call in service.method]
        yield from ((language, name) for name, word in written if word in words.keywords)
        for enum in enums(file):
            for value in enum.value:
                short = words.value(short_value(enum, value.name)) if words.value else value.name
                if short in (words.not_values or words.keywords):
                    yield language, value.name


def collisions(message: DescriptorProto) -> Iterator[str]:
    """Yield a sentence for each member of a message that two of its names share in a language."""
    for language, templates in MEMBERS.items():
        owners: dict[str, set[str]] = defaultdict(set)
        for kind, label, names in _sources(message):
            for template in templates.get(kind, "").split():
                member = template.format_map(names)
                owners[member.lower() if language in _CASELESS else member].add(label)
        for member, labels in owners.items():
            if len(labels) > 1:
                yield f"{language}: {' and '.join(sorted(labels))} of {message.name} share {member}"


def _sources(message: DescriptorProto) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield what members come from: its kind, a label for people, and its name in all styles."""
    yield "own", "every message", {"message": message.name}
    for field in message.field:
        names = _styles(field.name)
        for kind in _kinds(field):
            yield kind, f"field {field.name}", names
    for oneof in _oneofs(message):
        yield "oneof", f"oneof {oneof.name}", _styles(oneof.name)
    for name in [nested.name for nested in message.nested_type] + [enum.name for enum in message.enum_type]:
        yield "nested", f"type {name}", {"name": name}
    for enum in message.enum_type:
        for value in enum.value:
            yield "value", f"value {value.name}", {"name": value.name}


def _kinds(field: FieldDescriptorProto) -> Iterator[str]:
    yield "any"
    repeated = field.label == _Field.LABEL_REPEATED
    yield "repeated" if repeated else "single"
    in_oneof = field.HasField("oneof_index") and not field.proto3_optional
    if not repeated and (in_oneof or field.proto3_optional or field.type == _Field.TYPE_MESSAGE):
        yield "presence"
    if in_oneof:
        yield "member"
    if field.type == _Field.TYPE_MESSAGE:
        yield "message"
    if field.type in {_Field.TYPE_STRING, _Field.TYPE_BYTES}:
        yield "text"
    if field.type == _Field.TYPE_ENUM:
        yield "enum"


def _oneofs(message: DescriptorProto) -> list[OneofDescriptorProto]:
    """Return the oneofs that the contract names, without those of optional fields."""
    synthetic = {field.oneof_index for field in message.field if field.proto3_optional}
    return [oneof for index, oneof in enumerate(message.oneof_decl) if index not in synthetic]


def _styles(name: str) -> dict[str, str]:
    return {"snake": name, "SNAKE": name.upper(), "camel": camel(name), "Pascal": pascal(name)}
