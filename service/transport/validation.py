"""Request validation: the constraints of every field, checked before a game is loaded.

`RULES` lists the constraints by message and field. At import each message's rules are compiled into one function,
so that a valid request costs a few attribute reads. The protos state the same constraints in words, and
docs/openapi.yaml takes them from `RULES`.

A field without a rule accepts every value of its type. A field with presence that is unset is valid, unless its rule is
`Required`. Work is bounded: a list is refused by its length before its items are read.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, NamedTuple, TypeAlias, cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from service.contract import game_pb2, game_service_pb2
from service.contract.juices_pb2 import JuicesMove, JuicesOptions
from service.contract.soda_jerk_pb2 import SodaJerkCard, SodaJerkMove, SodaJerkOptions
from service.contract.soda_smugglers_pb2 import SodaSmugglersMove, SodaSmugglersOptions

MAX_VIOLATIONS: Final = 8
"""How many violations are reported. gRPC clients accept 8 KiB of metadata, and an error states each violation twice."""


class Violation(NamedTuple):
    """A field that is invalid.

    Attributes:
        field: the path in the request, such as `move.juices.place.tile` or `luggage[1]`.
        problem: what is wrong and what is right, to be read after the path.
    """

    field: str
    problem: str


# --- The kinds of rules -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Required:
    """A message that must be set."""


@dataclass(frozen=True)
class ExactlyOne:
    """A oneof of which one field must be set."""


@dataclass(frozen=True)
class Integer:
    """An integer from `minimum` to `maximum`; a bound that is None does not apply."""

    minimum: int
    maximum: int | None = None


@dataclass(frozen=True)
class Text:
    """A string of at most `max_length` characters."""

    max_length: int


@dataclass(frozen=True)
class GameId:
    """The id of a game. An unset id is invalid too."""

    pattern: str = "^[a-z0-9]{26}$"


@dataclass(frozen=True)
class Uuid4:
    """A UUID of version 4, or the empty string. Other versions can be guessed."""


@dataclass(frozen=True)
class Bytes:
    """Exactly `length` bytes."""

    length: int


@dataclass(frozen=True)
class Enum:
    """A value that the enum defines; with `required`, not its zero value."""

    required: bool = False


@dataclass(frozen=True)
class Items:
    """A list of `minimum` to `maximum` items, each of which follows the rule `each` if there is one."""

    minimum: int
    maximum: int
    each: Integer | None = None


@dataclass(frozen=True)
class Counts:
    """Counts that are never negative: an empty list, or `length` of them with the sum `total`."""

    length: int
    total: int


Rule: TypeAlias = Required | ExactlyOne | Integer | Text | GameId | Uuid4 | Bytes | Enum | Items | Counts

# --- The rules --------------------------------------------------------------------------------------------------------

_SEAT: Final = Integer(0, 13)
_SMUGGLER: Final = Integer(0, 7)
_SLOT: Final = Integer(1, 3)
_BOTTLES: Final = Integer(0, 3)
_TILE: Final = Integer(0, 137)
_SHIFT: Final = Integer(-6, 6)
_TOKEN: Final = Text(64)
_PAGE: Final[Mapping[str, Rule]] = {"page_size": Integer(0), "page_token": _TOKEN}

RULES: Final[Mapping[type[Message], Mapping[str, Rule]]] = {
    # Requests.
    game_service_pb2.NewGameRequest: {
        "options": Required(),
        "request_id": Uuid4(),
        "seed": Bytes(32),
        "visibility": Enum(),
    },
    game_service_pb2.LegalMovesRequest: {"game_id": GameId(), "seat": _SEAT},
    game_service_pb2.ApplyMoveRequest: {
        "game_id": GameId(),
        "seat": _SEAT,
        "move": Required(),
        "etag": _TOKEN,
        "request_id": Uuid4(),
    },
    game_service_pb2.ScoreRequest: {"game_id": GameId()},
    game_service_pb2.GetGameRequest: {"game_id": GameId(), "seat": _SEAT},
    game_service_pb2.WatchGameRequest: {"game_id": GameId(), "seat": _SEAT, "resume_token": _TOKEN},
    game_service_pb2.GetHistoryRequest: {"game_id": GameId(), "seat": _SEAT, **_PAGE},
    game_service_pb2.ListGameKindsRequest: _PAGE,
    game_service_pb2.DeleteGameRequest: {"game_id": GameId()},
    # Options and moves of any game.
    game_pb2.Options: {"game": ExactlyOne()},
    game_pb2.Move: {"game": ExactlyOne()},
    # Soda Jerk.
    SodaJerkOptions: {"first_seat": Integer(0, 3), "removed_flavor": Enum(), "copies_per_value": Counts(3, total=9)},
    SodaJerkMove: {"action": ExactlyOne()},
    SodaJerkMove.Place: {"card": Required(), "tap_flavor": Enum(required=True)},
    SodaJerkMove.Flip: {"tap_flavor": Enum(required=True), "position": Integer(1, 52)},
    SodaJerkCard: {"flavor": Enum()},
    # Soda Smugglers.
    SodaSmugglersOptions: {"first_guard": _SMUGGLER},
    SodaSmugglersMove: {"action": ExactlyOne()},
    SodaSmugglersMove.Pack: {"luggage": Items(2, 3, each=_BOTTLES), "bribe": _BOTTLES},
    SodaSmugglersMove.AcceptBribe: {"seat": _SMUGGLER},
    SodaSmugglersMove.InspectSuitcase: {"seat": _SMUGGLER, "slot": _SLOT},
    SodaSmugglersMove.Sniff: {"seat": _SMUGGLER},
    SodaSmugglersMove.Open: {"slot": _SLOT},
    SodaSmugglersMove.Arrest: {"seat": _SMUGGLER},
    # Juices.
    JuicesOptions: {"mode": Enum(), "copies": Integer(1, 2)},
    JuicesMove: {"action": ExactlyOne()},
    JuicesMove.Keep: {"tile": _TILE},
    JuicesMove.Place: {"tile": _TILE, "cell": Required()},
    JuicesMove.MakeJuice: {"fruit": Enum(required=True), "cells": Items(3, 16)},
    JuicesMove.Shift: {"part": Items(1, 16), "rows": _SHIFT, "columns": _SHIFT},
    JuicesMove.DiscardAutomaTile: {"tile": _TILE},
}
"""The rules of every message, by field or oneof. A message that is not listed has no rules itself.

To add a field with a rule: add it to the proto and state the constraint in its comment, run `make generate`, add the
rule here, and run `make generate` again, which writes the limits into docs/openapi.yaml.
"""


def violations(request: Message) -> list[Violation]:
    """Return the invalid fields of a request, at most `MAX_VIOLATIONS`; an empty list if it is valid.

    A request of another service, such as that of health checks, has no rules and is valid.
    """
    found: list[Violation] = []
    if check := _CHECKS.get(type(request)):
        check(request, "", found)
    return found[:MAX_VIOLATIONS]


# --- Values -----------------------------------------------------------------------------------------------------------

_ValueCheck: TypeAlias = Callable[[Any], str | None]  # Any: the value of a field, of the type that the rule is for
"""Returns what is wrong with a value; None if it is valid."""

_UUID_4: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)


def _value_check(rule: Rule, field: FieldDescriptor) -> _ValueCheck:
    match rule:
        case Integer():
            return _integer(rule)
        case Text(limit):
            return lambda text: f"must have at most {limit} characters, got {len(text)}" if len(text) > limit else None
        case GameId(pattern):
            is_id = re.compile(pattern.removeprefix("^").removesuffix("$")).fullmatch
            return lambda text: (
                None if is_id(text) else "must be a game id from NewGame: 26 lower-case letters and digits"
            )
        case Uuid4():
            is_uuid = _UUID_4.fullmatch
            return lambda text: None if not text or is_uuid(text) else "must be a random UUID (version 4)"
        case Bytes(length):
            return lambda data: f"must be {length} bytes, got {len(data)}" if len(data) != length else None
        case Enum():
            return _enum(rule, field)
    raise TypeError(f"{field.full_name}: {rule} is not a rule for a single value")


def _integer(rule: Integer) -> _ValueCheck:
    low, high = rule.minimum, rule.maximum
    if high is None:
        return lambda value: f"must be at least {low}, got {value}" if value < low else None
    return lambda value: None if low <= value <= high else f"must be {low} to {high}, got {value}"


def _enum(rule: Enum, field: FieldDescriptor) -> _ValueCheck:
    enum = field.enum_type
    if enum is None:
        raise TypeError(f"{field.full_name} is not an enum")
    name, known = enum.name, frozenset(value.number for value in enum.values)
    accepted = known - {0} if rule.required else known

    def find_problem(value: int) -> str | None:
        if value in accepted:
            return None
        return "is required" if value in known else f"must be a {name} that this release knows, got {value}"

    return find_problem


# --- Messages ---------------------------------------------------------------------------------------------------------

_Check: TypeAlias = Callable[[Message, str, list[Violation]], None]
"""Appends the violations of a message. The second argument is its path in the request: empty, or ending in a dot."""


def _compile(descriptor: Descriptor) -> _Check | None:
    """Return the check of a message; None if neither it nor a message inside has rules."""
    rules = _RULES_BY_NAME.get(descriptor.full_name, {})
    if unknown := set(rules).difference(descriptor.fields_by_name, descriptor.oneofs_by_name):
        raise TypeError(f"{descriptor.full_name} has no field {', '.join(sorted(unknown))}")
    checks = tuple(_checks(descriptor, rules))
    if len(checks) <= 1:
        return checks[0] if checks else None

    def check(message: Message, path: str, found: list[Violation]) -> None:
        for each in checks:
            each(message, path, found)

    return check


def _checks(descriptor: Descriptor, rules: Mapping[str, Rule]) -> Iterator[_Check]:
    for oneof in descriptor.oneofs:
        if oneof.name in rules:
            yield _one_of(oneof.name, oneof.fields)
    for field in descriptor.fields:
        rule = rules.get(field.name)
        if field.containing_oneof is not None and field.containing_oneof.name in rules:
            continue
        if field.is_repeated:
            if rule is not None:
                yield _list(field, rule)
        elif field.message_type is not None:
            inner = _compile(field.message_type)
            if rule is not None or inner is not None:
                yield _message(field.name, inner, required=rule == Required())
        elif rule is not None:
            yield _value(field, _value_check(rule, field))


def _value(field: FieldDescriptor, find_problem: _ValueCheck) -> _Check:
    name, read = field.name, attrgetter(field.name)

    def check(message: Message, path: str, found: list[Violation]) -> None:
        if problem := find_problem(read(message)):
            found.append(Violation(path + name, problem))

    def check_if_set(message: Message, path: str, found: list[Violation]) -> None:
        if message.HasField(name) and (problem := find_problem(read(message))):
            found.append(Violation(path + name, problem))

    return check_if_set if field.has_presence else check


def _message(name: str, inner: _Check | None, *, required: bool) -> _Check:
    read, prefix = attrgetter(name), f"{name}."

    def check(message: Message, path: str, found: list[Violation]) -> None:
        if message.HasField(name):
            if inner is not None:
                inner(read(message), path + prefix, found)
        elif required:
            found.append(Violation(path + name, "is required"))

    return check


def _one_of(name: str, fields: Sequence[FieldDescriptor]) -> _Check:
    problem = f"is required: set one of {', '.join(field.name for field in fields)}"
    inner = {field.name: _compile(field.message_type) for field in fields if field.message_type is not None}
    alternatives = {
        field: (attrgetter(field), f"{field}.", check) for field, check in inner.items() if check is not None
    }

    def check(message: Message, path: str, found: list[Violation]) -> None:
        chosen = message.WhichOneof(name)
        if chosen is None:
            found.append(Violation(path + name, problem))
        elif alternative := alternatives.get(chosen):
            read, prefix, inside = alternative
            inside(read(message), path + prefix, found)

    return check


def _list(field: FieldDescriptor, rule: Rule) -> _Check:
    if field.message_type is not None and _compile(field.message_type) is not None:
        raise TypeError(f"{field.full_name}: rules for messages in a list are not supported")
    match rule:
        case Items():
            return _items(field.name, rule)
        case Counts():
            return _counts(field.name, rule)
    raise TypeError(f"{field.full_name}: {rule} is not a rule for a list")


def _items(name: str, rule: Items) -> _Check:
    read, find_problem = attrgetter(name), _integer(rule.each) if rule.each else None

    def check(message: Message, path: str, found: list[Violation]) -> None:
        items = read(message)
        if not rule.minimum <= len(items) <= rule.maximum:
            problem = f"must have {rule.minimum} to {rule.maximum} items, got {len(items)}"
            found.append(Violation(path + name, problem))
        if find_problem and len(items) <= rule.maximum:
            _check_items(items, find_problem, path + name, found)

    return check


def _counts(name: str, rule: Counts) -> _Check:
    read, find_problem = attrgetter(name), _integer(Integer(0, rule.total))
    expected = f"must be empty or {rule.length} counts that add up to {rule.total}"

    def check(message: Message, path: str, found: list[Violation]) -> None:
        counts = read(message)
        if not counts:
            return
        if len(counts) != rule.length:
            found.append(Violation(path + name, f"{expected}, got {len(counts)} counts"))
        elif (total := sum(counts)) != rule.total:
            found.append(Violation(path + name, f"{expected}, got {total}"))
        if len(counts) <= rule.length:
            _check_items(counts, find_problem, path + name, found)

    return check


def _check_items(items: Sequence[Any], find_problem: _ValueCheck, path: str, found: list[Violation]) -> None:
    for index, item in enumerate(items):
        if problem := find_problem(item):
            found.append(Violation(f"{path}[{index}]", problem))


_RULES_BY_NAME: Final = {message.DESCRIPTOR.full_name: rules for message, rules in RULES.items()}
_CHECKS: Final[Mapping[type[Message], _Check]] = {
    message: check
    for message in RULES
    if message.DESCRIPTOR.name.endswith("Request") and (check := _compile(cast("Descriptor", message.DESCRIPTOR)))
}
