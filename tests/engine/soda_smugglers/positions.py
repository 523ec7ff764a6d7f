"""Positions of Soda Smugglers for tests, written in a few words.

Seat 0 is the guard and the other seats are the travelers, unless a test sets another guard. A pack is written in the
notation of `engine.soda_smugglers.notation`: `23+1`, or `23` without a bribe. A hand is written `00123`.
"""

from typing import Final

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.game import SPECTATOR, Game, Viewer
from engine.rng import SEED_BYTES, Rng
from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.components import EFFECTS, NO_EVENT, EventCard
from engine.soda_smugglers.events import Event, LeftBorder, RoundEnded
from engine.soda_smugglers.notation import parse_move
from engine.soda_smugglers.phases.rounds import start_round, tokens
from engine.soda_smugglers.state import Move, Options, Pack, Stage, State, WaveThrough
from engine.soda_smugglers.view import SeatView, View

GAME: Final[Game[Options, State, Move, Event, View]] = SODA_SMUGGLERS
WAVE: Final = WaveThrough()
FIVE: Final = "00123"
"""A hand with suitcases of every kind."""


def seed(number: int) -> Rng:
    """Return the generator with this number as its seed."""
    return Rng(number.to_bytes(SEED_BYTES, "big"))


def new(seat_count: int = 3, options: Options | None = None, number: int = 0) -> State:
    """Return the state at the start of a game."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[0]


def opening_with(card: EventCard, seat_count: int, number: int = 0) -> State:
    """Return the state at the start of a game with this event card in round 1; seat 0 is the guard."""
    game = new(seat_count, Options(events=True, first_guard=0), number)
    cards = bytes([card, *(other for other in game.events if other != card)])
    before = replace(game, events=cards, round=0, guard=seat_count - 1, caps=(10,) * seat_count)
    return start_round(before)[0]


def bottles(text: str) -> tuple[int, ...]:
    """Return suitcases."""
    return tuple(int(digit) for digit in text)


def packing(*hands: str, event: EventCard | None = None, caps: tuple[int, ...] | None = None) -> State:
    """Return a round in which the travelers have these hands and have not packed."""
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
    """Return a move that packs."""
    move = parse_move(f"pack {text}")
    assert isinstance(move, Pack)
    return move


def border(*packs: str, event: EventCard | None = None, caps: tuple[int, ...] | None = None) -> State:
    """Return a round in which the travelers have packed and it is the guard's turn."""
    state = packing(*(f"{text.replace('+', '')}000"[:5] for text in packs), event=event, caps=caps)
    for seat, text in enumerate(packs, start=1):
        state, _ = GAME.apply(state, seat, packed(text))
    return state


def happens(state: State, *moves: Move) -> list[Event]:
    """Make moves, each for the only awaited seat, and return the events of the last one."""
    state = play(state, *moves[:-1])
    (seat,) = GAME.to_act(state)
    return list(GAME.apply(state, seat, moves[-1])[1])


def play(state: State, *moves: Move) -> State:
    """Make moves, each for the only awaited seat."""
    for move in moves:
        (seat,) = GAME.to_act(state)
        state, _ = GAME.apply(state, seat, move)
    return state


def caps(state: State, *moves: Move) -> tuple[int, ...]:
    """Make moves and return the caps of all seats after them, before another round starts."""
    state = play(state, *moves[:-1])
    (seat,) = GAME.to_act(state)
    after, events = GAME.apply(state, seat, moves[-1])
    ends = [event.caps for event in events if isinstance(event, RoundEnded)]
    return ends[0] if ends else after.caps


def departures(events: list[Event]) -> list[LeftBorder]:
    """Return the departures among events."""
    return [event for event in events if isinstance(event, LeftBorder)]


def legal(state: State, kind: type[Move]) -> list[Move]:
    """Return the legal moves of a kind, for the only awaited seat."""
    (seat,) = GAME.to_act(state)
    return [move for move in GAME.legal_moves(state, seat) if isinstance(move, kind)]


def error_text(state: State, seat: int, move: Move) -> str:
    """Try an illegal move and return the error's text."""
    try:
        GAME.apply(state, seat, move)
    except IllegalMove as error:
        return str(error)
    raise AssertionError(f"{move} is legal")


def seen(state: State, seat: int, viewer: Viewer = SPECTATOR) -> SeatView:
    """Return a viewer's view of a seat."""
    return GAME.view(state, viewer).seats[seat]


def known(state: State, seat: int, viewer: Viewer = SPECTATOR) -> list[int | None]:
    """Return the bottles in a seat's luggage, as far as a viewer knows them."""
    return [suitcase.bottles for suitcase in seen(state, seat, viewer).luggage]


def finish_round(state: State) -> State:
    """Play the round to its end with the last legal moves: the guard waves all travelers through."""
    number = state.round
    while state.round == number and (awaited := GAME.to_act(state)):
        state, _ = GAME.apply(state, awaited[0], GAME.legal_moves(state, awaited[0])[-1])
    return state


def finish(state: State) -> State:
    """Play to the end of the game."""
    while GAME.to_act(state):
        state = finish_round(state)
    return state


def in_round(state: State, number: int) -> State:
    """Return the state as if it were in another round."""
    return replace(state, round=number, finished=(bytes(len(state.caps)),) * (number - 1))
