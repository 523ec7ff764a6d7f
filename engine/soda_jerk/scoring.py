"""What taps and hands of Soda Jerk are worth: pure functions over piles and hands."""

from collections import Counter

from engine.soda_jerk.components import A_SIDE, B_SIDES, CARDS, SWITCHEROO, Flavor
from engine.soda_jerk.state import CODE_BITS, State


def tap_values(state: State) -> tuple[int, ...]:
    """Tells what each tap in play is worth with the cards that lie there, face up or not."""
    return tuple(tap_value(tap, tap in state.effects, pile) for tap, pile in zip(state.taps, state.piles, strict=True))


def tap_value(tap: Flavor, effect_active: bool, pile: bytes) -> int:
    """Tells what a tap is worth with the cards of a pile."""
    effect = B_SIDES[tap] if effect_active else A_SIDE
    codes = [packed & CODE_BITS for packed in pile]
    cards = [CARDS[code] for code in codes if code != SWITCHEROO]

    # SJ-A3: first the weights …
    counts = []
    for card in cards:
        if card.flavor == tap:
            counts.append(card.value * effect.own_weight)
        else:
            counts.append(-(card.value if effect.others_value is None else effect.others_value))
    if counts:
        counts[-1] *= effect.last_weight  # SJ-A2: a Switcheroo placed later does not matter; it is not among the counts

    # … then the sum (SJ-P1), then the negations: the effect's, and one for each Switcheroo (SJ-P2).
    return sum(counts) * effect.sign * (-1 if codes.count(SWITCHEROO) % 2 else 1)


def kept(hand: bytes) -> dict[Flavor, int]:
    """Counts a hand's cards of each flavor, flavors in order. A Switcheroo scores nothing (SJ-P3)."""
    return dict(Counter(flavor for code in hand if (flavor := CARDS[code].flavor) is not None))


def hand_points(hand: bytes, worth: dict[Flavor, int]) -> int:
    """Tells what a hand scores: its cards count their flavor's tap, whatever is printed on them (SJ-P3)."""
    return sum(count * worth[flavor] for flavor, count in kept(hand).items())
