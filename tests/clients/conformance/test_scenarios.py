"""scenarios.yaml uses only what the suite supports, and covers everything that a library offers."""

from pathlib import Path

import pytest

from clients.conformance.libraries import LIBRARIES
from clients.conformance.scenarios import read
from sodafountain.v1 import game_service_pb2 as pb

SCENARIOS = read()
DONE = {step.do["do"] for scenario in SCENARIOS for step in scenario.steps}


def test_every_rpc_is_covered() -> None:
    called = {call.get("rpc", "ApplyMove") for scenario in SCENARIOS for call in scenario.calls}

    assert called == {method.name for method in pb.DESCRIPTOR.services_by_name["GameService"].methods}


def test_every_step_of_the_driver_guide_is_used() -> None:
    guide = (Path(__file__).parents[3] / "clients/conformance/README.md").read_text()
    steps = {line.split("`")[1] for line in guide.splitlines() if line.startswith("| `") and line[3:5] != "do"}

    assert steps == DONE


def test_skipped_libraries_and_transports_exist() -> None:
    known = {*LIBRARIES, *(transport for library in LIBRARIES.values() for transport in library.transports)}

    assert {name for scenario in SCENARIOS for name in scenario.skip} <= known


def test_a_duplicate_name_or_an_unknown_key_is_rejected(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.yaml"

    file.write_text("scenarios: [{name: a, steps: []}, {name: a, steps: []}]")
    with pytest.raises(ValueError, match="twice: a"):
        read(file)

    file.write_text("scenarios: [{name: a, steps: [], callz: []}]")
    with pytest.raises(ValueError, match="unknown keys: callz"):
        read(file)
