"""An independent reference of Soda Jerk, written from docs/rules/soda-jerk.md. It shares nothing with the engine.

A `Round` is created with the deal and receives every move. Flavors are their names, a card is `("kiwi", 2)` or
`SWITCHEROO`, and a move is `("place", card, tap)` or `("flip", tap, position)`.
"""

from dataclasses import dataclass, field
from typing import Final

Card = tuple[str, int]
Move = tuple[str, Card, str] | tuple[str, str, int]

SWITCHEROO: Final = ("switcheroo", 0)
EVERY_CARD: Final = [
    *((flavor, value) for flavor in ("strawberry", "blueberry", "banana", "kiwi", "orange") for value in (1, 2, 3)),
    SWITCHEROO,
]


@dataclass
class Laid:
    """A card at a tap."""

    card: Card
    seat: int
    face_up: bool


@dataclass
class Round:
    """A round; `taps` are the flavors in play, `effects` the taps that show their B sides."""

    hands: list[list[Card]]
    taps: list[str]
    effects: list[str]
    turn: int
    flips_in_a_row: int = 0
    over: bool = False
    laid: dict[str, list[Laid]] = field(init=False)
    turns_taken: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.laid = {tap: [] for tap in self.taps}
        self.turns_taken = [0 for _ in self.hands]

    def legal(self) -> set[Move]:
        """Return every legal move of the seat whose turn it is, by trying all possible moves."""
        moves: list[Move] = [("place", card, tap) for card in EVERY_CARD for tap in self.taps]
        moves += [("flip", tap, position) for tap in self.taps for position in range(1, len(self.laid[tap]) + 3)]
        return {move for move in moves if self.allows(move)}

    def allows(self, move: Move) -> bool:
        """Return whether the rules allow the move (SJ-T2, SJ-T3, SJ-T4)."""
        first = self.turns_taken[self.turn] == 0
        match move:
            case ("place", card, str(tap)):
                return card in self.hands[self.turn] and not (first and self.laid[tap])
            case ("flip", str(tap), int(position)):
                exists = position <= len(self.laid[tap])
                return not first and exists and not self.laid[tap][position - 1].face_up
            case _:
                raise AssertionError(move)

    def play(self, move: Move) -> None:
        """Make a move, and end the round if it is over."""
        seat = self.turn
        match move:
            case ("place", tuple(card), str(tap)):
                clear = tap == "banana" and "banana" in self.effects and self.turns_taken[seat] > 0  # SJ-A2
                self.hands[seat].remove(card)
                self.laid[tap].append(Laid(card, seat, clear))
                self.flips_in_a_row = 0
            case ("flip", str(tap), int(position)):
                self.laid[tap][position - 1].face_up = True
                self.flips_in_a_row += 1
                if not [laid for pile in self.laid.values() for laid in pile if not laid.face_up]:  # SJ-E3
                    self.over = True
                if self.flips_in_a_row == len(self.hands):  # SJ-E2
                    self.over = True
        self.turns_taken[seat] += 1
        next_seat = seat + 1 if seat + 1 < len(self.hands) else 0  # SJ-T1
        if len(self.hands[next_seat]) == 3:  # SJ-E1
            self.over = True
        if not self.over:
            self.turn = next_seat

    def value(self, tap: str) -> int:
        """Return the value of a tap (SJ-P1, SJ-P2, SJ-A2, SJ-A3)."""
        cards = [laid.card for laid in self.laid[tap]]
        flavors = [card for card in cards if card != SWITCHEROO]
        total = 0
        for number, (flavor, printed) in enumerate(flavors):
            count = printed
            if tap in self.effects:
                if tap == "strawberry" and flavor == "strawberry":
                    count = 2 * printed
                if tap == "blueberry" and flavor != "blueberry":
                    count = 1
                if tap == "orange" and number == len(flavors) - 1:
                    count = 2 * printed
            total += count if flavor == tap else -count
        if tap == "kiwi" and tap in self.effects:
            total = -total
        for card in cards:
            if card == SWITCHEROO:
                total = -total
        return total

    def points(self, seat: int) -> int:
        """Return the points of a seat (SJ-P3)."""
        points = 0
        for card in self.hands[seat]:
            if card != SWITCHEROO:
                points += self.value(card[0])
        return points


def starters(totals: list[int]) -> set[int]:
    """Return the seats with the lowest total, one of which starts the next round (SJ-G2)."""
    return {seat for seat in range(len(totals)) if all(totals[seat] <= total for total in totals)}


def winners(totals: list[int]) -> set[int]:
    """Return the seats that have won (SJ-G3)."""
    return {seat for seat in range(len(totals)) if all(totals[seat] >= total for total in totals)}
