"""An independent reference of Soda Smugglers, written from docs/rules/soda-smugglers.md.

It shares nothing with the engine.

A `Round` is created with the deal and receives every move. Event cards are their names, and a move is a tuple that
begins with its name: `("pack", luggage, bribe)`, `("accept", seat)`, `("accept all",)`, `("inspect", seat, slot)`,
`("sniff", seat)`, `("open", slot)`, `("arrest", seat)`, `("tip-off", seat)`, `("wave",)`.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any, Final

Move = tuple[Any, ...]

BRIBE_TOKENS: Final = {3: 1, 4: 1, 5: 1, 6: 1, 7: 2, 8: 2}
INSPECT_TOKENS: Final = {3: 1, 4: 1, 5: 1, 6: 2, 7: 2, 8: 2}
ARREST_TOKENS: Final = {3: 1, 4: 1, 5: 2, 6: 2, 7: 2, 8: 3}


SUITCASES: Final = range(4)
POSSIBLE_MOVES: Final[tuple[Move, ...]] = (
    *(
        ("pack", luggage, bribe)
        for slots in (2, 3)
        for luggage in product(SUITCASES, repeat=slots)
        for bribe in (None, *SUITCASES)
    ),
    *((act, seat) for act in ("accept", "sniff", "arrest", "tip-off", "open") for seat in range(8)),
    *(("inspect", seat, slot) for seat in range(8) for slot in range(5)),
    ("accept all",),
    ("wave",),
)


@dataclass
class Traveler:
    """A traveler in a round."""

    hand: list[int]
    luggage: list[int] | None = None
    bribe: int | None = None
    open_slots: set[int] = field(default_factory=set)
    inspected: bool = False
    gone: bool = False


@dataclass
class Round:
    """A round; `caps` are the caps of all seats and change during the round."""

    guard: int
    hands: list[list[int]]
    caps: list[int]
    event: str | None
    stage: int = 0  # of the guard's turn: 0 at its start, 1 bribes, 2 inspections, 3 arrests
    touched: bool = False
    sniffing: int | None = None
    over: bool = False
    travelers: dict[int, Traveler] = field(init=False)

    def __post_init__(self) -> None:
        seats = len(self.hands)
        self.travelers = {seat: Traveler(list(hand)) for seat, hand in enumerate(self.hands) if seat != self.guard}
        self.bribe_tokens, self.inspect_tokens = BRIBE_TOKENS[seats], INSPECT_TOKENS[seats]  # SS-C3
        self.arrest_tokens, self.sniffs, self.tip_offs = ARREST_TOKENS[seats], 0, 0
        if self.event == "birthday":  # SS-V1
            self.caps[self.guard] += 2
        if self.event == "breakage":  # SS-V2, SS-B6
            for _ in range(self.arrest_tokens):
                if self.caps[self.guard] > 0:
                    self.caps[self.guard] -= 1
        if self.event == "night shift":  # SS-V3
            self.bribe_tokens += 1
        if self.event == "superior officer":  # SS-V5
            self.bribe_tokens = 0
            self.inspect_tokens += 1
        if self.event == "sniffer dog":  # SS-V6
            self.inspect_tokens -= 1
            self.sniffs = 1
        if self.event == "tip-off":  # SS-V7
            self.tip_offs = 1

    # --- Legal moves

    def awaited(self) -> set[int]:
        """Return the seats that must act (SS-K3, SS-V6)."""
        if self.over:
            return set()
        unpacked = {seat for seat, traveler in self.travelers.items() if traveler.luggage is None}
        if unpacked:
            return unpacked
        return {self.guard if self.sniffing is None else self.sniffing}

    def legal(self, seat: int) -> set[Move]:
        """Return every legal move of a seat, by trying all possible moves."""
        if seat not in self.awaited():
            return set()
        return {move for move in POSSIBLE_MOVES if self.allows(seat, move)}

    def allows(self, seat: int, move: Move) -> bool:
        """Return whether the rules allow a move of an awaited seat."""
        if seat != self.guard:
            mine = self.travelers[seat]
            if mine.luggage is None:
                return move[0] == "pack" and self.can_pack(mine, move[1], move[2])
            if move[0] != "open" or not 1 <= move[1] <= len(mine.luggage):
                return False
            return all(mine.luggage[move[1] - 1] >= bottles for bottles in mine.luggage)  # SS-V6
        match move:
            case ("wave",):  # SS-B5
                return True
            case ("accept all",):  # SS-V4
                return self.event == "temptation" and not self.touched
            case ("accept", other):  # SS-B0, SS-B1
                return self.bribe_tokens > 0 and self.stage <= 1 and self.at_border(other)
            case ("inspect", other, slot):  # SS-B2
                in_luggage = 1 <= slot <= (3 if self.event == "holiday season" else 2)
                fresh = self.at_border(other) and not self.travelers[other].inspected
                return self.inspect_tokens > 0 and self.stage <= 2 and fresh and in_luggage
            case ("sniff", other):  # SS-V6
                return (
                    self.sniffs > 0
                    and self.stage <= 2
                    and self.at_border(other)
                    and not self.travelers[other].inspected
                )
            case ("arrest", other):  # SS-B3
                return self.arrest_tokens > 0 and self.at_border(other)
            case ("tip-off", other):  # SS-V7
                return self.tip_offs > 0 and self.at_border(other)
        return False

    def can_pack(self, mine: Traveler, luggage: tuple[int, ...], bribe: int | None) -> bool:
        """Return whether a hand allows a pack (SS-K2, SS-V5, SS-V8)."""
        suitcases = [*luggage] if bribe is None else [*luggage, bribe]
        if len(luggage) != (3 if self.event == "holiday season" else 2):
            return False
        if (bribe is None) != (self.event == "superior officer"):
            return False
        return all(suitcases.count(bottles) <= mine.hand.count(bottles) for bottles in suitcases)

    def at_border(self, seat: int) -> bool:
        """Return whether a seat is a traveler at the border."""
        return seat in self.travelers and not self.travelers[seat].gone

    # --- Moves

    def play(self, seat: int, move: Move) -> None:
        """Make a move."""
        match move:
            case ("pack", luggage, bribe):
                self.travelers[seat].luggage = list(luggage)
                self.travelers[seat].bribe = bribe
                return
            case ("open", slot):
                self.travelers[seat].open_slots.add(slot)
                self.sniffing = None
                return
            case ("accept", other):
                self.bribe_tokens -= 1
                self.stage = 1
                self.pass_for_bribe(other)
            case ("accept all",):
                for other in list(self.travelers):
                    self.pass_for_bribe(other)
            case ("inspect", other, slot):
                self.inspect_tokens -= 1
                self.stage = 2
                self.travelers[other].inspected = True
                self.travelers[other].open_slots.add(slot)
            case ("sniff", other):
                self.sniffs -= 1
                self.stage = 2
                self.travelers[other].inspected = True
                self.sniffing = other
            case ("arrest", other):
                self.arrest_tokens -= 1
                self.stage = 3
                self.take(other, owed=2)
            case ("tip-off", other):
                self.tip_offs -= 1
                self.stage = 3
                self.take(other, owed=0)
            case ("wave",):
                for other, traveler in self.travelers.items():
                    if not traveler.gone:
                        self.caps[other] += sum(traveler.luggage or [])
                        traveler.gone = True
        self.touched = True
        if all(traveler.gone for traveler in self.travelers.values()):  # SS-B0
            self.over = True

    def pass_for_bribe(self, seat: int) -> None:
        """Let a traveler pay its bribe, one cap at a time, and leave (SS-B1, SS-B6)."""
        traveler = self.travelers[seat]
        for _ in range(traveler.bribe or 0):
            if self.caps[seat] > 0:
                self.caps[seat] -= 1
                self.caps[self.guard] += 1
        self.caps[seat] += sum(traveler.luggage or [])
        traveler.gone = True

    def take(self, seat: int, owed: int) -> None:
        """Arrest a traveler; `owed` are the caps that the guard owes for a mistake (SS-B3, SS-B4, SS-B6)."""
        traveler = self.travelers[seat]
        bottles = sum(traveler.luggage or [])
        too_many = 2
        if self.event == "birthday":
            too_many = 3
        if self.event == "breakage":
            too_many = 1
        if bottles >= too_many:
            self.caps[self.guard] += bottles
        else:
            for _ in range(owed):
                if self.caps[self.guard] > 0:
                    self.caps[self.guard] -= 1
                    self.caps[seat] += 1
            self.caps[seat] += bottles
        traveler.gone = True

    # --- Views

    def sees(self, viewer: int | None, seat: int) -> list[int | None]:
        """Return a seat's luggage as a viewer knows it (SS-K3, SS-B7)."""
        traveler = self.travelers.get(seat)
        if traveler is None or traveler.luggage is None:
            return []
        return [
            bottles if viewer == seat or traveler.gone or slot in traveler.open_slots else None
            for slot, bottles in enumerate(traveler.luggage, start=1)
        ]

    def sees_bribe(self, viewer: int | None, seat: int) -> int | None:
        """Return a seat's bribe as a viewer knows it (SS-K3)."""
        if seat not in self.travelers:
            return None
        all_packed = all(traveler.luggage is not None for traveler in self.travelers.values())
        return self.travelers[seat].bribe if all_packed or viewer == seat else None


def rounds_of(seat_count: int) -> int:
    """Return the number of rounds of a game (SS-S3)."""
    return 2 * seat_count if seat_count in {3, 4} else seat_count


def winners(caps: list[int]) -> set[int]:
    """Return the seats that have won (SS-G1)."""
    return {seat for seat in range(len(caps)) if all(caps[seat] >= other for other in caps)}
