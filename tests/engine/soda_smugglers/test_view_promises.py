"""What the contract's comments say about views and events of Soda Smugglers, checked with an onlooker.

`Onlooker` receives the events as `view_event` shows them to one viewer, and its own hand, and works out every field of
the view from them. A view that shows anything else, or an event that does not report what happened, fails.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR, Viewer
from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.components import EFFECTS, NO_EVENT, SUITCASES, TOKENS, Effect, EventCard, Tokens
from engine.soda_smugglers.events import (
    BribesRevealed,
    EventRevealed,
    Inspected,
    LeftBorder,
    Opened,
    Packed,
    RoundEnded,
    RoundStarted,
    Sniffed,
)
from engine.soda_smugglers.state import AcceptBribe, Arrest, Departure, Move, Stage
from engine.soda_smugglers.view import SeatView, Suitcase, View
from tests.engine.plays import Play, plays


@dataclass
class Table:
    """What an onlooker knows of a seat in this round."""

    packed: bool = False
    bribe: int | None = None
    luggage: list[int | None] = field(default_factory=list)
    open: set[int] = field(default_factory=set)
    left: Departure | None = None
    hand: tuple[int, ...] = ()


class Onlooker:
    """A viewer who knows the number of seats, its own hand when it is dealt, and the events that it may see."""

    def __init__(self, seat_count: int, viewer: Viewer) -> None:
        self.seats, self.viewer = seat_count, viewer
        self.rounds = seat_count * (2 if seat_count < 5 else 1)
        self.round = self.guard = 0
        self.caps = [10] * seat_count
        self.stage = Stage.PACKING
        self.card: EventCard | None = None
        self.tokens = TOKENS[seat_count]
        self.tables: list[Table] = []

    @property
    def effect(self) -> Effect:
        return NO_EVENT if self.card is None else EFFECTS[self.card]

    def watch(self, events: tuple[Any, ...], move: Move | None, hand: tuple[int, ...]) -> None:
        """Receive the events of a version, the move of the guard in it, and the own hand after it."""
        for event in events:
            self._receive(SODA_SMUGGLERS.view_event(event, self.viewer), move)
        if self.viewer is not SPECTATOR and not self.tables[self.viewer].packed:
            self.tables[self.viewer].hand = hand

    def _receive(self, event: Any, move: Move | None) -> None:
        match event:
            case RoundStarted(number, guard):
                assert number == self.round + 1
                assert number == 1 or guard == (self.guard + 1) % self.seats
                self.round, self.guard, self.stage, self.card = number, guard, Stage.PACKING, None
                self.tokens = TOKENS[self.seats]
                self.tables = [Table() for _ in range(self.seats)]
            case EventRevealed(card, guard_caps):
                self.card = card
                self.caps[self.guard] += guard_caps
                more, game = self.effect.tokens, self.tokens
                bribe = game.bribe + more.bribe if self.effect.bribes else 0
                self.tokens = Tokens(
                    bribe, game.inspect + more.inspect, game.arrest + more.arrest, more.sniff, more.tip_off
                )
            case Packed(seat, luggage, bribe):
                self._packed(seat, luggage, bribe)
            case BribesRevealed(offers):
                travelers = [seat for seat in range(self.seats) if seat != self.guard]
                assert [offer.seat for offer in offers] == travelers
                for offer in offers:
                    assert self.tables[offer.seat].bribe in (offer.bottles, None)
                    self.tables[offer.seat].bribe = offer.bottles
            case Inspected(seat, slot, bottles):
                self._use("inspect")
                self._opened(seat, slot, bottles)
            case Sniffed():
                self._use("sniff")
                self.stage = Stage.OPENING
            case Opened(seat, slot, bottles):
                self._opened(seat, slot, bottles)
            case LeftBorder():
                self._left(event, move)
            case RoundEnded(number, caps):
                assert (number, list(caps)) == (self.round, self.caps)
                self.stage = Stage.OVER if number == self.rounds else self.stage

    def _packed(self, seat: int, luggage: tuple[int, ...], bribe: int | None) -> None:
        table = self.tables[seat]
        own = seat == self.viewer
        assert len(luggage) == (self.effect.slots if own else 0)
        assert (bribe is not None) == (own and self.effect.bribes)
        table.packed, table.bribe, table.hand = True, bribe, ()
        table.luggage = [*luggage] if own else [None] * self.effect.slots
        if all(each.packed for number, each in enumerate(self.tables) if number != self.guard):
            self.stage = Stage.BRIBES

    def _opened(self, seat: int, slot: int, bottles: int) -> None:
        table = self.tables[seat]
        assert table.luggage[slot - 1] in (bottles, None)
        assert not table.open
        table.luggage[slot - 1] = bottles
        table.open.add(slot)
        self.stage = Stage.INSPECTIONS

    def _left(self, event: LeftBorder, move: Move | None) -> None:
        table = self.tables[event.seat]
        assert all(known in (None, shown) for known, shown in zip(table.luggage, event.luggage, strict=True))
        table.left, table.luggage = event.how, [*event.luggage]
        table.open = set(range(1, len(event.luggage) + 1))
        bottles = sum(event.luggage)
        caught = event.how is Departure.CAUGHT
        paid = 0
        if event.how is Departure.BRIBED:
            paid = min(table.bribe or 0, self.caps[event.seat])
        elif isinstance(move, Arrest):
            assert caught == (bottles > self.effect.allowed)
            paid = 0 if caught or move.tip_off else -min(2, self.caps[self.guard])
        assert (event.caps, event.guard_caps) == (bottles * (not caught) - paid, bottles * caught + paid)
        self.caps[event.seat] += event.caps
        self.caps[self.guard] += event.guard_caps
        if isinstance(move, Arrest):
            self._use("tip_off" if move.tip_off else "arrest")
        elif isinstance(move, AcceptBribe):
            self._use("bribe")
            return
        self.stage = Stage.ARRESTS

    def _use(self, token: str) -> None:
        left = {name: getattr(self.tokens, name) for name in self.tokens.__struct_fields__}
        left[token] -= 1
        assert left[token] >= 0
        self.tokens = Tokens(**left)

    def expects(self) -> View:
        """Return the view."""
        return View(
            round=self.round,
            round_count=self.rounds,
            guard_seat=self.guard,
            stage=self.stage,
            event=self.card,
            event_text=f"{self.effect.name}: {self.effect.text}" if self.card else "",
            tokens=self.tokens,
            seats=tuple(
                SeatView(
                    seat=seat,
                    caps=self.caps[seat],
                    at_border=seat != self.guard and table.left is None,
                    packed=table.packed,
                    bribe=table.bribe,
                    luggage=tuple(
                        Suitcase(slot, slot in table.open, bottles)
                        for slot, bottles in enumerate(table.luggage, start=1)
                    ),
                    left=table.left,
                    hand=table.hand,
                )
                for seat, table in enumerate(self.tables)
            ),
        )


def own_hand(state: Any, viewer: Viewer) -> tuple[int, ...]:
    return () if viewer is SPECTATOR else tuple(sorted(state.hands[viewer]))


@pytest.mark.rule("SS-K3", "SS-B1", "SS-B2", "SS-B3", "SS-B5")
@given(plays("soda_smugglers"), st.data())
def test_a_view_is_what_its_viewer_can_work_out_from_the_events(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    onlooker = Onlooker(played.seat_count, viewer)
    onlooker.watch(played.opening, None, own_hand(played.start, viewer))
    assert SODA_SMUGGLERS.view(played.start, viewer) == onlooker.expects()
    for step in played.steps:
        onlooker.watch(step.events, step.move, own_hand(step.after, viewer))
        assert SODA_SMUGGLERS.view(step.after, viewer) == onlooker.expects()


@given(plays("soda_smugglers"))
def test_the_stage_names_the_seats_that_can_act(played: Play) -> None:
    for state in played.states:
        view, awaited = SODA_SMUGGLERS.view(state, SPECTATOR), SODA_SMUGGLERS.to_act(state)
        if view.stage is Stage.PACKING:
            assert awaited == tuple(seat.seat for seat in view.seats if seat.at_border and not seat.packed)
        elif view.stage is Stage.OPENING:
            assert view.guard_seat not in awaited
            assert len(awaited) == 1
        else:
            assert awaited == (() if view.stage is Stage.OVER else (view.guard_seat,))


@given(plays("soda_smugglers"))
def test_every_traveler_is_dealt_five_suitcases_of_the_game(played: Play) -> None:
    dealt = [bottles for hand in played.start.hands for bottles in hand]
    assert len(dealt) == 5 * (played.seat_count - 1)
    assert all(dealt.count(bottles) <= SUITCASES.count(bottles) for bottles in dealt)
