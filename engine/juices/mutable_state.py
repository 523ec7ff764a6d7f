"""`MutableState`: the state that is changed in place while a move is applied.

A move creates a `MutableState`, the phases change it, and `freeze` returns the new state. The methods move tiles from
one place to another, so that no tile appears or disappears. The phases decide when that happens.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from engine.juices.components import TILES
from engine.juices.events import Event, Reshuffled
from engine.juices.state import Ask, Phase, Seat, State, Step
from engine.rng import shuffle


@lru_cache(maxsize=1024)  # there are few sequences of phases, and each is used by every seat
def _steps(phases: tuple[Phase, ...], seat: int | None) -> tuple[Step, ...]:
    return tuple(Step(phase, seat) for phase in reversed(phases))


class MutableState:
    """The fields of a `State`, which can be changed, and the events since the move began."""

    __slots__ = (
        "agenda",
        "asks",
        "automa",
        "discards",
        "events",
        "last_round",
        "mode",
        "options",
        "order_met",
        "orders",
        "pile",
        "rng",
        "round",
        "seats",
    )

    def __init__(self, state: State) -> None:
        self.options = state.options
        self.mode = state.mode
        self.rng = state.rng
        self.round = state.round
        self.agenda = list(state.agenda)
        self.asks = bytearray(state.asks)
        self.seats = list(state.seats)
        self.pile = state.pile
        self.discards = state.discards
        self.orders = state.orders
        self.order_met = state.order_met
        self.last_round = state.last_round
        self.automa = state.automa
        self.events: list[Event] = []

    def freeze(self) -> State:
        """Return the new state."""
        return State(
            self.options,
            self.mode,
            self.rng,
            self.round,
            tuple(self.agenda),
            bytes(self.asks),
            tuple(self.seats),
            self.pile,
            self.discards,
            self.orders,
            self.order_met,
            self.last_round,
            self.automa,
        )

    # --- Seats and steps ----------------------------------------------------------------------------------------------

    def change(self, seat: int, **changes: Any) -> Seat:
        """Change fields of a seat and return the changed seat."""
        changed = replace(self.seats[seat], **changes)
        self.seats[seat] = changed
        return changed

    def ask(self, seat: int, ask: Ask) -> None:
        """Require a decision from a seat."""
        self.asks[seat] = ask

    def clear_ask(self, seat: int) -> None:
        """Require no decision from a seat."""
        self.asks[seat] = Ask.NOTHING

    def push(self, phases: tuple[Phase, ...], seat: int | None = None) -> None:
        """Put phases on top of the agenda; the first of them comes next."""
        self.agenda += _steps(phases, seat)

    def seats_of(self, seat: int | None) -> Iterable[int]:
        """Return the seats of a step: one seat, or all for None."""
        return range(len(self.seats)) if seat is None else (seat,)

    # --- Tiles --------------------------------------------------------------------------------------------------------

    def left(self) -> int:
        """Return the number of tiles that can still be drawn."""
        return len(self.pile) + len(self.discards)

    def draw(self) -> int:
        """Draw a tile from the pile. If it is empty, the shuffled discards become the pile first (JU-D3)."""
        if not self.pile:
            tiles, self.rng = shuffle(self.rng, self.discards)
            self.pile, self.discards = bytes(tiles), b""
            self.events.append(Reshuffled(len(tiles)))
        tile = self.pile[-1]
        self.pile = self.pile[:-1]
        return tile

    def can_draw(self, *, wild: bool = True, complement: bool = True) -> bool:
        """Return whether any tile can be drawn, other than wilds or complement tiles if these are excluded."""
        if wild and complement:
            return self.left() > 0
        tiles = [TILES[tile] for tile in (*self.pile, *self.discards)]
        return any((wild or not tile.wild) and (complement or tile.complement is None) for tile in tiles)

    def discard(self, tiles: Iterable[int]) -> None:
        """Add tiles to the discards. The discards are kept sorted, because their order must reveal nothing."""
        self.discards = bytes(sorted((*self.discards, *tiles)))

    def take(self, tile: int) -> None:
        """Take a tile from the discards."""
        at = self.discards.index(tile)
        self.discards = self.discards[:at] + self.discards[at + 1 :]
