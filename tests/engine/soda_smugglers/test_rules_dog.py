"""The event cards Sniffer Dog, Tip-Off and Holiday Season: SS-V6, SS-V7, SS-V8."""

import pytest

from engine.errors import NotYourTurn
from engine.game import SPECTATOR
from engine.soda_smugglers.components import EventCard
from engine.soda_smugglers.events import Opened, Sniffed
from engine.soda_smugglers.state import AcceptBribe, Arrest, Departure, Inspect, Open, Pack, Sniff, Stage
from tests.engine.soda_smugglers.positions import (
    FIVE,
    GAME,
    WAVE,
    border,
    caps,
    departures,
    error_text,
    happens,
    known,
    legal,
    packed,
    packing,
    play,
)

EMPTY = "00+0"


# --- Sniffer Dog ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-V6")
@pytest.mark.parametrize(("seat_count", "inspections"), [(3, 0), (4, 0), (5, 0), (6, 1), (7, 1), (8, 1)])
def test_the_dog_takes_the_place_of_one_inspect_token(seat_count: int, inspections: int) -> None:
    state = border(*[EMPTY] * (seat_count - 1), event=EventCard.SNIFFER_DOG)
    assert (state.tokens.inspect, state.tokens.sniff) == (inspections, 1)
    assert bool(legal(state, Inspect)) == (inspections > 0)


@pytest.mark.rule("SS-V6")
@pytest.mark.parametrize(
    ("pack", "slots"), [("21+0", [1]), ("12+3", [2]), ("11+3", [1, 2]), ("00+3", [1, 2]), ("03+0", [2])]
)
def test_the_traveler_opens_one_of_the_fullest(pack: str, slots: list[int]) -> None:
    state = play(border(pack, EMPTY, event=EventCard.SNIFFER_DOG), Sniff(1))
    assert GAME.to_act(state) == (1,)
    assert GAME.legal_moves(state, 1) == tuple(Open(slot) for slot in slots)
    for slot in {1, 2} - set(slots):
        assert error_text(state, 1, Open(slot)) == "Open your fullest suitcase, or one of the fullest."
    for slot in (-1, 0, 3):
        assert error_text(state, 1, Open(slot)) == f"You have no suitcase {slot}."


@pytest.mark.rule("SS-V6")
@pytest.mark.parametrize(
    ("tie", "forced", "slot"), [("11+0", "10+0", 1), ("11+0", "01+0", 2), ("33+2", "32+2", 1), ("22+3", "02+3", 2)]
)
def test_a_tie_is_indistinguishable_from_a_forced_choice(tie: str, forced: str, slot: int) -> None:
    """The other suitcase has equally many or fewer bottles: only the traveler sees the difference."""
    state = border(tie, EMPTY, EMPTY, event=EventCard.SNIFFER_DOG)
    other = border(forced, EMPTY, EMPTY, event=EventCard.SNIFFER_DOG)
    assert len(legal(play(state, Sniff(1)), Open)) > len(legal(play(other, Sniff(1)), Open)) == 1
    for move in (Sniff(1), Open(slot)):
        assert happens(state, move) == happens(other, move)
        state, other = play(state, move), play(other, move)
        assert GAME.to_act(state) == GAME.to_act(other)
        assert GAME.score(state) == GAME.score(other)
        for viewer in (0, 2, 3, SPECTATOR):
            assert GAME.view(state, viewer) == GAME.view(other, viewer)
        for seat in (0, 2, 3):
            assert GAME.legal_moves(state, seat) == GAME.legal_moves(other, seat)
            assert GAME.prompt(state, seat) == GAME.prompt(other, seat)


@pytest.mark.rule("SS-V6")
@pytest.mark.parametrize("pack", ["10+0", "11+0"])
def test_the_prompt_of_the_traveler_is_the_same_with_and_without_a_choice(pack: str) -> None:
    state = play(border(pack, EMPTY, event=EventCard.SNIFFER_DOG), Sniff(1))
    assert GAME.prompt(state, 1) == "The dog has come to you. Open your fullest suitcase, or any of the fullest."


@pytest.mark.rule("SS-V6")
def test_no_other_seat_can_act_while_an_opening_is_due() -> None:
    state = play(border("21+0", EMPTY, event=EventCard.SNIFFER_DOG), Sniff(1))
    assert state.stage is Stage.OPENING
    for seat in (0, 2):
        assert GAME.legal_moves(state, seat) == ()
        with pytest.raises(NotYourTurn):
            GAME.apply(state, seat, WAVE)
    assert error_text(state, 1, WAVE) == "Now you open a suitcase for the dog."


@pytest.mark.rule("SS-V6")
def test_a_sniff_is_described() -> None:
    state = border("21+0", EMPTY, event=EventCard.SNIFFER_DOG)
    assert happens(state, Sniff(1)) == [Sniffed(1)]
    assert happens(state, Sniff(1), Open(1)) == [Opened(1, 1, 2)]
    assert GAME.describe(Sniffed(1)) == "The guard sends the dog to seat 1."
    assert GAME.describe(Opened(1, 1, 2)) == "Seat 1 opens suitcase 1 for the dog: 2 bottles."


@pytest.mark.rule("SS-V6")
def test_the_suitcase_opened_for_the_dog_is_public() -> None:
    state = play(border("21+0", EMPTY, event=EventCard.SNIFFER_DOG), Sniff(1), Open(1))
    assert known(state, 1) == [2, None]
    assert GAME.to_act(state) == (0,)


@pytest.mark.rule("SS-V6")
def test_a_sniff_is_an_inspection() -> None:
    """It belongs to the same stage, uses a token, and counts as the only inspection of the traveler in the round."""
    six = ["21+0", *[EMPTY] * 4]
    state = play(border(*six, event=EventCard.SNIFFER_DOG), Sniff(1), Open(1))
    assert state.stage is Stage.INSPECTIONS
    assert error_text(state, 0, AcceptBribe(2)) == "Now it is your turn as the guard; bribes are over."
    assert error_text(state, 0, Sniff(2)) == "You have no dog to send."
    assert (
        error_text(state, 0, Inspect(1, 2))
        == "A suitcase of seat 1 was opened already; only one can be opened in a round."
    )
    assert legal(state, Inspect) == [Inspect(seat, slot) for seat in (2, 3, 4, 5) for slot in (1, 2)]
    state = play(border(*six, event=EventCard.SNIFFER_DOG), Inspect(1, 1))
    assert legal(state, Sniff) == [Sniff(seat) for seat in (2, 3, 4, 5)]
    assert (
        error_text(state, 0, Sniff(1)) == "A suitcase of seat 1 was opened already; only one can be opened in a round."
    )


@pytest.mark.rule("SS-V6")
def test_the_dog_is_not_sent_after_an_arrest() -> None:
    state = play(border(EMPTY, EMPTY, EMPTY, event=EventCard.SNIFFER_DOG), Arrest(1))
    assert legal(state, Sniff) == []
    assert error_text(state, 0, Sniff(2)) == "Now it is your turn as the guard; bribes and inspections are over."


@pytest.mark.rule("SS-V6")
def test_the_dog_is_sent_to_a_traveler_at_the_border() -> None:
    state = play(border(EMPTY, EMPTY, EMPTY, event=EventCard.SNIFFER_DOG), AcceptBribe(1))
    assert legal(state, Sniff) == [Sniff(2), Sniff(3)]
    for seat in (-1, 0, 1, 4):
        assert error_text(state, 0, Sniff(seat)) == f"Seat {seat} is not a traveler at the border."


# --- Tip-Off and Holiday Season ---------------------------------------------------------------------------------------


@pytest.mark.rule("SS-V7")
def test_a_tip_off_is_one_more_arrest_in_any_order() -> None:
    state = border("21+0", EMPTY, "30+0", event=EventCard.TIP_OFF)
    for first, second in ((Arrest(1), Arrest(3, tip_off=True)), (Arrest(1, tip_off=True), Arrest(3))):
        assert caps(state, first, second) == (16, 10, 10, 10)
        after = play(state, first, second)
        assert (after.tokens.arrest, after.tokens.tip_off) == (0, 0)
        assert legal(after, Arrest) == []


@pytest.mark.rule("SS-V7")
def test_the_guard_chooses_token_or_card_for_each_arrest() -> None:
    state = border(EMPTY, EMPTY, event=EventCard.TIP_OFF)
    assert legal(state, Arrest) == [Arrest(1), Arrest(2), Arrest(1, True), Arrest(2, True)]
    assert legal(play(state, Arrest(1, True)), Arrest) == [Arrest(2)]
    assert legal(play(state, Arrest(1)), Arrest) == [Arrest(2, True)]
    assert error_text(play(state, Arrest(1, True)), 0, Arrest(2, True)) == "You have no tip-off."
    assert error_text(border(EMPTY, EMPTY), 0, Arrest(1, True)) == "You have no tip-off."


@pytest.mark.rule("SS-V7")
@pytest.mark.parametrize(("pack", "bottles"), [("00+3", 0), ("10+0", 1)])
def test_an_undue_tip_off_costs_nothing_and_the_traveler_gains_the_bottles(pack: str, bottles: int) -> None:
    state = border(pack, EMPTY, event=EventCard.TIP_OFF)
    assert caps(state, Arrest(1, tip_off=True)) == (10, 10 + bottles, 10)
    assert caps(state, Arrest(1)) == (8, 12 + bottles, 10)
    (event,) = departures(happens(state, Arrest(1, tip_off=True)))
    assert event.how is Departure.UNDULY_ARRESTED


@pytest.mark.rule("SS-V8")
def test_three_suitcases_are_packed_in_the_holiday_season() -> None:
    state = packing("00123", FIVE, event=EventCard.HOLIDAY_SEASON)
    moves = GAME.legal_moves(state, 1)
    assert all(isinstance(move, Pack) and len(move.luggage) == 3 and move.bribe is not None for move in moves)
    assert len(moves) == len(set(moves)) == 60
    assert error_text(state, 1, packed("23+1")) == "Pack 3 suitcases as luggage this round, not 2."
    state, _ = GAME.apply(state, 1, packed("230+1"))
    assert len(state.hands[1]) == 1
    assert known(state, 1, viewer=1) == [2, 3, 0]
    assert known(state, 1) == [None, None, None]
    assert GAME.prompt(state, 2) == "Pack three suitcases as luggage and offer one as a bribe."


@pytest.mark.rule("SS-V8")
def test_each_of_three_slots_can_be_inspected_but_only_one() -> None:
    state = border("123+0", "000+0", event=EventCard.HOLIDAY_SEASON)
    assert legal(state, Inspect) == [Inspect(seat, slot) for seat in (1, 2) for slot in (1, 2, 3)]
    assert known(play(state, Inspect(1, 3)), 1) == [None, None, 3]
    assert legal(play(state, Inspect(1, 3)), Inspect) == []


@pytest.mark.rule("SS-V8")
@pytest.mark.parametrize(
    ("pack", "after"),
    [("100+3", (8, 13, 10)), ("110+0", (12, 10, 10)), ("101+0", (12, 10, 10)), ("011+0", (12, 10, 10))],
)
def test_two_bottles_in_all_are_too_many(pack: str, after: tuple[int, ...]) -> None:
    assert caps(border(pack, "000+0", event=EventCard.HOLIDAY_SEASON), Arrest(1)) == after


@pytest.mark.rule("SS-V8")
def test_all_three_suitcases_count() -> None:
    state = border("123+2", "000+0", event=EventCard.HOLIDAY_SEASON)
    assert caps(state, WAVE) == (10, 16, 10)
    assert caps(state, AcceptBribe(1)) == (12, 14, 10)
    assert known(play(state, AcceptBribe(1)), 1) == [1, 2, 3]
