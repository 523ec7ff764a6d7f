"""Compare the outcomes and calls of a library with a scenario. Their order and number must be equal too."""

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from clients.conformance.calls import CallDescription, Placeholders, RecordedCall, describe
from clients.conformance.scenarios import Json, Scenario

# Deadlines are rounded to whole units when sent, and are shorter on arrival. At least this share must be left.
_ROUNDING_SECONDS: Final = 0.1
_MIN_SHARE_LEFT: Final = 0.5


def outcome_problems(scenario: Scenario, outcomes: Sequence[Json], target: str) -> Iterator[str]:
    """Yield the differences between the reported and the expected outcomes."""
    for number, step in enumerate(scenario.steps):
        if number >= len(outcomes):
            yield f"step {number} ({step.do['do']}): no outcome was reported"
        elif not matches(outcomes[number], step.gives, target):
            yield f"step {number} ({step.do['do']}): {_diff(step.gives, outcomes[number])}"
    if len(outcomes) > len(scenario.steps):
        yield f"{len(outcomes)} outcomes were reported for {len(scenario.steps)} steps"


def call_problems(scenario: Scenario, calls: Sequence[RecordedCall], *, with_deadlines: bool) -> Iterator[str]:
    """Yield the differences between the recorded and the expected calls.

    Args:
        scenario: the scenario.
        calls: the recorded calls.
        with_deadlines: whether the transport carries deadlines.
    """
    placeholders = Placeholders()
    arrived = [describe(call, placeholders) for call in calls]
    expected: list[CallDescription] = []
    for call in scenario.calls:
        if "turns" in call:
            start, end = len(expected), len(expected) + 2 * call["turns"]
            yield from _turn_problems(arrived[start:end], calls[start:end], start)
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
                yield f"call {number + 1} must be {expected[number]['rpc']}: {_line(arrived[number])}"
        else:
            found, remaining = arrived[number], dict(expected[number])
            if not with_deadlines:
                remaining.pop("deadline", None)
            is_retry = any(
                found["request"].get("requestId") == before["request"].get("requestId", "")
                for before in arrived[:number]
            )
            may_be_late = is_retry or not number
            if not _deadline_matches(
                found.pop("deadline", None), remaining.pop("deadline", None), may_be_late=may_be_late
            ):
                yield f"call {number + 1} ({found['rpc']}): its deadline is {calls[number].deadline}"
            if not matches(found, remaining, ""):
                yield f"call {number + 1}: {_diff(remaining, found)}"


def matches(found: Any, expected: Any, target: str) -> bool:  # Any: JSON
    """Return whether a value matches the expected one.

    Values must be equal, except that in an expected text `*` stands for any text and TARGET for the address. A text
    that is just `*` stands for any value.
    """
    if expected == "*":
        return True
    if isinstance(expected, str):
        pattern = ".+".join(re.escape(part) for part in expected.replace("TARGET", target).split("*"))
        return isinstance(found, str) and re.fullmatch(pattern, found) is not None
    if isinstance(expected, dict):
        return (
            isinstance(found, dict)
            and found.keys() == expected.keys()
            and all(matches(found[key], expected[key], target) for key in expected)
        )
    if isinstance(expected, list):
        return (
            isinstance(found, list)
            and len(found) == len(expected)
            and all(matches(one, other, target) for one, other in zip(found, expected, strict=True))
        )
    return type(found) is type(expected) and bool(found == expected)


def _turn_problems(
    descriptions: Sequence[CallDescription], calls: Sequence[RecordedCall], before: int
) -> Iterator[str]:
    """Yield the problems of turns: each must fetch the legal moves and make the first one, under a new request id."""
    ids = [description["request"].get("requestId") for description in descriptions[1::2]]
    if None in ids or len(set(ids)) < len(ids):
        yield f"calls {before + 1} to {before + len(descriptions)}: not every move has a request id of its own"
    for number, (listing, move_call) in enumerate(zip(calls[::2], calls[1::2], strict=False)):
        legal: Any = listing.reply
        move: Any = move_call.request
        valid = (
            legal is not None
            and move_call.answer == "OK"
            and descriptions[2 * number].get("as") == descriptions[2 * number + 1].get("as")
            and move.etag == legal.etag
            and move.move == legal.moves[0].move
        )
        if not valid:
            yield f"call {before + 2 * number + 2} does not make the first move that the previous call returned"


def _deadline_matches(found: float | None, expected: float | None, *, may_be_late: bool) -> bool:
    """Return whether a remaining deadline is consistent with the expected one.

    Little time may be left for a retry, because of earlier attempts, and for the first call, because the driver loads
    its libraries and connects within the deadline.
    """
    if found is None or expected is None:
        return found is expected
    return (0 if may_be_late else expected * _MIN_SHARE_LEFT) < found <= expected + _ROUNDING_SECONDS


def _diff(expected: Json, found: Json) -> str:
    left, right = (json.dumps(value, indent=1, sort_keys=True).splitlines() for value in (expected, found))
    lines = difflib.unified_diff(left, right, "expected", "found", lineterm="", n=1)
    return "\n    ".join(["differs", *(line for line in lines if not line.startswith("@@"))])


def _line(call: CallDescription) -> str:
    return json.dumps(call, sort_keys=True)
