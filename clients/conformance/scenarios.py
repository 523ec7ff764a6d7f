"""Reads scenarios.yaml, the one file of data that all libraries are held to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from clients.conformance.calls import Told
from clients.conformance.recorder import Trouble

Json: TypeAlias = dict[str, Any]  # Any: JSON

FILE: Final = Path(__file__).with_name("scenarios.yaml")


@dataclass(frozen=True)
class Step:
    """What a driver is to do, and the outcome that it should report."""

    do: Json
    gives: Json


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """What a client does, what happens to its calls, and which calls should arrive.

    Attributes:
        name: a sentence about libraries.
        connect: how to connect, apart from the address.
        tls: over TLS, if not empty, with a server whose certificate is `trusted` or `untrusted`, or that is `plain`.
        at: who is at the address: the `service` behind its recorder, `nobody`, or a `stranger`, a gRPC server without
            games; any other text is the address itself.
        troubles: the trouble that is made, by the number of the call.
        steps: what the driver does.
        calls: what should arrive.
        skip: which libraries cannot do that, and why.
    """

    name: str
    connect: Json = field(default_factory=dict)
    tls: str = ""
    at: str = "service"
    troubles: dict[int, Trouble] = field(default_factory=dict)
    steps: Sequence[Step]
    calls: Sequence[Told]
    skip: dict[str, str] = field(default_factory=dict)


def read(file: Path = FILE) -> list[Scenario]:
    """Reads the scenarios.

    Raises:
        ValueError: the file has something in it that means nothing.
    """
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    scenarios = [_scenario(entry) for entry in content["scenarios"]]
    names = [scenario.name for scenario in scenarios]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{file.name} has these names twice: {', '.join(sorted(twice))}")
    return scenarios


def _scenario(entry: Json) -> Scenario:
    known = {"name", "connect", "tls", "at", "trouble", "steps", "calls", "skip"}
    if unknown := entry.keys() - known:
        raise ValueError(f"the scenario {entry.get('name')!r} has unknown keys: {', '.join(sorted(unknown))}")
    return Scenario(
        name=entry["name"],
        connect=entry.get("connect", {}),
        tls=entry.get("tls", ""),
        at=entry.get("at", "service"),
        troubles={
            trouble.get("call", 0): Trouble(trouble["is"], trouble.get("after", 0))
            for trouble in entry.get("trouble", [])
        },
        steps=[
            Step({key: value for key, value in step.items() if key != "gives"}, step.get("gives", {}))
            for step in entry["steps"]
        ],
        calls=entry.get("calls", []),
        skip=entry.get("skip", {}),
    )
