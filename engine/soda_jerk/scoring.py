"""The scoring of Soda Jerk: the values of taps, the points of a round, and the standings (SJ-P, SJ-G)."""

from collections import Counter

from engine.game import Score, ScoreLine
from engine.scoring import leaders, rank_players
from engine.soda_jerk.components import A_SIDE, B_SIDES, CARDS, ROUNDS, SWITCHEROO, Flavor
from engine.soda_jerk.state import CODE_BITS, FinishedRound, State, revealed
from engine.soda_jerk.texts import score_label, score_note

# --- A round ----------------------------------------------------------------------------------------------------------


def tap_value(tap: Flavor, effect_active: bool, pile: bytes) -> int:
    """Return the value of a tap with the cards of a pile, face up or face down."""
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
        counts[-1] *= effect.last_weight  # SJ-A2: the last flavor card; a Switcheroo placed later changes nothing

    # … then the sum (SJ-P1), then the negations: the effect's, and one for each Switcheroo (SJ-P2).
    return sum(counts) * effect.sign * (-1 if codes.count(SWITCHEROO) % 2 else 1)


def finished_round(state: State) -> FinishedRound:
    """Return the current round with all cards face up (SJ-P1) and its points."""
    piles = tuple(revealed(pile) for pile in state.piles)
    values = tuple(tap_value(tap, tap in state.effects, pile) for tap, pile in zip(state.taps, piles, strict=True))
    worth = dict(zip(state.taps, values, strict=True))
    return FinishedRound(
        effects=state.effects,
        piles=piles,
        tap_values=values,
        hands=state.hands,
        points=tuple(hand_points(hand, worth) for hand in state.hands),
    )


def flavor_counts(hand: bytes) -> dict[Flavor, int]:
    """Return the number of cards of each flavor in a hand. A Switcheroo scores nothing (SJ-P3)."""
    return dict(Counter(flavor for code in hand if (flavor := CARDS[code].flavor) is not None))


def hand_points(hand: bytes, worth: dict[Flavor, int]) -> int:
    """Return the points of a hand: each card counts the value of its flavor's tap, not its printed value (SJ-P3)."""
    return sum(count * worth[flavor] for flavor, count in flavor_counts(hand).items())


# --- The standings ----------------------------------------------------------------------------------------------------


def score(state: State) -> Score:
    """Return the standings after the finished rounds."""
    finished = len(state.finished) == ROUNDS
    scores = rank_players(totals(state), [_lines(state, seat) for seat in range(len(state.hands))])
    winners = leaders(scores) if finished else ()  # SJ-G3
    return Score(finished, scores, winners, score_note(len(state.finished), winners))


def totals(state: State) -> list[int]:
    """Return the points of each seat in the finished rounds."""
    return [sum(finished.points[seat] for finished in state.finished) for seat in range(len(state.hands))]


def _lines(state: State, seat: int) -> tuple[ScoreLine, ...]:
    """Return one line for each finished round and flavor in the seat's hand."""
    lines = []
    for round_number, finished in enumerate(state.finished, start=1):
        worth = dict(zip(state.taps, finished.tap_values, strict=True))
        for flavor, count in flavor_counts(finished.hands[seat]).items():
            value = worth[flavor]
            lines.append(ScoreLine(flavor.code, score_label(flavor, count, value), count * value, round_number))
    return tuple(lines)
