"""Find code in Python modules by its syntax, and replace it.

Code is compared as syntax trees. Its layout, its comments, the module that contains it and the order of imports do not
matter. A changed module is written from its syntax tree as well.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from textwrap import dedent, indent
from typing import Any, Final, NamedTuple


class CodeError(ValueError):
    """The code to replace does not occur exactly once, or is not Python."""


Item = tuple[Any, ...]
"""A node; for a dictionary, a key and its value."""


# --- Fragments of code ------------------------------------------------------------------------------------------------


def _expressions(text: str) -> list[Item]:
    match ast.parse(f"_(\n{text}\n)", mode="eval").body:
        case ast.Call(args=[_, *_] as expressions, keywords=[]):
            return [(node,) for node in expressions]
    raise SyntaxError("not expressions")


def _statements(text: str) -> list[Item]:
    return [(node,) for node in ast.parse(dedent(text).strip() or "pass").body]


def _arguments(text: str) -> list[Item]:
    match ast.parse(f"_(\n{text}\n)", mode="eval").body:
        case ast.Call(args=[], keywords=arguments):
            return [(node,) for node in arguments]
    raise SyntaxError("not keyword arguments")


def _entries(text: str) -> list[Item]:
    match ast.parse(f"{{\n{text}\n}}", mode="eval").body:
        case ast.Dict(keys, values):
            return list(zip(keys, values, strict=True))
    raise SyntaxError("not entries of a dictionary")


def _clauses(text: str) -> list[Item]:
    match ast.parse(f"[_ {text}]", mode="eval").body:
        case ast.ListComp(generators=clauses):
            return [(node,) for node in clauses]
    raise SyntaxError("not clauses of a comprehension")


def _cases(text: str) -> list[Item]:
    match ast.parse(f"match _:\n{indent(dedent(text).strip(), '    ')}").body:
        case [ast.Match(cases=cases)]:
            return [(node,) for node in cases]
    raise SyntaxError("not cases of a match")


_READINGS: Final = (_statements, _arguments, _entries, _clauses, _cases)


def _parse(old: str, new: str) -> Iterator[tuple[list[Item], list[Item]]]:
    """Yield each way to read both texts as the same kind of code."""
    try:
        found, replacement = _expressions(old), _expressions(new)
        if len(found) == 1 < len(replacement):
            replacement = _expressions(f"({new})")  # a tuple without parentheses
        yield found, replacement
    except SyntaxError:
        for reading in _READINGS:
            try:
                found, replacement = reading(old), reading(new) if new.strip() or reading is _statements else []
            except SyntaxError:
                continue
            if found:
                yield found, replacement


def _equal(one: Any, other: Any) -> bool:
    """Return whether nodes are equal, whatever their positions."""
    if type(one) is not type(other):
        return False
    if isinstance(one, ast.AST):
        return all(_equal(getattr(one, field, None), getattr(other, field, None)) for field in one._fields)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _shape(item: Item) -> tuple[Any, ...]:
    """Return a summary that equal items share."""
    return tuple(
        (type(node), *(_summary(getattr(node, field, None)) for field in node._fields)) if node else None
        for node in item
    )


def _summary(value: Any) -> Any:
    return len(value) if isinstance(value, list) else type(value) if isinstance(value, ast.AST) else value


def _types(item: Item) -> tuple[type, ...]:
    return tuple(map(type, item))


def _source(items: list[Item]) -> str:
    return "\n".join(": ".join("**" if node is None else ast.unparse(node).strip() for node in item) for item in items)


# --- Places in modules ------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """A position in a list of sibling nodes; a child without siblings is a list of its own."""

    file: Path
    tree: ast.Module
    scopes: tuple[str, ...]
    parent: ast.AST
    fields: tuple[str, ...]
    siblings: list[Item]
    start: int

    def __str__(self) -> str:
        line = getattr(self.siblings[self.start][-1], "lineno", None) or getattr(self.parent, "lineno", "?")
        return f"{self.file}:{line}" + (f" in {'.'.join(self.scopes)}" if self.scopes else "")

    def items(self, count: int) -> list[Item]:
        """Return the items from this position on."""
        return self.siblings[self.start : self.start + count]

    def module_with(self, replacement: list[Item], count: int) -> str:
        """Return the source of the module with `count` items replaced."""
        items = [*self.siblings[: self.start], *replacement, *self.siblings[self.start + count :]]
        columns = [list(column) for column in zip(*items, strict=True)] or [[] for _ in self.fields]
        before = {field: getattr(self.parent, field) for field in self.fields}
        for (field, old), column in zip(before.items(), columns, strict=True):
            setattr(self.parent, field, column if isinstance(old, list) else column[0])
        try:
            return ast.unparse(self.tree) + "\n"
        finally:
            for field, old in before.items():
                setattr(self.parent, field, old)


def _children(node: ast.AST) -> Iterator[tuple[tuple[str, ...], list[Item]]]:
    """Yield the lists of children of a node, with their fields."""
    if isinstance(node, ast.Dict):
        yield ("keys", "values"), list(zip(node.keys, node.values, strict=True))
    for field, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            yield (field,), [(value,)]
        elif isinstance(value, list):
            yield (field,), [(child,) for child in value]


def _scope(node: ast.AST, scopes: tuple[str, ...]) -> tuple[str, ...]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return (*scopes, name)
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]) if not scopes:
            return (name,)
        case _:
            return scopes


class Found(NamedTuple):
    """Code to replace, where it occurs.

    Attributes:
        file: the module.
        text: returns the source of the module after the replacement.
    """

    file: Path
    text: Callable[[], str]


class Code:
    """The syntax trees of modules.

    Args:
        files: the modules.
        root: the folder to which the paths in results are relative.
    """

    def __init__(self, files: Iterable[Path], root: Path) -> None:
        self._places: dict[tuple[Any, ...], list[_Place]] = defaultdict(list)
        self._scopes: set[str] = set()
        for file in files:
            tree = ast.parse(file.read_text(encoding="utf-8"))
            self._add(file.relative_to(root), tree, tree, ())

    def _add(self, file: Path, tree: ast.Module, node: ast.AST, scopes: tuple[str, ...]) -> None:
        self._scopes.update(scopes)
        for fields, siblings in _children(node):
            for start, item in enumerate(siblings):
                if isinstance(item[-1], ast.AST):
                    self._places[_shape(item)].append(_Place(file, tree, scopes, node, fields, siblings, start))
                    if len(fields) == 1:
                        self._add(file, tree, item[0], _scope(item[0], scopes))

    def find(self, old: str, new: str, within: str = "") -> Found:
        """Find code that occurs once.

        Args:
            old: one or more adjacent expressions, statements, keyword arguments, entries of a dictionary, clauses of a
                comprehension, or cases of a `match`. A string literal stands for its text within a longer string too.
            new: its replacement, of the same kind; empty to remove the code.
            within: the function, class or constant that contains the code; empty for anywhere.

        Raises:
            CodeError: the modules do not contain the code exactly once.
        """
        readings = list(_parse(old, new))
        if not readings:
            raise CodeError(f"These are not Python code of the same kind:\n{_indented(old)}\n{_indented(new)}")
        if within and within not in self._scopes:
            names = get_close_matches(within, self._scopes)
            raise CodeError(f"No function, class or constant is named {within}." + _list("Similar names:", names))
        found = [
            (place, len(items), replacement)
            for items, new_items in readings
            for place, replacement in self._occurrences(items, new_items)
            if not within or within in place.scopes
        ]
        if len(found) == 1:
            place, count, replacement = found[0]
            return Found(place.file, lambda: place.module_with(replacement, count))
        pinned = f"{f' in {within}' if within else ''}:\n{_indented(old)}"
        if found:
            places = _list(
                "Set `within`, or include more of the code. It is here:", [str(place) for place, *_ in found]
            )
            raise CodeError(f"This code occurs {len(found)} times{pinned}{places}")
        similar = _list("The most similar code:", self._similar([items for items, _ in readings]))
        raise CodeError(f"This code does not occur{pinned}{similar}")

    def _occurrences(self, old: list[Item], new: list[Item]) -> Iterator[tuple[_Place, list[Item]]]:
        """Yield the places of the items, each with what replaces them."""
        match old, new:
            case [[ast.Constant(str(text))]], [[ast.Constant(str(new_text))]]:
                for place in self._places_of((ast.Constant,)):
                    whole = place.siblings[place.start][0].value
                    if isinstance(whole, str) and text in whole and not isinstance(place.parent, ast.Expr):
                        yield place, [(ast.Constant(whole.replace(text, new_text)),)]
            case _:
                for place in self._places.get(_shape(old[0]), ()):
                    if _equal(place.items(len(old)), old):
                        yield place, new

    def _places_of(self, types: tuple[type, ...]) -> Iterator[_Place]:
        for places in self._places.values():
            if _types(places[0].siblings[places[0].start]) == types:
                yield from places

    def _similar(self, readings: list[list[Item]]) -> Iterator[str]:
        for items in readings:
            places: dict[str, list[_Place]] = defaultdict(list)
            for place in self._places_of(_types(items[0])):
                places[_source(place.items(len(items)))].append(place)
            for text in get_close_matches(_source(items), places):
                for place in places[text]:
                    yield f"{place}\n{_indented(text)}"


def _indented(text: str) -> str:
    return indent(text, "    ")


def _list(title: str, lines: Iterable[str]) -> str:
    listed = "".join(f"\n  {line}" for line in lines)
    return f"\n  {title}{listed}" if listed else ""
