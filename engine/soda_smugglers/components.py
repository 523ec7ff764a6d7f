"""The components of Soda Smugglers: suitcases, caps, guard tokens and event cards."""

from typing import Final

from engine.value import Name, Value

KIND: Final = "soda_smugglers"
"""The game's name in programs."""


# --- Seats, rounds, suitcases and caps --------------------------------------------------------------------------------

SEATS: Final = range(3, 9)
TURNS_AS_GUARD: Final = {3: 2, 4: 2, 5: 1, 6: 1, 7: 1, 8: 1}
"""How often every seat is guard, by the number of seats (SS-S3)."""


def round_count(seat_count: int) -> int:
    """Return the number of rounds of a game (SS-S3)."""
    return seat_count * TURNS_AS_GUARD[seat_count]


# A suitcase is represented by its number of bottles, because equal suitcases are interchangeable.
SUITCASES: Final = bytes([0] * 12 + [1] * 12 + [2] * 7 + [3] * 5)
"""The 36 suitcases, sorted (SS-C1)."""

MAX_BOTTLES: Final = max(SUITCASES)
DEALT: Final = 5
"""The number of suitcases dealt to each traveler (SS-K1)."""

MAX_SLOTS: Final = 3
STARTING_CAPS: Final = 10
APOLOGY: Final = 2
"""The number of caps that a guard owes for an undue arrest (SS-B3)."""


# --- Guard tokens -----------------------------------------------------------------------------------------------------


class Tokens(Value, frozen=True):
    """The number of guard tokens of each kind. The sniffer dog and the tip-off act like tokens."""

    bribe: int
    inspect: int
    arrest: int
    sniff: int = 0
    tip_off: int = 0


TOKENS: Final = {
    3: Tokens(1, 1, 1),
    4: Tokens(1, 1, 1),
    5: Tokens(1, 1, 2),
    6: Tokens(1, 2, 2),
    7: Tokens(2, 2, 2),
    8: Tokens(2, 2, 3),
}
"""The tokens in the game, by the number of seats (SS-C3)."""

# --- Event cards ------------------------------------------------------------------------------------------------------


class EventCard(Name):
    """An event card. The numbers are those of the API."""

    BIRTHDAY = 1
    BREAKAGE = 2
    NIGHT_SHIFT = 3
    TEMPTATION = 4
    SUPERIOR_OFFICER = 5
    SNIFFER_DOG = 6
    TIP_OFF = 7
    HOLIDAY_SEASON = 8


class Effect(Value, frozen=True):
    """The effect of an event card in its round. The default values do nothing: they are a round without a card.

    Attributes:
        name: the name for people.
        text: the effect in words, for people.
        gift: caps that the guard gains from the stock when the card is revealed.
        fine: caps that the guard returns to the stock when the card is revealed, for each arrest token in the game.
        allowed: the number of bottles in a luggage that is legal.
        slots: the number of suitcases packed as luggage.
        bribes: whether travelers offer bribes and the guard has bribe tokens.
        accept_all: whether the guard may accept all bribes as the first act of the turn.
        tokens: the change of the number of tokens of each kind.
    """

    name: str = ""
    text: str = ""
    gift: int = 0
    fine: int = 0
    allowed: int = 1
    slots: int = 2
    bribes: bool = True
    accept_all: bool = False
    tokens: Tokens = Tokens(0, 0, 0)


NO_EVENT: Final = Effect()

EFFECTS: Final = {
    EventCard.BIRTHDAY: Effect(  # SS-V1
        "Birthday",
        "The guard is given 2 caps from the stock. Two bottles in a luggage are still legal: arresting a traveler "
        "with no more than that is undue.",
        gift=2,
        allowed=2,
    ),
    EventCard.BREAKAGE: Effect(  # SS-V2
        "Breakage",
        "The guard loses 1 cap to the stock for each arrest token in the game. Not a single bottle is legal: arresting "
        "a traveler with one is right.",
        fine=1,
        allowed=0,
    ),
    EventCard.NIGHT_SHIFT: Effect(  # SS-V3
        "Night Shift",
        "The guard has one more bribe token.",
        tokens=Tokens(1, 0, 0),
    ),
    EventCard.TEMPTATION: Effect(  # SS-V4
        "Temptation",
        "Before doing anything else, the guard may take every bribe on offer and let all travelers pass. No token is "
        "used for that.",
        accept_all=True,
    ),
    EventCard.SUPERIOR_OFFICER: Effect(  # SS-V5
        "Superior Officer",
        "No bribes are offered, and the guard has no bribe token but one more inspect token.",
        bribes=False,
        tokens=Tokens(0, 1, 0),
    ),
    EventCard.SNIFFER_DOG: Effect(  # SS-V6
        "Sniffer Dog",
        "The guard has a dog instead of one inspect token. A traveler to whom it is sent opens the "
        "fullest suitcase, or one of the fullest; that counts as the traveler's inspection.",
        tokens=Tokens(0, -1, 0, sniff=1),
    ),
    EventCard.TIP_OFF: Effect(  # SS-V7
        "Tip-Off",
        "The guard may make one more arrest, with this card. If that one is undue, it costs the guard nothing.",
        tokens=Tokens(0, 0, 0, tip_off=1),
    ),
    EventCard.HOLIDAY_SEASON: Effect(  # SS-V8
        "Holiday Season",
        "All travelers pack three suitcases and discard one.",
        slots=3,
    ),
}
"""The effect of each event card (SS-C4)."""
