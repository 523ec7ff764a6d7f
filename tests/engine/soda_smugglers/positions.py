"""Borders in the middle of a round, written down in a few words.

Seat 0 is the guard and the seats from 1 are the travelers, unless a test says otherwise. A pack is written `23+1`: two
and three bottles as luggage, one as a bribe; `23` without a bribe. A hand is written `00123`.
"""

from typing import Final

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.game import SPECTATOR, Game, Viewer
from engine.rng import SEED_BYTES, Rng
from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.components import EFFECTS, NO_EVENT, EventCard
from engine.soda_smugglers.events import Event, LeftBorder, RoundEnded
from engine.soda_smugglers.phases.rounds import start_round, tokens
from engine.soda_smugglers.state import Move, Options, Pack, Stage, State, WaveThrough
from engine.soda_smugglers.view import SeatView, View

GAME: Final[Game[Options, State, Move, Event, View]] = SODA_SMUGGLERS
WAVE: Final = WaveThrough()
FIVE: Final = "00123"
"""A hand of suitcases of every kind."""


def seed(number: int) -> Rng:
    """A generator for each number."""
    return Rng(number.to_bytes(SEED_BYTES, "big"))


def new(seat_count: int = 3, options: Options | None = None, number: int = 0) -> State:
    """A game that has just been dealt."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[0]


def opening_with(card: EventCard, seat_count: int, number: int = 0) -> State:
    """A game that has just been dealt, with this event card on top; seat 0 is the guard."""
    game = new(seat_count, Options(events=True, first_guard=0), number)
    cards = bytes([card, *(other for other in game.events if other != card)])
    before = replace(game, events=cards, round=0, guard=seat_count - 1, caps=(10,) * seat_count)
    return start_round(before)[0]


def bottles(text: str) -> tuple[int, ...]:
    """Suitcases."""
    return tuple(int(digit) for digit in text)


def packing(*hands: str, event: EventCard | None = None, caps: tuple[int, ...] | None = None) -> State:
    """A round in which the travelers hold these hands and nobody has packed."""
    seat_count = len(hands) + 1
    cards = [event, *(card for card in EventCard if card != event)] if event else []
    return State(
        options=Options(events=event is not None, first_guard=0),
        rng=seed(0),
        events=bytes(card for card in cards if card),
        round=1,
        guard=0,
        stage=Stage.PACKING,
        tokens=tokens(seat_count, EFFECTS[event] if event else NO_EVENT),
        caps=caps or (10,) * seat_count,
        hands=(b"", *(bytes(sorted(bottles(hand))) for hand in hands)),
        packs=(b"",) * seat_count,
        opened=bytes(seat_count),
        records=bytes(seat_count),
    )


def packed(text: str) -> Pack:
    """A move that packs."""
    luggage, _, bribe = text.partition("+")
    return Pack(bottles(luggage), int(bribe) if bribe else None)


def border(*packs: str, event: EventCard | None = None, caps: tuple[int, ...] | None = None) -> State:
    """A round in which the travelers have packed, and it is the guard's turn."""
    state = packing(*(f"{text.replace('+', '')}000"[:5] for text in packs), event=event, caps=caps)
    for seat, text in enumerate(packs, start=1):
        state, _ = GAME.apply(state, seat, packed(text))
    return state


def happens(state: State, *moves: Move) -> list[Event]:
    """Makes moves of whoever is awaited alone; returns what the last one brings about."""
    state = play(state, *moves[:-1])
    (seat,) = GAME.to_act(state)
    return list(GAME.apply(state, seat, moves[-1])[1])


def play(state: State, *moves: Move) -> State:
    """Makes moves of whoever is awaited alone."""
    for move in moves:
        (seat,) = GAME.to_act(state)
        state, _ = GAME.apply(state, seat, move)
    return state


def caps(state: State, *moves: Move) -> tuple[int, ...]:
    """Makes moves; returns what everybody holds then, before another round begins."""
    state = play(state, *moves[:-1])
    (seat,) = GAME.to_act(state)
    after, events = GAME.apply(state, seat, moves[-1])
    ends = [event.caps for event in events if isinstance(event, RoundEnded)]
    return ends[0] if ends else after.caps


def departures(events: list[Event]) -> list[LeftBorder]:
    """Those who left the border."""
    return [event for event in events if isinstance(event, LeftBorder)]


def legal(state: State, kind: type[Move]) -> list[Move]:
    """The legal moves of a kind, of the seat that is awaited alone."""
    (seat,) = GAME.to_act(state)
    return [move for move in GAME.legal_moves(state, seat) if isinstance(move, kind)]


def refusal(state: State, seat: int, move: Move) -> str:
    """Makes an illegal move; returns what the seat is told."""
    try:
        GAME.apply(state, seat, move)
    except IllegalMove as error:
        return str(error)
    raise AssertionError(f"{move} is legal")


def seen(state: State, seat: int, viewer: Viewer = SPECTATOR) -> SeatView:
    """What a viewer sees of a seat."""
    return GAME.view(state, viewer).seats[seat]


def known(state: State, seat: int, viewer: Viewer = SPECTATOR) -> list[int | None]:
    """The bottles in a seat's luggage as a viewer knows them."""
    return [suitcase.bottles for suitcase in seen(state, seat, viewer).luggage]


def finish_round(state: State) -> State:
    """Plays the round to its end: everybody packs the last thing, the guard waves through."""
    number = state.round
    while state.round == number and (awaited := GAME.to_act(state)):
        state, _ = GAME.apply(state, awaited[0], GAME.legal_moves(state, awaited[0])[-1])
    return state


def finish(state: State) -> State:
    """Plays on to the end."""
    while GAME.to_act(state):
        state = finish_round(state)
    return state


def in_round(state: State, number: int) -> State:
    """Says that another round is played."""
    return replace(state, round=number, finished=(bytes(len(state.caps)),) * (number - 1))
