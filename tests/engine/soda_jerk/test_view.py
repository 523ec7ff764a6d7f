"""Views show everything that a viewer may know, and texts describe it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR, Viewer
from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.components import CARDS, Card, Flavor
from engine.soda_jerk.events import Event, Flipped, Hand, Placed, PlacedCard, RoundEnded, RoundResult, RoundStarted, Tap
from engine.soda_jerk.state import Flip, Move, Place, State
from engine.soda_jerk.view import View
from tests.engine.plays import Play, plays
from tests.engine.soda_jerk.positions import BANANA, GAME, KIWI, ORANGE, SIX, new, place, play, position


class Onlooker:
    """A viewer who observes all public events and its own cards, and remembers them."""

    def __init__(self, viewer: Viewer, seat_count: int, flavors: tuple[Flavor, ...], texts: dict[Flavor, str]) -> None:
        self.viewer, self.seat_count, self.flavors, self.texts = viewer, seat_count, flavors, texts
        self.finished: list[RoundResult] = []

    def deal(self, event: RoundStarted, own: list[Card], size: int) -> None:
        self.round, self.first_seat, self.effects = event.round, event.first_seat, event.active_effects
        self.own, self.sizes = own, [size] * self.seat_count
        self.taps: dict[Flavor, list[PlacedCard]] = {flavor: [] for flavor in self.flavors}
        self.flips = 0

    def watch(self, seat: int, move: Move, event: Event) -> None:
        """Observe a move. Only the public part of the event is used."""
        if isinstance(move, Place):
            assert isinstance(event, Placed)
            known = seat == self.viewer or event.card.face_up
            pile = self.taps[move.tap]
            pile.append(PlacedCard(len(pile) + 1, seat, event.card.face_up, move.card if known else None))
            self.sizes[seat] -= 1
            self.flips = 0
            if seat == self.viewer:
                self.own.remove(move.card)
        else:
            assert isinstance(event, Flipped)
            pile = self.taps[move.tap]
            before = pile[move.position - 1]
            pile[move.position - 1] = PlacedCard(move.position, before.seat, True, event.card.card)
            self.flips += 1

    def expects(self) -> View:
        return View(
            round=self.round,
            first_seat=self.first_seat,
            flips_in_a_row=self.flips,
            taps=tuple(
                Tap(flavor, flavor in self.effects, self.texts[flavor], tuple(self.taps[flavor]))
                for flavor in self.flavors
            ),
            hands=tuple(
                Hand(seat, size, tuple(self.own) if seat == self.viewer else ()) for seat, size in enumerate(self.sizes)
            ),
            finished_rounds=tuple(self.finished),
        )


def dealt(state: State, viewer: Viewer) -> list[Card]:
    return [] if viewer is SPECTATOR else [CARDS[code] for code in state.hands[viewer]]


@given(plays("soda_jerk"), st.data())
def test_a_viewer_sees_all_that_can_be_observed(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    texts = {tap.flavor: tap.effect_text for tap in SODA_JERK.view(played.start, viewer).taps}
    onlooker = Onlooker(viewer, played.seat_count, played.start.taps, texts)
    size = len(played.start.hands[0])
    onlooker.deal(played.opening[0], dealt(played.start, viewer), size)
    assert SODA_JERK.view(played.start, viewer) == onlooker.expects()
    for step in played.steps:
        onlooker.watch(step.seat, step.move, step.events[0])
        for event in step.events:
            if isinstance(event, RoundEnded):
                onlooker.finished.append(event.result)
            elif isinstance(event, RoundStarted):
                onlooker.deal(event, dealt(step.after, viewer), size)
        if SODA_JERK.to_act(step.after):
            assert SODA_JERK.view(step.after, viewer) == onlooker.expects()


@given(plays("soda_jerk"))
def test_a_round_result_shows_where_every_dealt_card_went(played: Play) -> None:
    start = played.start
    for step in played.steps:
        for event in step.events:
            if isinstance(event, RoundEnded):
                at_taps = Counter(placed.card for tap in event.result.taps for placed in tap.cards)
                in_hands = Counter(card for hand in event.result.hands for card in hand.cards)
                assert at_taps + in_hands == Counter(CARDS[code] for hand in start.hands for code in hand)
                start = step.after


def test_a_seat_that_does_not_exist_sees_what_a_spectator_sees() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0 kiwi1/2^"})
    assert GAME.view(state, 3) == GAME.view(state, -1) == GAME.view(state, SPECTATOR)


def test_the_last_view_of_a_game_shares_the_results_of_earlier_rounds() -> None:
    """Results are the same objects, so their translation can be cached."""
    state = play(position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, flips=2), Flip(KIWI, 1))
    (result,) = GAME.view(state, 0).finished_rounds
    assert GAME.view(state, SPECTATOR).finished_rounds[0] is result


# --- Texts ------------------------------------------------------------------------------------------------------------


def test_the_prompt_of_a_first_turn_is_to_place() -> None:
    state = new(3)
    assert GAME.prompt(state, state.seat) == "Place a card at a tap without cards."


def test_the_prompt_of_a_turn_is_to_place_or_flip() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0 kiwi1/1"}, flips=1)
    assert GAME.prompt(state, 0) == "Place a card or flip a face-down card."


def test_a_prompt_warns_of_the_flip_that_completes_the_row() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0 kiwi1/1"}, flips=2)
    assert GAME.prompt(state, 0) == "Place a card or flip a face-down card; a flip ends the round."


def test_a_prompt_warns_of_the_flip_of_the_last_face_down_card() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0 kiwi1/1^"})
    assert GAME.prompt(state, 0) == "Place a card or flip a face-down card; a flip ends the round."


def test_moves_have_labels() -> None:
    assert GAME.label(place("kiwi2", BANANA)) == "Place Kiwi 2 at Banana"
    assert GAME.label(place("switcheroo", KIWI)) == "Place Switcheroo at Kiwi"
    assert GAME.label(Flip(ORANGE, 12)) == "Flip card 12 at Orange"


def test_the_start_of_a_round_is_described_with_its_effects() -> None:
    assert GAME.describe(RoundStarted(1, 2, ())) == "Round 1 starts with seat 2."
    text = GAME.describe(RoundStarted(2, 0, (BANANA, KIWI, ORANGE)))
    assert text == "Round 2 starts with seat 0. House effects apply at Banana, Kiwi and Orange."


def test_a_flip_of_an_own_card_is_described_as_such() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "switcheroo/0 kiwi1/1"})
    _, (event,) = GAME.apply(state, 0, Flip(KIWI, 1))
    assert GAME.describe(event) == "Seat 0 flips its own card 1 at Kiwi: a Switcheroo."
