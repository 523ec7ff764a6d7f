"""The components of Soda Jerk: flavors, cards, how many are dealt, and the effects on the taps' B sides."""

from typing import Final

import msgspec

from engine.value import Name, Value

KIND: Final = "soda_jerk"
"""The game's name in programs."""


class Flavor(Name):
    """A flavor of a tap, and of the cards that raise its value. The numbers are those of the API."""

    STRAWBERRY = 1
    BLUEBERRY = 2
    BANANA = 3
    KIWI = 4
    ORANGE = 5

    @property
    def title(self) -> str:
        """The flavor's name for people."""
        return self.name.capitalize()

    @property
    def code(self) -> str:
        """The flavor's name for programs."""
        return self.name.lower()

    @property
    def letters(self) -> str:
        """The flavor in the notation."""
        return self.code[:2]


class Card(Value, frozen=True, cache_hash=True):
    """A flavor card with its printed value, 1 to 3. A Switcheroo has neither (None and 0)."""

    flavor: Flavor | None = None
    value: int = 0

    def __str__(self) -> str:
        return "sw" if self.flavor is None else f"{self.flavor.letters}{self.value}"

    @property
    def switcheroo(self) -> bool:
        """Whether this is a Switcheroo."""
        return self.flavor is None

    @property
    def title(self) -> str:
        """The card's name for people."""
        return "Switcheroo" if self.flavor is None else f"{self.flavor.title} {self.value}"

    @property
    def phrase(self) -> str:
        """The card's name with its article."""
        return f"an {self.title}" if self.flavor == Flavor.ORANGE else f"a {self.title}"


VALUES: Final = (1, 2, 3)
CARDS: Final = (*(Card(flavor, value) for flavor in Flavor for value in VALUES), Card())
"""Every kind of card, sorted. A card's index here is its code; hands and piles in a state are bytes of codes."""

CODES: Final = {card: code for code, card in enumerate(CARDS)}
SWITCHEROO: Final = CODES[Card()]

CARDS_PER_FLAVOR: Final = 9
ROUNDS: Final = 3
SEATS: Final = range(2, 5)
DEALT: Final = {2: 13, 3: 13, 4: 10}
"""The number of flavor cards dealt to each seat, by the number of seats (SJ-S2)."""

FULL_HAND: Final = {seats: cards + (seats == 2) for seats, cards in DEALT.items()}
"""The size of a hand when a round starts: with two seats it includes a Switcheroo (SJ-S4)."""

MAX_AT_TAPS: Final = max(seats * hand for seats, hand in FULL_HAND.items())
LAST_CARDS: Final = 3
"""A round ends when the next seat would start its turn with this number of cards (SJ-E1)."""

NEW_B_SIDES: Final = {1: 1, 2: 2, 3: len(Flavor)}
"""In advanced play, the number of taps that turn to their B side in each round, as long as there are any (SJ-A1)."""


class Effect(msgspec.Struct, frozen=True):
    """The effect of a tap's B side. The default values do nothing, so an A side is an effect as well.

    Attributes:
        name: the name for people.
        rule: the effect in words, for people.
        own_weight: multiplies the printed values of the tap's own flavor.
        others_value: the value of each card of another flavor; None for the printed value.
        last_weight: multiplies the flavor card that was placed last.
        face_up: whether cards are placed face up.
        sign: multiplies the tap's value at the end.
    """

    name: str = ""
    rule: str = ""
    own_weight: int = 1
    others_value: int | None = None
    last_weight: int = 1
    face_up: bool = False
    sign: int = 1

    @property
    def text(self) -> str:
        """The effect in words, marked as a house effect."""
        return f"{self.name} (house effect): {self.rule}"


A_SIDE: Final = Effect()

# SJ-A2: the printed effects are not published. These are house effects; the printed ones can replace them here.
B_SIDES: Final = {
    Flavor.STRAWBERRY: Effect(
        "Double scoop",
        "cards of this tap's flavor count double here.",
        own_weight=2,
    ),
    Flavor.BLUEBERRY: Effect(
        "Watered down",
        "cards of other flavors count 1 each here, whatever is printed on them.",
        others_value=1,
    ),
    Flavor.BANANA: Effect(
        "Clear glass",
        "cards placed here go face up, except on a seat's first turn of a round.",
        face_up=True,
    ),
    Flavor.KIWI: Effect(
        "Sour",
        "the final value is negated.",
        sign=-1,
    ),
    Flavor.ORANGE: Effect(
        "Last drop",
        "the flavor card placed here last counts double.",
        last_weight=2,
    ),
}


def flavor_deck(taps: tuple[Flavor, ...], copies_per_value: tuple[int, ...]) -> bytes:
    """Return the codes of the flavor cards of the taps in play, sorted (SJ-C2)."""
    return bytes(
        CODES[Card(tap, value)]
        for tap in taps
        for value, copies in zip(VALUES, copies_per_value, strict=True)
        for _ in range(copies)
    )
