"""Encoded fields: identical to what protobuf writes, for every size of a field number and of a length."""

import pytest
from google.protobuf.any_pb2 import Any
from google.protobuf.descriptor_pb2 import DescriptorProto, FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.unknown_fields import UnknownFieldSet
from google.protobuf.wrappers_pb2 import StringValue

from service.translation.encoding import MAX_FIELD_NUMBER, encode, field

LENGTH_DELIMITED = 2
NUMBERS = [1, 15, 16, 2047, 2048, 2**29 - 1]


def message_type(number: int) -> type[Message]:
    """Return a message type whose only field, `part`, is a StringValue with a number."""
    part = FieldDescriptorProto(
        name="part",
        number=number,
        label=FieldDescriptorProto.LABEL_OPTIONAL,
        type=FieldDescriptorProto.TYPE_MESSAGE,
        type_name=".test.Part",
    )
    value = FieldDescriptorProto(
        name="value", number=1, label=FieldDescriptorProto.LABEL_OPTIONAL, type=FieldDescriptorProto.TYPE_STRING
    )
    pool = DescriptorPool()
    pool.Add(
        FileDescriptorProto(
            name="test.proto",
            package="test",
            syntax="proto3",
            message_type=[DescriptorProto(name="Whole", field=[part]), DescriptorProto(name="Part", field=[value])],
        )
    )
    return GetMessageClass(pool.FindMessageTypeByName("test.Whole"))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("length", [0, 1, 125, 126, 16_379, 16_380, 2_100_000])
def test_a_field_is_encoded_as_protobuf_encodes_it(number: int, length: int) -> None:
    part = StringValue(value="x" * length)
    whole = message_type(number)(part={"value": part.value})

    encoded = field(number, encode(part))

    assert encoded == whole.SerializeToString()
    assert type(whole).FromString(encoded) == whole


@pytest.mark.parametrize("number", [number for number in NUMBERS if number > 2])
def test_protobuf_decodes_an_unknown_field_with_its_number_and_content(number: int) -> None:
    unknown = UnknownFieldSet(Any.FromString(field(number, b"content")))[0]

    assert (unknown.field_number, unknown.wire_type, unknown.data) == (number, LENGTH_DELIMITED, b"content")


def test_the_largest_field_number_is_that_of_protobuf() -> None:
    assert NUMBERS[-1] == MAX_FIELD_NUMBER


@pytest.mark.parametrize("number", [0, -1, 2**29])
def test_a_field_number_out_of_range_is_rejected(number: int) -> None:
    with pytest.raises(ValueError, match=f"the field number must be from 1 to 536870911, but is {number}"):
        field(number, b"")


def test_encoded_messages_are_not_encoded_again() -> None:
    assert encode(encode(StringValue(value="text"))) == encode(StringValue(value="text"))
