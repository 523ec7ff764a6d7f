"""Builds a next release: a copy of the service in which every game has another schema and the store another format.

Schema 2 changes every type that is stored, so that neither release can decode values of the other's newest schema: the
fields of states and options are in another order, and moves and events have other tags.
"""

import compileall
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import IO, Any, Final

from tests.support.fork_server import ForkedProcess
from tests.support.service import Service

ROOT: Final = Path(__file__).parents[2]
NEXT_FORMAT: Final = 2
_TAG: Final = re.compile(r'tag="(\w+)"')

_FIELDS: Final = {
    "soda_jerk": (
        ("    options: Options\n    rng: Rng\n", "    rng: Rng\n    options: Options\n"),
        (
            "    advanced: bool = False\n    first_seat: int | None = None\n",
            "    first_seat: int | None = None\n    advanced: bool = False\n",
        ),
    ),
    "soda_smugglers": (
        ("    options: Options\n    rng: Rng\n", "    rng: Rng\n    options: Options\n"),
        (
            "    events: bool = False\n    first_guard: int | None = None\n",
            "    first_guard: int | None = None\n    events: bool = False\n",
        ),
    ),
    "juices": (
        ("    options: Options\n    mode: Mode\n", "    mode: Mode\n    options: Options\n"),
        (
            "    copies: int | None = None\n    cursed_wild: bool = False\n",
            "    cursed_wild: bool = False\n    copies: int | None = None\n",
        ),
    ),
}
"""By game, what schema 2 changes in the order of fields: of a state, and of options."""

_PREVIOUS: Final = '''
"""Schema 1 of every game."""

from typing import get_args

from msgspec import NODEFAULT, defstruct
from msgspec.structs import fields

from engine.codec import Form, PreviousSchema
from engine.value import Value


def _fields(newest, moved, types):
    """Return the fields of a type, of which two were swapped, as definitions."""
    swap = dict(zip(moved, reversed(moved)))
    by_name = {field.name: field for field in fields(newest)}
    ordered = [by_name[swap.get(field.name, field.name)] for field in fields(newest)]
    return [
        (field.name, types.get(field.type, field.type), *([] if field.default is NODEFAULT else [field.default]))
        for field in ordered
    ]


def _old(newest, moved=(), types={}, **settings):
    return defstruct(newest.__name__, _fields(newest, moved, types), bases=(Value,), frozen=True, **settings)


def _converted(value, to, **changed):
    return to(**{field.name: getattr(value, field.name) for field in fields(to)} | changed)


def _tagged(types):
    """Return the types of the former tags, and the conversions in both directions."""
    old = {new: _old(new, tag=new.__struct_config__.tag.removeprefix("next_")) for new in types}
    new = {before: after for after, before in old.items()}
    union = None
    for before in new:
        union = before if union is None else union | before
    return (
        union,
        lambda value: _converted(value, new[type(value)]),
        lambda value: _converted(value, old[type(value)]),
    )


def schema_1(game, state_fields, option_fields):
    options, state = game.options_type, game.state_type
    old_options = _old(options, option_fields)
    old_state = _old(state, state_fields, {options: old_options})
    move, new_move, old_move = _tagged(get_args(game.move_type))
    event, new_event, old_event = _tagged(get_args(game.event_type))
    return PreviousSchema(
        1,
        state=Form(
            old_state,
            lambda old: _converted(old, state, options=_converted(old.options, options)),
            lambda new: _converted(new, old_state, options=_converted(new.options, old_options)),
        ),
        options=Form(
            old_options, lambda old: _converted(old, options), lambda new: _converted(new, old_options)
        ),
        move=Form(move, new_move, old_move),
        events=Form(
            tuple[event, ...],
            lambda events: tuple(map(new_event, events)),
            lambda events: tuple(map(old_event, events)),
        ),
    )
'''


def build_next_release(folder: Path) -> Path:
    """Build the next release in an empty folder; return the folder, for PYTHONPATH."""
    for name in ("engine", "service"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    declared = []
    for game, (state, options) in _FIELDS.items():
        source = folder / "engine" / game
        _edit(source / "__init__.py", ("        schema=1,\n", "        schema=2,\n"))
        _edit(source / "state.py", state, options)
        for file in (source / "state.py", source / "events.py"):
            file.write_text(_TAG.sub(r'tag="next_\1"', file.read_text()))
        moved = [tuple(re.findall(r"(\w+):", after)) for _, after in (state, options)]
        declared.append(f'    "{game}": (schema_1(GAMES["{game}"], {moved[0]}, {moved[1]}),),\n')
    _edit(
        folder / "engine" / "juices" / "mutable_state.py",
        ("            self.options,\n            self.mode,\n", "            self.mode,\n            self.options,\n"),
    )
    (folder / "engine" / "previous.py").write_text(_PREVIOUS)
    _edit(
        folder / "engine" / "catalogue.py",
        ("]]] = {}\n", "]]] = {\n" + "".join(declared) + "}\n"),
        (
            "from engine.codec import PreviousSchema\n",
            "from engine.codec import PreviousSchema\nfrom engine.previous import schema_1\n",
        ),
    )
    schemas = dict.fromkeys(_FIELDS, 2)
    _edit(
        folder / "service" / "games" / "formats.py",
        ("NEWEST: Final = 1\n", f"NEWEST: Final = {NEXT_FORMAT}\n"),
        ('"juices": 1}}\n', f'"juices": 1}}, {NEXT_FORMAT}: {schemas}}}\n'),
    )
    compileall.compile_dir(folder, quiet=1)
    return folder


def _edit(file: Path, *changes: tuple[str, str]) -> None:
    """Replace texts that a file must contain exactly once."""
    text = file.read_text()
    for before, after in changes:
        assert text.count(before) == 1, f"{file} contains {before!r} {text.count(before)} times"
        text = text.replace(before, after)
    file.write_text(text)


def environment(release: Path) -> dict[str, str]:
    """Return what makes Python import a release instead of this one."""
    return {"PYTHONPATH": str(release)}


class ReleasedService(Service):
    """A service that can be restarted as another release.

    Attributes:
        release: the folder of its release; None for this one.
    """

    def __init__(
        self, folder: Path, *flags: str, env: dict[str, str] | None = None, release: Path | None = None
    ) -> None:
        self.release = release
        super().__init__(folder, *flags, env=env)

    def launch(self, *arguments: str, stderr: IO[Any]) -> ForkedProcess | subprocess.Popen[bytes]:
        """Start the process of the release."""
        if self.release is None:
            return super().launch(*arguments, stderr=stderr)
        # Not by the fork server, which has imported the engine of this release.
        env = {**self.env, **environment(self.release)}
        command = [sys.executable, "-m", self.module, *arguments]
        return subprocess.Popen(command, cwd=self.release, env=env, stderr=stderr)
