"""What the contract's comments say about views and events of Soda Jerk, checked with an onlooker.

`Onlooker` receives the events as `view_event` shows them to one viewer, and its own hand when it is dealt, and works
out every field of the view from them, to the end of the game. A view that shows anything else, or an event that does
not report what happened, fails.
"""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR, Viewer
from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.components import B_SIDES, CARDS, FULL_HAND, Card, Flavor
from engine.soda_jerk.events import Flipped, Hand, Placed, PlacedCard, RoundEnded, RoundResult, RoundStarted, Tap
from engine.soda_jerk.state import State
from engine.soda_jerk.view import View
from tests.engine.plays import Play, plays


class Onlooker:
    """A viewer who knows the options, the taps in play, its own hand when it is dealt, and the events."""

    def __init__(self, played: Play, viewer: Viewer) -> None:
        self.viewer, self.seats = viewer, played.seat_count
        self.advanced = played.options.advanced
        self.flavors: tuple[Flavor, ...] = played.start.taps
        self.round = self.first_seat = self.flips = 0
        self.effects: tuple[Flavor, ...] = ()
        self.taps: dict[Flavor, list[PlacedCard]] = {}
        self.sizes: list[int] = []
        self.own: list[Card] = []
        self.turns: list[int] = []
        self.finished: list[RoundResult] = []
        self.over = False

    def watch(self, events: tuple[Any, ...], after: State) -> None:
        """Receive the events of a version. The state shows the own hand only when a round starts."""
        for event in events:
            self._receive(SODA_JERK.view_event(event, self.viewer), after)

    def _receive(self, event: Any, after: State) -> None:
        match event:
            case RoundStarted(number, first_seat, effects):
                assert number == self.round + 1
                assert set(self.effects) <= set(effects) <= set(self.flavors if self.advanced else ())
                self.round, self.first_seat, self.effects, self.flips = number, first_seat, effects, 0
                self.taps = {flavor: [] for flavor in self.flavors}
                self.sizes = [FULL_HAND[self.seats]] * self.seats
                self.turns = [0] * self.seats
                self.own = [] if self.viewer is SPECTATOR else [CARDS[code] for code in after.hands[self.viewer]]
            case Placed(seat, tap, card):
                self._placed(seat, tap, card)
            case Flipped(seat, tap, card):
                before = self.taps[tap][card.position - 1]
                assert not before.face_up
                assert (card.position, card.seat, card.face_up) == (before.position, before.seat, True)
                assert card.card is not None
                assert before.card in (None, card.card)
                self.taps[tap][card.position - 1] = card
                self.flips += 1
                self.turns[seat] += 1
            case RoundEnded(result):
                self._ended(result)

    def _placed(self, seat: int, tap: Flavor, card: PlacedCard) -> None:
        open_tap = tap == Flavor.BANANA and tap in self.effects and self.turns[seat] > 0
        assert (card.position, card.seat, card.face_up) == (len(self.taps[tap]) + 1, seat, open_tap)
        assert (card.card is not None) == (open_tap or seat == self.viewer)
        self.taps[tap].append(card)
        self.sizes[seat] -= 1
        self.turns[seat] += 1
        self.flips = 0
        if seat == self.viewer and card.card is not None:
            self.own.remove(card.card)

    def _ended(self, result: RoundResult) -> None:
        assert result.round == self.round
        assert [hand.seat for hand in result.hands] == list(range(self.seats))
        for hand, size in zip(result.hands, self.sizes, strict=True):
            assert hand.size == len(hand.cards) == size
            assert hand.cards == tuple(sorted(hand.cards, key=CARDS.index))
            assert hand.seat != self.viewer or list(hand.cards) == self.own
        for tap, known in zip(result.taps, self.taps.values(), strict=True):
            for shown, before in zip(tap.cards, known, strict=True):
                assert (shown.position, shown.seat, shown.face_up) == (before.position, before.seat, True)
                assert before.card in (None, shown.card)
                assert shown.card is not None
        assert len(result.points) == self.seats
        assert len(result.tap_values) == len(result.taps)
        self.finished.append(result)
        self.over = self.round == 3

    def expects(self) -> View:
        """Return the view."""
        hands = tuple(
            Hand(seat, size, tuple(self.own) if seat == self.viewer else ()) for seat, size in enumerate(self.sizes)
        )
        taps = tuple(
            Tap(flavor, flavor in self.effects, B_SIDES[flavor].text if self.advanced else "", tuple(cards))
            for flavor, cards in self.taps.items()
        )
        if self.over:
            hands, taps = self.finished[-1].hands, self.finished[-1].taps
        return View(self.round, self.first_seat, self.flips, taps, hands, tuple(self.finished))


@pytest.mark.rule("SJ-T5", "SJ-P1")
@given(plays("soda_jerk"), st.data())
def test_a_view_is_what_its_viewer_can_work_out_from_the_events(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    onlooker = Onlooker(played, viewer)
    onlooker.watch(played.opening, played.start)
    assert SODA_JERK.view(played.start, viewer) == onlooker.expects()
    for step in played.steps:
        onlooker.watch(step.events, step.after)
        assert SODA_JERK.view(step.after, viewer) == onlooker.expects()


@given(plays("soda_jerk"))
def test_a_round_ends_when_every_seat_in_a_row_has_flipped(played: Play) -> None:
    for step in played.steps:
        ended = [event for event in step.events if isinstance(event, RoundEnded)]
        before = SODA_JERK.view(step.before, SPECTATOR).flips_in_a_row
        assert before < played.seat_count
        assert ended or before + 1 < played.seat_count or not isinstance(step.events[0], Flipped)


@given(plays("soda_jerk"))
def test_the_points_of_finished_rounds_are_those_of_the_score(played: Play) -> None:
    for state in (played.steps[len(played.steps) // 2].after, played.end):
        results = SODA_JERK.view(state, SPECTATOR).finished_rounds
        for player in SODA_JERK.score(state).scores:
            assert player.seat is not None
            for result in results:
                points = sum(line.points for line in player.lines if line.round == result.round)
                assert points == result.points[player.seat]
