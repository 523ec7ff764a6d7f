"""The parts that the text notations of all games share.

A move is one line, such as `place ki2@or`. Its first word is the tag of the move's class.

A position is a text of several lines, with everything that rebuilds the state: it contains hidden information and the
seed. A line is a keyword, then words in a fixed order, then fields `name=value`. A field with its default value is
omitted, and a field without `=` is true. The first line is the kind of the game with the options that are not default.
The second line is the generator: the seed in hexadecimal and the number of draws.

    soda_jerk advanced first_seat=2
    rng 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f@57

Named values are written in lower case: `mode=orders_to_go_go`.

The notation of a view has no generator and cannot be parsed. It shows `?` for hidden information.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import zip_longest
from types import UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

import msgspec

from engine.errors import InvalidNotation
from engine.rng import SEED_BYTES, Rng
from engine.value import Name

T = TypeVar("T")
N = TypeVar("N", bound=Name)
S = TypeVar("S", bound=msgspec.Struct)

HIDDEN: Final = "?"
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}", re.ASCII)
"""The one form of each integer, so that a text that is parsed is written back unchanged."""

# --- Words ------------------------------------------------------------------------------------------------------------


def parse_integer(word: str, what: str) -> int:
    """Parse an integer.

    Raises:
        InvalidNotation: the word is not an integer.
    """
    if not word:
        raise InvalidNotation(f"{what} is missing")
    if not _INTEGER.fullmatch(word):
        raise InvalidNotation(f"{what} must be an integer, not {word!r}")
    return int(word)


def look_up(table: Mapping[str, T], word: str, what: str) -> T:
    """Return the value of a word.

    Raises:
        InvalidNotation: the table does not have the word.
    """
    if word not in table:
        raise InvalidNotation(f"{what} must be one of {', '.join(table)}, not {word!r}")
    return table[word]


def format_name(value: Name) -> str:
    """Return a named value in lower case."""
    return value.name.lower()


def parse_name(kind: type[N], word: str, what: str) -> N:
    """Parse a named value.

    Raises:
        InvalidNotation: there is no value of this name.
    """
    return look_up({format_name(value): value for value in kind}, word, what)


def split(word: str, separator: str, what: str) -> tuple[str, str]:
    """Return the parts of a word before and after a separator.

    Raises:
        InvalidNotation: the separator is missing.
    """
    before, found, after = word.partition(separator)
    if not found:
        raise InvalidNotation(f"{what} must contain {separator!r}, but is {word!r}")
    return before, after


# --- Lines ------------------------------------------------------------------------------------------------------------


def format_line(keyword: str, *words: object, **fields: object) -> str:
    """Return a line. Fields that are None, False or an empty string are omitted; True is written as the bare name."""
    given = {name: value for name, value in fields.items() if value is not None and value is not False and value != ""}
    shown = (name if value is True else f"{name}={value}" for name, value in given.items())
    return " ".join([keyword, *map(str, words), *shown])


class Line:
    """A line of a position.

    Attributes:
        words: the words after the keyword that are not fields.
        fields: the other fields, by name. A field without `=` has the value `true`.
    """

    def __init__(self, number: int, text: str, flags: Iterable[str]) -> None:
        self._text = f"line {number}, {text!r}"
        words = text.split()
        self.keyword = words[0]
        self.words: list[str] = []
        self.fields: dict[str, str] = {}
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if equals:
                self.fields[name] = value
            elif word in flags:
                self.fields[word] = "true"
            else:
                self.words.append(word)

    def word(self, index: int, what: str) -> str:
        """Return a word.

        Raises:
            InvalidNotation: the line has fewer words.
        """
        if index >= len(self.words):
            raise InvalidNotation(f"{what} is missing in {self._text}")
        return self.words[index]

    def integer(self, name: str, default: int | None = None) -> int:
        """Return the value of an integer field, or the default.

        Raises:
            InvalidNotation: the value is not an integer, or the field is missing and has no default.
        """
        if name in self.fields:
            return parse_integer(self.fields[name], name)
        if default is None:
            raise InvalidNotation(f"{name}= is missing in {self._text}")
        return default

    def flag(self, name: str) -> bool:
        """Return whether a field is true."""
        return self.fields.get(name) == "true"


class Reader:
    """A reader of the lines of a position, in order.

    Args:
        text: the position.
        kind: the kind of game, the keyword of the first line.
        flags: the names of the fields that can be true.
    """

    def __init__(self, text: str, kind: str, flags: Iterable[str] = ()) -> None:
        lines = enumerate(text.splitlines(), start=1)
        self._flags = frozenset(flags)
        self._lines = [Line(number, line, self._flags) for number, line in lines if line.strip()]
        self._next = 0
        self._kind = kind

    def options(self, options_type: type[S]) -> S:
        """Return the options of the first line."""
        line = self.take(self._kind)
        given = dict(line.fields) | dict.fromkeys(line.words, "true")
        if unknown := given.keys() - {field.name for field in msgspec.structs.fields(options_type)}:
            raise InvalidNotation(f"{self._kind} has no option {', '.join(sorted(unknown))}")
        return options_type(
            **{
                field.name: _parse_option(field.type, given[field.name], field.name)
                for field in msgspec.structs.fields(options_type)
                if field.name in given
            }
        )

    def rng(self) -> Rng:
        """Return the generator of the `rng` line."""
        seed, position = split(self.take("rng").word(0, "the generator"), "@", "the generator")
        try:
            key = bytes.fromhex(seed)
        except ValueError:
            raise InvalidNotation("the seed must be hexadecimal") from None
        if len(key) != SEED_BYTES:
            raise InvalidNotation(f"the seed must have {SEED_BYTES} bytes, not {len(key)}")
        return Rng(key, parse_integer(position, "the number of draws"))

    def take(self, keyword: str) -> Line:
        """Return the next line.

        Raises:
            InvalidNotation: the next line does not begin with the keyword, or the text ends.
        """
        line = self.take_if(keyword)
        if line is None:
            found = repr(self._lines[self._next].keyword) if self._next < len(self._lines) else "the end of the text"
            raise InvalidNotation(f"the next line must begin with {keyword!r}, not with {found}")
        return line

    def take_if(self, keyword: str) -> Line | None:
        """Return the next line if it begins with the keyword, else None."""
        if self._next < len(self._lines) and self._lines[self._next].keyword == keyword:
            self._next += 1
            return self._lines[self._next - 1]
        return None

    def take_all(self, keyword: str) -> Iterator[Line]:
        """Yield the next lines as long as they begin with the keyword."""
        while (line := self.take_if(keyword)) is not None:
            yield line

    def end(self) -> None:
        """Check that all lines have been read.

        Raises:
            InvalidNotation: there is another line.
        """
        if self._next < len(self._lines):
            raise InvalidNotation(
                f"the text must end before the line that begins with {self._lines[self._next].keyword!r}"
            )


def parse_position(text: str, parse: Callable[[str], S], format_state: Callable[[S], str]) -> S:
    """Parse a position, and check that the text is exactly the notation of the state.

    Args:
        text: the position. Empty lines and additional spaces are allowed.
        parse: parses the text. It can ignore unknown words and fields.
        format_state: returns the notation of a state.

    Raises:
        InvalidNotation: the text is not a position.
    """
    try:
        state = parse(text)
    except InvalidNotation:
        raise
    except (ValueError, OverflowError) as error:
        raise InvalidNotation(f"a number is out of range: {error}") from None
    given = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    for line, expected in zip_longest(given, format_state(state).splitlines(), fillvalue=""):
        if line != expected:
            raise InvalidNotation(f"a line must be {expected!r}, not {line!r}")
    return state


# --- Options and generators -------------------------------------------------------------------------------------------


def format_head(kind: str, options: msgspec.Struct, rng: Rng) -> Iterator[str]:
    """Yield the first two lines of a position: the kind with the options, and the generator."""
    defaults = type(options)()
    changed = {
        name: _format_option(getattr(options, name))
        for name in options.__struct_fields__
        if getattr(options, name) != getattr(defaults, name)
    }
    yield format_line(kind, **changed)
    yield format_line("rng", f"{rng.seed.hex()}@{rng.position}")


def _format_option(value: object) -> object:
    if isinstance(value, Name):
        return format_name(value)
    return ",".join(map(str, value)) if isinstance(value, tuple) else value


def _parse_option(annotation: Any, word: str, name: str) -> Any:
    types = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    for kind in types:
        if isinstance(kind, type) and issubclass(kind, Name):
            return parse_name(kind, word, name)
    if bool in types:
        return look_up({"true": True}, word, name)
    if int in types:
        return parse_integer(word, name)
    return tuple(parse_integer(each, name) for each in word.split(","))
