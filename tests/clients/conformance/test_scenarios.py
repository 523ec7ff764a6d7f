"""scenarios.yaml asks for what the suite can do, and for everything that a library offers."""

from pathlib import Path

import pytest

from clients.conformance.libraries import LIBRARIES
from clients.conformance.scenarios import read
from sodafountain.v1 import game_service_pb2 as pb

SCENARIOS = read()
DONE = {step.do["do"] for scenario in SCENARIOS for step in scenario.steps}


def test_every_call_of_the_service_is_asked_for() -> None:
    called = {call.get("rpc", "ApplyMove") for scenario in SCENARIOS for call in scenario.calls}

    assert called == {method.name for method in pb.DESCRIPTOR.services_by_name["GameService"].methods}


def test_every_word_of_the_guide_for_drivers_is_used() -> None:
    guide = (Path(__file__).parents[3] / "clients/conformance/README.md").read_text()
    words = {line.split("`")[1] for line in guide.splitlines() if line.startswith("| `") and line[3:5] != "do"}

    assert words == DONE


def test_only_libraries_and_transports_that_exist_are_excused() -> None:
    known = {*LIBRARIES, *(transport for library in LIBRARIES.values() for transport in library.transports)}

    assert {name for scenario in SCENARIOS for name in scenario.skip} <= known


def test_a_name_twice_or_an_unknown_word_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "scenarios.yaml"

    file.write_text("scenarios: [{name: a, steps: []}, {name: a, steps: []}]")
    with pytest.raises(ValueError, match="twice: a"):
        read(file)

    file.write_text("scenarios: [{name: a, steps: [], callz: []}]")
    with pytest.raises(ValueError, match="unknown keys: callz"):
        read(file)
