"""The names of the contract are usable in every language, and every file sets the options of the languages."""

import re
from collections import Counter

import pytest
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    EnumValueDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    OneofDescriptorProto,
)

from service.contract import errors_pb2, game_pb2, game_service_pb2, juices_pb2, soda_jerk_pb2, soda_smugglers_pb2
from tests.polyglot.keywords import pascal, snake
from tests.polyglot.names import ACCEPTED, collisions, enums, keyword_uses, messages, short_value

OPTIONS = {
    "csharp_namespace": "SodaFountain.V1",
    "go_package": "sodafountain.internal/sodafountain/sodafountainv1",
    "java_multiple_files": True,
    "java_package": "sodafountain.v1",
    "objc_class_prefix": "SDF",
    "php_metadata_namespace": "SodaFountain\\V1\\Metadata",
    "php_namespace": "SodaFountain\\V1",
    "ruby_package": "SodaFountain::V1",
    "swift_prefix": "SodaFountainV1",
}


def _read(module: object) -> FileDescriptorProto:
    file = FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)  # type: ignore[attr-defined] # every generated module has it
    return file


CONTRACT = [
    _read(module) for module in (errors_pb2, game_pb2, game_service_pb2, juices_pb2, soda_jerk_pb2, soda_smugglers_pb2)
]

every_file = pytest.mark.parametrize("file", CONTRACT, ids=lambda file: file.name)


@every_file
def test_no_name_is_a_keyword_where_a_language_writes_it(file: FileDescriptorProto) -> None:
    assert set(keyword_uses(file)) <= ACCEPTED.keys()


def test_every_accepted_keyword_is_a_name_of_the_contract() -> None:
    assert {use for file in CONTRACT for use in keyword_uses(file)} == ACCEPTED.keys()


@every_file
def test_no_two_names_of_a_message_share_a_member_in_any_language(file: FileDescriptorProto) -> None:
    assert [found for message in messages(file) for found in collisions(message)] == []


@every_file
def test_enum_values_begin_with_the_name_of_their_enum(file: FileDescriptorProto) -> None:
    values = [(enum, value.name) for enum in enums(file) for value in enum.value]
    assert [value for enum, value in values if not value.startswith(f"{snake(enum.name).upper()}_")] == []


@every_file
def test_enum_values_are_unique_and_valid_without_their_prefix(file: FileDescriptorProto) -> None:
    for enum in enums(file):
        short = [pascal(short_value(enum, value.name)) for value in enum.value]
        assert [name for name, count in Counter(short).items() if count > 1] == []
        assert [name for name in short if not re.fullmatch("[A-Z][A-Za-z0-9]*", name)] == []


def test_type_names_are_unique_in_the_package_also_as_modules() -> None:
    names = [message.name for file in CONTRACT for message in file.message_type]
    names += [enum.name for file in CONTRACT for enum in file.enum_type]
    names += [service.name for file in CONTRACT for service in file.service]
    assert [name for name, count in Counter(map(snake, names)).items() if count > 1] == []


@every_file
def test_every_file_sets_the_options_of_the_languages(file: FileDescriptorProto) -> None:
    outer = pascal(file.name.rpartition("/")[2].removesuffix(".proto")) + "Proto"
    options = {field.name: value for field, value in file.options.ListFields()}
    assert options == {**OPTIONS, "java_outer_classname": outer}


# The checks themselves, on contracts that break a rule.


def _file(*fields: FieldDescriptorProto, **parts: object) -> FileDescriptorProto:
    message = DescriptorProto(name="Sample", field=fields, **parts)  # type: ignore[arg-type] # parts of a message
    return FileDescriptorProto(name="sample.proto", message_type=[message])


def _field(name: str, **parts: object) -> FieldDescriptorProto:
    parts = {"type": FieldDescriptorProto.TYPE_INT32, "label": FieldDescriptorProto.LABEL_OPTIONAL} | parts
    return FieldDescriptorProto(name=name, **parts)  # type: ignore[arg-type] # parts of a field


REPEATED = FieldDescriptorProto.LABEL_REPEATED
MESSAGE = FieldDescriptorProto.TYPE_MESSAGE
ENUM = FieldDescriptorProto.TYPE_ENUM


@pytest.mark.parametrize(
    ("language", "name"),
    [
        ("C++", "final"),
        ("Dart", "is"),
        ("Kotlin", "object"),
        ("Objective-C", "hash"),
        ("Python", "from"),
        ("Ruby", "inspect"),
        ("Ruby", "next"),
        ("Rust", "type"),
        ("Swift", "default"),
        ("TypeScript", "default"),
    ],
)
def test_a_field_named_like_a_keyword_is_found(language: str, name: str) -> None:
    assert (language, name) in set(keyword_uses(_file(_field(name))))


@pytest.mark.parametrize(
    ("language", "name"), [("PHP", "List"), ("Swift", "Type"), ("Python", "None"), ("Rust", "Loop")]
)
def test_a_message_named_like_a_keyword_is_found(language: str, name: str) -> None:
    file = FileDescriptorProto(message_type=[DescriptorProto(name=name)])
    assert (language, name) in set(keyword_uses(file))


@pytest.mark.parametrize(("language", "value"), [("Rust", "KIND_SELF"), ("Swift", "KIND_NONE")])
def test_an_enum_value_that_becomes_a_keyword_is_found(language: str, value: str) -> None:
    file = FileDescriptorProto(
        enum_type=[EnumDescriptorProto(name="Kind", value=[EnumValueDescriptorProto(name=value)])]
    )
    assert language in {used for used, _ in keyword_uses(file)}


@pytest.mark.parametrize(
    ("language", "file"),
    [
        ("C++", _file(_field("hand", label=REPEATED), _field("hand_size"))),
        ("C++", _file(_field("has_seat"), _field("seat", proto3_optional=True))),
        ("C++", _file(_field("clear_hand"), _field("hand"))),
        ("C++", _file(_field("descriptor"))),
        ("C#", _file(_field("sample"))),
        ("C#", _file(_field("has_seat"), _field("seat", proto3_optional=True))),
        ("Dart", _file(_field("hash_code"))),
        ("Go", _file(_field("get_seat"), _field("seat"))),
        ("Go", _file(_field("string"))),
        ("Java", _file(_field("class"))),
        ("Java", _file(_field("hand", label=REPEATED), _field("hand_count"))),
        ("Java", _file(_field("hand", label=REPEATED), _field("hand_list"))),
        ("Java", _file(_field("card", type=MESSAGE), _field("card_builder"))),
        ("Java", _file(_field("flavor", type=ENUM), _field("flavor_value"))),
        ("Kotlin", _file(_field("card", type=MESSAGE), _field("card_or_null"))),
        ("Objective-C", _file(_field("hand", label=REPEATED), _field("hand_array"))),
        ("PHP", _file(_field("handsize"), _field("hand_size"))),
        ("Python", _file(_field("Card"), nested_type=[DescriptorProto(name="Card")])),
        ("Ruby", _file(_field("flavor", type=ENUM), _field("flavor_const"))),
        ("Rust", _file(_field("flavor", type=ENUM), _field("set_flavor"), _field("clear"))),
        (
            "Rust's module",
            _file(
                _field("card", oneof_index=0),
                oneof_decl=[OneofDescriptorProto(name="action")],
                nested_type=[DescriptorProto(name="Action")],
            ),
        ),
        ("Swift", _file(_field("has_card"), _field("card", type=MESSAGE))),
        ("Swift's types", _file(nested_type=[DescriptorProto(name="Type")])),
        ("TypeScript", _file(_field("foo_bar"), _field("fooBar"))),
    ],
)
def test_two_names_that_share_a_member_are_found(language: str, file: FileDescriptorProto) -> None:
    assert [found for found in collisions(file.message_type[0]) if found.startswith(f"{language}: ")]
