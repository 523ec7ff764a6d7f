"""The text notation of Soda Smugglers.

A suitcase is its number of bottles. Luggage is one digit for each slot, so `23+1` is a pack with two and three bottles
as luggage and one as a bribe.

Moves, which `str()` writes:

    pack 23+1            pack luggage and a bribe; `pack 23` without a bribe
    accept_bribe 2       of a seat
    accept_all
    inspect 2.1          slot 1 of a seat
    sniff 2              send the dog to a seat
    open 1               open a slot for the dog
    arrest 2             `arrest 2 tip_off` uses the tip-off
    wave_through

Positions, after the two lines that all games share:

    round 2 guard=0 stage=inspections sniffed=2
    events birthday tip_off …                       the event cards, one for each round
    tokens bribe=1 inspect=1 arrest=1
    seat 0 caps=10 result=event/2
    seat 1 caps=12 hand=0123 pack=23+1 opened=1 result=bribed/5/1
    finished 1 event/-1 waved_through/2/0 caught/5/0

A hand has the suitcases that are not packed. `opened` lists the opened slots. The result of a round is, for a traveler,
the departure, the bottles and the caps paid; for the guard, the caps from the event card; `-` where there is nothing
yet. In a view, `?` is a hidden suitcase, and `packed` without `pack` is a pack that the viewer does not see.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from engine.errors import InvalidNotation
from engine.notation import (
    HIDDEN,
    Line,
    Reader,
    format_head,
    format_line,
    format_name,
    parse_integer,
    parse_name,
    parse_position,
    split,
)
from engine.soda_smugglers.components import KIND, EventCard, Tokens
from engine.soda_smugglers.state import (
    AT_BORDER,
    RECORD_CODES,
    RECORDS,
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Move,
    Open,
    Options,
    Pack,
    Record,
    Sniff,
    Stage,
    State,
    WaveThrough,
    effect_of,
)
from engine.soda_smugglers.view import SeatView, View

_NOTHING: Final = "-"
_TIP_OFF: Final = "tip_off"


# --- Moves ------------------------------------------------------------------------------------------------------------


def parse_move(text: str) -> Move:
    """Parse a move.

    Raises:
        InvalidNotation: the text is not a move.
    """
    name, _, rest = text.partition(" ")
    match name:
        case "pack":
            return _parse_pack(rest)
        case "accept_bribe":
            return AcceptBribe(parse_integer(rest, "seat"))
        case "accept_all" if not rest:
            return AcceptAll()
        case "inspect":
            seat, slot = split(rest, ".", "an inspection")
            return Inspect(parse_integer(seat, "seat"), parse_integer(slot, "slot"))
        case "sniff":
            return Sniff(parse_integer(rest, "seat"))
        case "open":
            return Open(parse_integer(rest, "slot"))
        case "arrest":
            seat, _, token = rest.partition(" ")
            if token not in {"", _TIP_OFF}:
                raise InvalidNotation(f"the token of an arrest must be {_TIP_OFF} or absent, not {token!r}")
            return Arrest(parse_integer(seat, "seat"), token == _TIP_OFF)
        case "wave_through" if not rest:
            return WaveThrough()
    raise InvalidNotation(
        f"{text!r} is not a move; a move begins with pack, accept_bribe, accept_all, inspect, sniff, open, arrest or "
        "wave_through, followed by its parts"
    )


def _parse_pack(text: str) -> Pack:
    found = re.fullmatch(r"(\d*)(?:\+(\d))?", text)
    if found is None:
        raise InvalidNotation(f"a pack must be luggage and a bribe such as 23+1, not {text!r}")
    return Pack(tuple(map(int, found[1])), None if found[2] is None else int(found[2]))


# --- Positions --------------------------------------------------------------------------------------------------------


def format_state(state: State) -> str:
    """Return the notation of a state."""
    return "\n".join(_lines(state)) + "\n"


def _lines(state: State) -> Iterator[str]:
    yield from format_head(KIND, state.options, state.rng)
    yield format_line(
        "round", state.round, f"guard={state.guard}", f"stage={format_name(state.stage)}", *_sniffed(state)
    )
    if state.events:
        yield format_line("events", *(format_name(EventCard(card)) for card in state.events))
    yield _tokens(state.tokens)
    slots = effect_of(state).slots
    for seat, caps in enumerate(state.caps):
        pack = state.packs[seat]
        yield format_line(
            "seat",
            seat,
            f"caps={caps}",
            hand=_digits(state.hands[seat]),
            pack=str(Pack(tuple(pack[:slots]), pack[slots] if len(pack) > slots else None))[5:] if pack else None,
            opened=_digits(slot for slot in range(1, 9) if state.opened[seat] >> slot - 1 & 1),
            result=_result(state.records[seat]) if state.records[seat] != AT_BORDER else None,
        )
    for number, records in enumerate(state.finished, start=1):
        yield format_line("finished", number, *map(_result, records))


def _sniffed(state: State) -> list[str]:
    return [] if state.sniffed is None else [f"sniffed={state.sniffed}"]


def parse_state(text: str) -> State:
    """Parse a position.

    Raises:
        InvalidNotation: the text is not a position of Soda Smugglers.
    """
    return parse_position(text, _parse_state, format_state)


def _parse_state(text: str) -> State:
    reader = Reader(text, KIND)
    options, rng = reader.options(Options), reader.rng()
    head = reader.take("round")
    cards = reader.take_if("events")
    tokens = reader.take("tokens")
    seats = list(reader.take_all("seat"))
    finished = [bytes(map(_parse_result, line.words[1:])) for line in reader.take_all("finished")]
    reader.end()
    return State(
        options=options,
        rng=rng,
        events=bytes(parse_name(EventCard, word, "event") for word in (cards.words if cards else ())),
        round=parse_integer(head.word(0, "the round"), "the round"),
        guard=head.integer("guard"),
        stage=parse_name(Stage, head.fields.get("stage", ""), "stage"),
        tokens=Tokens(**{name: tokens.integer(name, 0) for name in Tokens.__struct_fields__}),
        caps=tuple(line.integer("caps") for line in seats),
        hands=tuple(_parse_digits(line, "hand") for line in seats),
        packs=tuple(_parse_digits(line, "pack") for line in seats),
        opened=bytes(sum(1 << slot - 1 for slot in _parse_digits(line, "opened")) for line in seats),
        records=bytes(_parse_result(line.fields.get("result", _NOTHING)) for line in seats),
        finished=tuple(finished),
        sniffed=head.integer("sniffed") if "sniffed" in head.fields else None,
    )


def _tokens(tokens: Tokens) -> str:
    given = {name: getattr(tokens, name) for name in Tokens.__struct_fields__}
    return format_line("tokens", *(f"{name}={number}" for name, number in given.items() if number))


def _digits(numbers: Iterable[int]) -> str:
    return "".join(map(str, numbers))


def _parse_digits(line: Line, name: str) -> bytes:
    digits = line.fields.get(name, "").replace("+", "")
    return bytes(parse_integer(digit, name) for digit in digits)


def _result(code: int) -> str:
    how, bottles, paid = RECORDS[code].how, RECORDS[code].bottles, RECORDS[code].paid
    if how is not None:
        return f"{format_name(how)}/{bottles}/{paid}"
    return f"event/{paid}" if code != AT_BORDER else _NOTHING


def _parse_result(word: str) -> int:
    how, *numbers = word.split("/")
    given = [parse_integer(number, "a result") for number in numbers]
    match how, given:
        case "-", []:
            return AT_BORDER
        case "event", [paid]:
            record = Record(None, 0, paid)
        case _, [bottles, paid]:
            record = Record(parse_name(Departure, how, "departure"), bottles, paid)
        case _:
            raise InvalidNotation(f"a result must have a form such as bribed/5/1, event/2 or -, not {word!r}")
    if record not in RECORD_CODES:
        raise InvalidNotation(f"{word!r} is not a possible result")
    return RECORD_CODES[record]


# --- Views ------------------------------------------------------------------------------------------------------------


def format_view(view: View) -> str:
    """Return the notation of a view."""
    return "\n".join(_view_lines(view)) + "\n"


def _view_lines(view: View) -> Iterator[str]:
    yield format_line("round", view.round, f"guard={view.guard_seat}", stage=format_name(view.stage))
    if view.event is not None:
        yield format_line("event", format_name(view.event))
    yield _tokens(view.tokens)
    yield from map(_view_seat, view.seats)


def _view_seat(seat: SeatView) -> str:
    luggage = [HIDDEN if suitcase.bottles is None else str(suitcase.bottles) for suitcase in seat.luggage]
    fields: dict[str, Any] = {
        "hand": _digits(seat.hand),
        "packed": seat.packed,
        "pack": "".join(luggage) + ("" if seat.bribe is None else f"+{seat.bribe}"),
        "opened": _digits(suitcase.slot for suitcase in seat.luggage if suitcase.face_up),
        "left": None if seat.left is None else format_name(seat.left),
    }
    return format_line("seat", seat.seat, f"caps={seat.caps}", **fields)
