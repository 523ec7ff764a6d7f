"""Convert states and moves of the engine to those of the reference. States are decoded without the engine's code."""

from engine.soda_jerk.components import Card, Flavor
from engine.soda_jerk.state import Move, Place, State
from tests.engine.soda_jerk import reference

NAMES = {
    Flavor.STRAWBERRY: "strawberry",
    Flavor.BLUEBERRY: "blueberry",
    Flavor.BANANA: "banana",
    Flavor.KIWI: "kiwi",
    Flavor.ORANGE: "orange",
}


def coded(code: int) -> reference.Card:
    """Return the card of a code. Codes number three values of each flavor in order, then the Switcheroo."""
    return reference.EVERY_CARD[code]


def card(value: Card) -> reference.Card:
    """Convert a card."""
    return reference.SWITCHEROO if value.flavor is None else (NAMES[value.flavor], value.value)


def move(value: Move) -> reference.Move:
    """Convert a move."""
    if isinstance(value, Place):
        return ("place", card(value.card), NAMES[value.tap])
    return ("flip", NAMES[value.tap], value.position)


def started(state: State) -> reference.Round:
    """Convert the state at the start of a round."""
    return reference.Round(
        hands=[[coded(code) for code in hand] for hand in state.hands],
        taps=[NAMES[tap] for tap in state.taps],
        effects=[NAMES[tap] for tap in state.effects],
        turn=state.first_seat,
    )


def piles(state: State) -> dict[str, list[reference.Laid]]:
    """Return the cards at the taps, by tap."""
    return {
        NAMES[tap]: [reference.Laid(coded(packed % 16), packed // 16 % 4, packed >= 64) for packed in pile]
        for tap, pile in zip(state.taps, state.piles, strict=True)
    }
