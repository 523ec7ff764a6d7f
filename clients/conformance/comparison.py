"""Compares what a library did with what a scenario says: outcomes and calls, exactly, order and counts included."""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from clients.conformance.calls import Names, Note, Told, told
from clients.conformance.scenarios import Json, Scenario

# A deadline travels as a rounded number of seconds, and is shorter on arrival: by how much is the machine's.
_ROUNDED: Final = 0.1
_LEFT: Final = 0.5


def outcome_problems(scenario: Scenario, outcomes: Sequence[Json], target: str) -> Iterator[str]:
    """Tells which outcomes differ from those that the scenario gives."""
    for number, step in enumerate(scenario.steps):
        if number >= len(outcomes):
            yield f"step {number} ({step.do['do']}): nothing was reported"
        elif not fits(outcomes[number], step.gives, target):
            yield f"step {number} ({step.do['do']}): {_apart(step.gives, outcomes[number])}"
    if len(outcomes) > len(scenario.steps):
        yield f"{len(outcomes)} outcomes were reported for {len(scenario.steps)} steps"


def call_problems(scenario: Scenario, notes: Sequence[Note], *, with_deadlines: bool) -> Iterator[str]:
    """Tells how the calls that arrived differ from those that the scenario lists.

    Args:
        scenario: the scenario.
        notes: the calls that arrived.
        with_deadlines: whether this transport carries deadlines.
    """
    names = Names()
    arrived = [told(note, names) for note in notes]
    expected: list[Told] = []
    for call in scenario.calls:
        if "turns" in call:
            begin, end = len(expected), len(expected) + 2 * call["turns"]
            yield from _turn_problems(arrived[begin:end], notes[begin:end], begin)
            expected += [{"rpc": "LegalMoves"}, {"rpc": "ApplyMove"}] * call["turns"]
        else:
            expected.append(call)
    for number in range(max(len(arrived), len(expected))):
        if number >= len(expected):
            yield f"call {number + 1} was not expected: {_line(arrived[number])}"
        elif number >= len(arrived):
            yield f"call {number + 1} did not arrive: {_line(expected[number])}"
        elif "request" not in expected[number]:
            if arrived[number]["rpc"] != expected[number]["rpc"]:
                yield f"call {number + 1} should be {expected[number]['rpc']}: {_line(arrived[number])}"
        else:
            call, wanted = arrived[number], dict(expected[number])
            if not with_deadlines:
                wanted.pop("deadline", None)
            retried = any(
                call["request"].get("requestId") == before["request"].get("requestId", "")
                for before in arrived[:number]
            )
            if not _deadline_fits(call.pop("deadline", None), wanted.pop("deadline", None), late=retried or not number):
                yield f"call {number + 1} ({call['rpc']}): its deadline is {notes[number].deadline}"
            if not fits(call, wanted, ""):
                yield f"call {number + 1}: {_apart(wanted, call)}"


def fits(found: Any, wanted: Any, target: str) -> bool:  # Any: JSON
    """Whether a value is the one that is wanted.

    It must be equal, but that `*` in a text stands for any text, and alone for anything, and TARGET for the address.
    """
    if wanted == "*":
        return True
    if isinstance(wanted, str):
        pattern = ".+".join(re.escape(part) for part in wanted.replace("TARGET", target).split("*"))
        return isinstance(found, str) and re.fullmatch(pattern, found) is not None
    if isinstance(wanted, dict):
        return (
            isinstance(found, dict)
            and found.keys() == wanted.keys()
            and all(fits(found[key], wanted[key], target) for key in wanted)
        )
    if isinstance(wanted, list):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(fits(one, other, target) for one, other in zip(found, wanted, strict=True))
        )
    return type(found) is type(wanted) and bool(found == wanted)


def _turn_problems(calls: Sequence[Told], notes: Sequence[Note], before: int) -> Iterator[str]:
    """Tells what is wrong with turns: each asks for legal moves and makes the first, under an id of its own."""
    ids = [call["request"].get("requestId") for call in calls[1::2]]
    if None in ids or len(set(ids)) < len(ids):
        yield f"calls {before + 1} to {before + len(calls)}: moves without a request id of their own"
    for number, (asked, made) in enumerate(zip(notes[::2], notes[1::2], strict=False)):
        legal: Any = asked.reply
        move: Any = made.request
        right = (
            legal is not None
            and made.answer == "OK"
            and calls[2 * number].get("as") == calls[2 * number + 1].get("as")
            and move.etag == legal.etag
            and move.move == legal.moves[0].move
        )
        if not right:
            yield f"call {before + 2 * number + 2} does not make the first move that the call before it was told of"


def _deadline_fits(found: float | None, wanted: float | None, *, late: bool) -> bool:
    """Whether a deadline is what was left of the wanted one.

    Little may be left of a retry's, by the tries before, and of the first call's, since a driver loads what it needs
    and connects within it.
    """
    if found is None or wanted is None:
        return found is wanted
    return (0 if late else wanted * _LEFT) < found <= wanted + _ROUNDED


def _apart(wanted: Json, found: Json) -> str:
    """Shows two values one above the other, only where they differ if they are long."""
    left, right = (json.dumps(value, indent=1, sort_keys=True).splitlines() for value in (wanted, found))
    lines = difflib.unified_diff(left, right, "expected", "found", lineterm="", n=1)
    return "\n    ".join(["it differs", *(line for line in lines if not line.startswith("@@"))])


def _line(call: Told) -> str:
    return json.dumps(call, sort_keys=True)
