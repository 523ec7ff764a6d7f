"""A state that is being changed: the working copy of one move, thrown away when the new state is made of it.

It only knows how tiles change places, so that none appears or disappears; the phases know when they do.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from engine.juices.agenda import Phase, Step
from engine.juices.components import TILES
from engine.juices.events import Event, Reshuffled
from engine.juices.state import Ask, Seat, State
from engine.rng import shuffle


@lru_cache(maxsize=1024)  # a few rows of phases, and as many seats as there are
def _steps(phases: tuple[Phase, ...], seat: int | None) -> tuple[Step, ...]:
    return tuple(Step(phase, seat) for phase in reversed(phases))


class Table:
    """The parts of a state, open for change, and what happened since it was opened."""

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

    def close(self) -> State:
        """Makes the new state."""
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
        """Changes something of a seat."""
        changed = replace(self.seats[seat], **changes)
        self.seats[seat] = changed
        return changed

    def ask(self, seat: int, ask: Ask) -> None:
        """Asks a seat something."""
        self.asks[seat] = ask

    def answered(self, seat: int) -> None:
        """Asks a seat nothing any more."""
        self.asks[seat] = 0

    def push(self, phases: tuple[Phase, ...], seat: int | None = None) -> None:
        """Puts phases before everything else that is to come; the first of them comes next."""
        self.agenda += _steps(phases, seat)

    def everybody_or(self, seat: int | None) -> Iterable[int]:
        """Lists the seats that a step is for."""
        return range(len(self.seats)) if seat is None else (seat,)

    # --- Tiles --------------------------------------------------------------------------------------------------------

    def left(self) -> int:
        """Counts the tiles that can still be drawn."""
        return len(self.pile) + len(self.discards)

    def draw(self) -> int:
        """Takes a tile from the pile; when it is empty, the shuffled discards become the pile first (JU-D3)."""
        if not self.pile:
            tiles, self.rng = shuffle(self.rng, self.discards)
            self.pile, self.discards = bytes(tiles), b""
            self.events.append(Reshuffled(len(tiles)))
        tile = self.pile[-1]
        self.pile = self.pile[:-1]
        return tile

    def can_draw(self, *, wild: bool = True, complement: bool = True) -> bool:
        """Tells whether a tile is left to draw: any, or one that is no wild, or one without a complement."""
        if wild and complement:
            return self.left() > 0
        tiles = [TILES[tile] for tile in (*self.pile, *self.discards)]
        return any((wild or not tile.wild) and (complement or tile.complement is None) for tile in tiles)

    def discard(self, tiles: Iterable[int]) -> None:
        """Puts tiles on the discards, which are a set: nobody can tell in which order they came."""
        self.discards = bytes(sorted((*self.discards, *tiles)))

    def take(self, tile: int) -> None:
        """Takes a tile out of the discards."""
        at = self.discards.index(tile)
        self.discards = self.discards[:at] + self.discards[at + 1 :]
