"""How the demo tells rounds of Soda Smugglers, where the demo's own game does not come to it."""

import pytest

from clients.demo.soda_smugglers import leaving
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersDeparture, SodaSmugglersEvent


def told(how: str, luggage: list[int], guard_caps: int) -> str:
    number = SodaSmugglersDeparture.Value(f"SODA_SMUGGLERS_DEPARTURE_{how}")
    return leaving(SodaSmugglersEvent.LeftBorder(how=number, luggage=luggage, guard_caps=guard_caps))


@pytest.mark.parametrize(("paid", "in_words"), [(0, "which brought nothing"), (1, "1 cap"), (3, "3 caps")])
def test_a_bribe_is_told_by_what_was_paid(paid: int, in_words: str) -> None:
    """Nothing is paid for an empty suitcase, and by somebody who has nothing."""
    assert told("BRIBED", [2, 1], paid) == f"The guard took the bribe, {in_words}, and 3 bottles came across."


@pytest.mark.parametrize(("paid", "in_words"), [(0, "nothing but"), (1, "1 cap and"), (2, "2 caps and")])
def test_an_apology_is_told_by_what_was_paid(paid: int, in_words: str) -> None:
    """A guard who holds less than 2 caps pays less, and on a tip-off nothing."""
    sentence = told("UNDULY_ARRESTED", [0, 1], -paid)
    assert sentence == f"Arrested, for nothing! The guard gave {in_words} an apology; 1 bottle came across."


def test_a_right_arrest_and_a_wave_through_are_told() -> None:
    assert told("CAUGHT", [1, 1], 2) == "Arrested, rightly: 2 bottles for the guard."
    assert told("WAVED_THROUGH", [0, 0], 0) == "Waved through: nothing came across."
