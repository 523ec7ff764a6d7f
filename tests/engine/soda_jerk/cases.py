"""The cases of Soda Jerk for the conformance tests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from engine.game import Viewer
from engine.rng import SEED_BYTES, Rng
from engine.soda_jerk.components import CARDS, CODES, MAX_AT_TAPS, SWITCHEROO, Card, Flavor, flavor_deck
from engine.soda_jerk.events import RoundEnded, RoundStarted
from engine.soda_jerk.state import CODE_BITS, FACE_UP, Flip, Move, Options, Place, State

if TYPE_CHECKING:
    from tests.engine.plays import Step

COPIES = [(ones, twos, 9 - ones - twos) for ones in range(10) for twos in range(10 - ones)]


class SodaJerkCases:
    """Implements `tests.engine.cases.Cases`."""

    max_moves = 3 * 40 * 2  # in each of three rounds at most 40 cards are placed and flipped
    max_bytes = 512
    every_move: tuple[Move, ...] = (
        *(
            Place(card, tap)
            for card in (*CARDS, Card(Flavor.KIWI, 0), Card(Flavor.KIWI, 4), Card(None, 1))
            for tap in Flavor
        ),
        *(Flip(tap, position) for tap in Flavor for position in (-1, 0, MAX_AT_TAPS, MAX_AT_TAPS + 1, 60)),
    )

    def options(self, seat_count: int, random: Random) -> Options:
        """Return random options."""
        return Options(
            advanced=random.random() < 0.5,
            first_seat=random.choice((None, random.randrange(seat_count))),
            removed_flavor=random.choice((None, *Flavor)) if seat_count == 2 else None,
            copies_per_value=random.choice(((3, 3, 3), random.choice(COPIES))),
        )

    def moves_to_try(self, state: State, seat: int) -> tuple[Move, ...]:
        """Return every placement, flips of all positions and some beyond, and some values that the API rejects."""
        largest = max(map(len, state.piles))
        return (*self.every_move, *(Flip(tap, position) for tap in Flavor for position in range(1, largest + 3)))

    def pieces(self, state: State) -> Counter[int]:
        """Return a count of the cards in the hands and at the taps. Cards that were set aside are not in a state."""
        return Counter(code for hand in state.hands for code in hand) + Counter(_codes_at_taps(state))

    def deals(self, event: Any) -> bool:
        """Return whether a round starts."""
        return isinstance(event, RoundStarted)

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, random: Random
    ) -> Iterator[tuple[int, int, State, list[Move]]]:
        """Yield every round, up to the move that ends it."""
        first = 0
        for last, step in enumerate(steps):
            if any(
                isinstance(event, RoundEnded) for event in step.events
            ):  # the end of a round reveals everything (SJ-P1)
                yield first, last, *_twin(steps[first:last], viewer, random)
                first = last + 1


def _codes_at_taps(state: State) -> Iterator[int]:
    return (packed & CODE_BITS for pile in state.piles for packed in pile)


def _twin(steps: "Sequence[Step]", viewer: Viewer, random: Random) -> tuple[State, list[Move]]:
    """Return a round in which every card that the viewer does not see is replaced.

    These are the cards that other seats keep in hand, the cards that they place and that stay face down, and the cards
    that were set aside. A Switcheroo stays among the cards of its owner.
    """
    start: State = steps[0].before
    end: State = steps[-1].after

    # Every card that was dealt, as (seat, the step in which it is placed or -1, code), and those that are hidden.
    cards = [(step.seat, at, CODES[step.move.card]) for at, step in enumerate(steps) if isinstance(step.move, Place)]
    cards += [(seat, -1, code) for seat, hand in enumerate(end.hands) for code in hand]
    codes = [code for _, _, code in cards]
    hidden = [
        index
        for index, (seat, at, _) in enumerate(cards)
        if seat != viewer and not (at >= 0 and _shown(steps[at], end))
    ]

    for index in hidden:
        if cards[index][2] == SWITCHEROO:
            other = random.choice([other for other in hidden if cards[other][0] == cards[index][0]])
            codes[index], codes[other] = codes[other], codes[index]
    flavored = [index for index in hidden if codes[index] != SWITCHEROO]
    pool = [codes[index] for index in flavored] + _set_aside(start)
    random.shuffle(pool)
    for index, code in zip(flavored, pool, strict=False):  # the other cards are set aside
        codes[index] = code

    hands: list[list[int]] = [[] for _ in start.hands]
    moves = [step.move for step in steps]
    for (seat, at, _), code in zip(cards, codes, strict=True):
        hands[seat].append(code)
        if at >= 0:
            moves[at] = Place(CARDS[code], moves[at].tap)
    rng = Rng(random.randbytes(SEED_BYTES), random.randrange(1000))
    return msgspec.structs.replace(start, rng=rng, hands=tuple(bytes(sorted(hand)) for hand in hands)), moves


def _shown(step: "Step", end: State) -> bool:
    """Return whether the card that was placed in a step lies face up at the end."""
    tap = end.taps.index(step.move.tap)
    return end.piles[tap][len(step.before.piles[tap])] >= FACE_UP


def _set_aside(start: State) -> list[int]:
    deck = Counter(flavor_deck(start.taps, start.options.copies_per_value))
    return list((deck - Counter(code for hand in start.hands for code in hand)).elements())
