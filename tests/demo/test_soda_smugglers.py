"""Texts of the Soda Smugglers narrator that do not occur in the game of the demo."""

import pytest

from clients.demo.soda_smugglers import departure_text
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersDeparture, SodaSmugglersEvent


def narrate(how: str, luggage: list[int], guard_caps: int) -> str:
    number = SodaSmugglersDeparture.Value(f"SODA_SMUGGLERS_DEPARTURE_{how}")
    return departure_text(SodaSmugglersEvent.LeftBorder(how=number, luggage=luggage, guard_caps=guard_caps))


@pytest.mark.parametrize(("paid", "text"), [(0, "nothing"), (1, "1 cap"), (3, "3 caps")])
def test_a_bribe_is_narrated_with_what_was_paid(paid: int, text: str) -> None:
    """A bribe is worth nothing if its suitcase is empty or the traveler has no caps."""
    sentence = narrate("BRIBED", [2, 1], paid)
    assert sentence == f"The guard accepted a bribe worth {text}, and 3 bottles crossed the border."


@pytest.mark.parametrize(("paid", "text"), [(0, "nothing"), (1, "1 cap"), (2, "2 caps")])
def test_an_apology_is_narrated_with_what_was_paid(paid: int, text: str) -> None:
    """A guard with less than 2 caps pays less, and after a tip-off nothing."""
    sentence = narrate("UNDULY_ARRESTED", [0, 1], -paid)
    assert sentence == f"Arrested without cause: the guard apologized and paid {text}; 1 bottle crossed the border."


def test_a_correct_arrest_and_a_wave_through_are_narrated() -> None:
    assert narrate("CAUGHT", [1, 1], 2) == "Arrested with 2 bottles, which the guard keeps."
    assert narrate("WAVED_THROUGH", [0, 0], 0) == "Waved through: nothing crossed the border."
