"""Read scenarios.yaml, the scenarios that all libraries must pass."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

import yaml

from clients.conformance.calls import CallDescription
from clients.conformance.recorder import Fault

Json: TypeAlias = dict[str, Any]  # Any: JSON

FILE: Final = Path(__file__).with_name("scenarios.yaml")


@dataclass(frozen=True)
class Step:
    """A step of a driver, and the outcome that it must report."""

    do: Json
    gives: Json


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """The steps of a client, the faults injected into its calls, and the calls that must arrive.

    Attributes:
        name: a sentence about the behavior of libraries.
        connect: the connection parameters except the address.
        tls: if not empty, the client uses TLS, and the certificate of the server is `trusted` or `untrusted`, or the
            server is `plain` and does not use TLS. With `mutual` the server requires the certificate of the client too.
        at: the server at the address: the `service` behind its recorder, `other host` for the same at an address that
            is not loopback, `closed port` for none, or `other service`, a gRPC server without games. Any other text is
            the address itself.
        faults: the injected faults, by the number of the call.
        steps: the steps of the driver.
        calls: the calls that must arrive.
        skip: the libraries and transports that skip the scenario, with the reason.
    """

    name: str
    connect: Json = field(default_factory=dict)
    tls: str = ""
    at: str = "service"
    faults: dict[int, Fault] = field(default_factory=dict)
    steps: Sequence[Step]
    calls: Sequence[CallDescription]
    skip: dict[str, str] = field(default_factory=dict)


def read(file: Path = FILE) -> list[Scenario]:
    """Read the scenarios.

    Raises:
        ValueError: a scenario has an unknown key, or two scenarios have the same name.
    """
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    scenarios = [_scenario(entry) for entry in content["scenarios"]]
    names = [scenario.name for scenario in scenarios]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{file.name} contains these names twice: {', '.join(sorted(twice))}")
    return scenarios


def _scenario(entry: Json) -> Scenario:
    known = {"name", "connect", "tls", "at", "faults", "steps", "calls", "skip"}
    if unknown := entry.keys() - known:
        raise ValueError(f"the scenario {entry.get('name')!r} has unknown keys: {', '.join(sorted(unknown))}")
    return Scenario(
        name=entry["name"],
        connect=entry.get("connect", {}),
        tls=entry.get("tls", ""),
        at=entry.get("at", "service"),
        faults={
            fault.get("call", 0): Fault(fault["kind"], fault.get("after", 0), fault.get("set", {}))
            for fault in entry.get("faults", [])
        },
        steps=[
            Step({key: value for key, value in step.items() if key != "gives"}, step.get("gives", {}))
            for step in entry["steps"]
        ],
        calls=entry.get("calls", []),
        skip=entry.get("skip", {}),
    )
