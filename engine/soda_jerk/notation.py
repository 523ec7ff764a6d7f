"""The text notation of Soda Jerk.

Cards: the first two letters of the flavor and the printed value (`ki2`), or `sw` for a Switcheroo. Flavors: `st`, `bl`,
`ba`, `ki`, `or`.

Moves, which `str()` writes:

    place ki2@or    place a card at a tap
    flip or.3       turn card 3 of a tap face up

Positions, after the two lines that all games share:

    round 2 first=1 turn=0 flips=1
    hand 0 st1 ki2 sw                 the cards of each seat
    hand 1 bl1 bl3 or2
    tap st A ki2/0 or1/1^             side, and the cards in the order of placing: `/` seat, `^` face up
    tap ba B
    finished 1                        for each finished round, followed by its taps and hands
    tap st A value=-3 ki2/0^
    hand 0 points=12 st1 st1

In a view, `?` is a hidden card in a pile, and `10*?` are ten hidden cards in a hand.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from engine.errors import InvalidNotation
from engine.notation import (
    HIDDEN,
    Line,
    Reader,
    format_head,
    format_line,
    look_up,
    parse_integer,
    parse_position,
    split,
)
from engine.soda_jerk.components import CARDS, CODES, KIND, Card, Flavor
from engine.soda_jerk.events import Hand, PlacedCard, Tap, placed_card
from engine.soda_jerk.state import FinishedRound, Flip, Move, Options, Place, State, pack
from engine.soda_jerk.view import View

_FLAVORS: Final[Mapping[str, Flavor]] = {flavor.letters: flavor for flavor in Flavor}
_SIDES: Final = {"A": False, "B": True}

# --- Moves ------------------------------------------------------------------------------------------------------------


def parse_move(text: str) -> Move:
    """Parse a move.

    Raises:
        InvalidNotation: the text is not a move.
    """
    name, _, rest = text.partition(" ")
    match name:
        case "place":
            card, tap = split(rest, "@", "a placement")
            return Place(parse_card(card), look_up(_FLAVORS, tap, "tap"))
        case "flip":
            tap, position = split(rest, ".", "a flip")
            return Flip(look_up(_FLAVORS, tap, "tap"), parse_integer(position, "position"))
    raise InvalidNotation(f"a move must begin with place or flip, but is {text!r}")


def parse_card(text: str) -> Card:
    """Parse a card.

    Raises:
        InvalidNotation: the text is not a card.
    """
    found = re.fullmatch(r"([a-z]{2})(-?\d+)", text)
    if text == str(Card()):
        return Card()
    if found is None:
        raise InvalidNotation(f"a card must be a flavor and a value, or sw, not {text!r}")
    return Card(look_up(_FLAVORS, found[1], "flavor"), int(found[2]))


# --- Positions --------------------------------------------------------------------------------------------------------


def format_state(state: State) -> str:
    """Return the notation of a state."""
    return "\n".join(_lines(state)) + "\n"


def _lines(state: State) -> Iterator[str]:
    yield from format_head(KIND, state.options, state.rng)
    yield format_line("round", state.round, first=state.first_seat, turn=state.seat, flips=state.flips_in_a_row or None)
    for seat, hand in enumerate(state.hands):
        yield format_line("hand", seat, *_cards(hand))
    for tap, pile in zip(state.taps, state.piles, strict=True):
        yield format_line("tap", tap.letters, _side(tap in state.effects), *_placed(_pile(pile)))
    for number, finished in enumerate(state.finished, start=1):
        yield format_line("finished", number)
        for tap, pile, value in zip(state.taps, finished.piles, finished.tap_values, strict=True):
            side = _side(tap in finished.effects)
            yield format_line("tap", tap.letters, side, f"value={value}", *_placed(_pile(pile)))
        for seat, (hand, points) in enumerate(zip(finished.hands, finished.points, strict=True)):
            yield format_line("hand", seat, f"points={points}", *_cards(hand))


def parse_state(text: str) -> State:
    """Parse a position.

    Raises:
        InvalidNotation: the text is not a position of Soda Jerk.
    """
    return parse_position(text, _parse_state, format_state)


def _parse_state(text: str) -> State:
    reader = Reader(text, KIND)
    options, rng = reader.options(Options), reader.rng()
    head = reader.take("round")
    hands = tuple(_hand(line) for line in reader.take_all("hand"))
    taps = list(reader.take_all("tap"))
    flavors = tuple(_tap_flavor(line) for line in taps)
    finished = []
    for _ in reader.take_all("finished"):
        finished_taps, finished_hands = list(reader.take_all("tap")), list(reader.take_all("hand"))
        finished.append(
            FinishedRound(
                effects=_effects(finished_taps),
                piles=tuple(_parse_pile(line) for line in finished_taps),
                tap_values=tuple(line.integer("value") for line in finished_taps),
                hands=tuple(_hand(line) for line in finished_hands),
                points=tuple(line.integer("points") for line in finished_hands),
            )
        )
    reader.end()
    return State(
        options=options,
        rng=rng,
        taps=flavors,
        effects=_effects(taps),
        round=parse_integer(head.word(0, "the round"), "the round"),
        first_seat=head.integer("first"),
        seat=head.integer("turn"),
        flips_in_a_row=head.integer("flips", 0),
        hands=hands,
        piles=tuple(_parse_pile(line) for line in taps),
        finished=tuple(finished),
    )


def _side(effect_active: bool) -> str:
    return "B" if effect_active else "A"


def _cards(hand: bytes) -> Iterator[str]:
    return (str(CARDS[code]) for code in hand)


def _pile(pile: bytes) -> Iterator[PlacedCard]:
    return (placed_card(packed, position) for position, packed in enumerate(pile, start=1))


def _placed(cards: Iterable[PlacedCard]) -> Iterator[str]:
    for placed in cards:
        yield f"{HIDDEN if placed.card is None else placed.card}/{placed.seat}{'^' * placed.face_up}"


def _tap_flavor(line: Line) -> Flavor:
    return look_up(_FLAVORS, line.word(0, "the flavor"), "flavor")


def _effects(taps: list[Line]) -> tuple[Flavor, ...]:
    return tuple(_tap_flavor(line) for line in taps if look_up(_SIDES, line.word(1, "the side"), "side"))


def _code(text: str) -> int:
    card = parse_card(text)
    if card not in CODES:
        raise InvalidNotation(f"the value of a card must be 1, 2 or 3, but the card is {text!r}")
    return CODES[card]


def _hand(line: Line) -> bytes:
    return bytes(_code(word) for word in line.words[1:])


def _parse_pile(line: Line) -> bytes:
    pile = []
    for word in line.words[2:]:
        card, seat = split(word.removesuffix("^"), "/", "a placed card")
        pile.append(pack(_code(card), parse_integer(seat, "seat"), word.endswith("^")))
    return bytes(pile)


# --- Views ------------------------------------------------------------------------------------------------------------


def format_view(view: View) -> str:
    """Return the notation of a view."""
    return "\n".join(_view_lines(view)) + "\n"


def _view_lines(view: View) -> Iterator[str]:
    yield format_line("round", view.round, first=view.first_seat, flips=view.flips_in_a_row or None)
    yield from map(_view_hand, view.hands)
    yield from map(_view_tap, view.taps)
    for result in view.finished_rounds:
        yield format_line("finished", result.round)
        for tap, value in zip(result.taps, result.tap_values, strict=True):
            yield _view_tap(tap, f"value={value}")
        for hand, points in zip(result.hands, result.points, strict=True):
            yield _view_hand(hand, f"points={points}")


def _view_hand(hand: Hand, *fields: str) -> str:
    cards = hand.cards or ([f"{hand.size}*{HIDDEN}"] if hand.size else [])
    return format_line("hand", hand.seat, *fields, *cards)


def _view_tap(tap: Tap, *fields: str) -> str:
    return format_line("tap", tap.flavor.letters, _side(tap.effect_active), *fields, *_placed(tap.cards))
