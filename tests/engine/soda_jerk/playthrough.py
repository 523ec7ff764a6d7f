"""Golden games: whole games as text for people to check against the rules, and a snapshot that every release must read.

After a change that is meant, write them anew and read the difference:

    python -m tests.engine.soda_jerk.playthrough
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from engine.codec import Codec
from engine.rng import Rng
from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.components import Flavor
from engine.soda_jerk.state import Event, Hand, Options, RoundEnded, RoundResult, RoundStarted, State
from engine.words import signed
from tests.engine.plays import pick

GOLDEN: Final = Path(__file__).parent / "golden"
SEED: Final = bytes(range(32))

GAMES: Final = {
    "four-seats": (Options(first_seat=2), 4, 317),
    "two-seats-advanced": (Options(advanced=True, removed_flavor=Flavor.BLUEBERRY), 2, 574),
}
"""The golden games by their file's name: options, number of seats, and the luck that picks the moves.

It was chosen so that the three rounds of each game end for three different reasons (SJ-E1, SJ-E2, SJ-E3)."""


def playthrough(name: str) -> str:
    """Plays a golden game and tells it."""
    options, seat_count, luck = GAMES[name]
    return "\n".join(_tell(options, seat_count, Random(luck))) + "\n"


def snapshot() -> bytes:
    """Encodes a state that uses every part of a snapshot: an advanced game of two in its last round."""
    options, seat_count, luck = GAMES["two-seats-advanced"]
    *_, state = (state for state in _states(options, seat_count, Random(luck)) if SODA_JERK.to_act(state))
    return Codec(SODA_JERK).encode_snapshot(state)


def shown(state: State) -> str:
    """A state as text, one field a line."""
    return "".join(f"{field} = {getattr(state, field)!r}\n" for field in state.__struct_fields__)


def _states(options: Options, seat_count: int, luck: Random) -> Iterator[State]:
    state, _ = SODA_JERK.new_game(options, seat_count, Rng(SEED))
    yield state
    while awaited := SODA_JERK.to_act(state):
        move = pick(SODA_JERK.legal_moves(state, awaited[0]), luck, 0.25)
        state, _ = SODA_JERK.apply(state, awaited[0], move)
        yield state


def _tell(options: Options, seat_count: int, luck: Random) -> Iterator[str]:
    yield "# A golden game of Soda Jerk. Written anew by: python -m tests.engine.soda_jerk.playthrough"
    yield f"# {options}, {seat_count} seats"
    state, events = SODA_JERK.new_game(options, seat_count, Rng(SEED))
    yield from _tell_events(state, events)
    while awaited := SODA_JERK.to_act(state):
        (seat,) = awaited
        moves = SODA_JERK.legal_moves(state, seat)
        move = pick(moves, luck, 0.25)
        yield f"seat {seat}, {len(moves)} legal moves: {SODA_JERK.label(move)}"
        state, events = SODA_JERK.apply(state, seat, move)
        yield from _tell_events(state, events)
    score = SODA_JERK.score(state)
    yield ""
    yield f"== {score.note} =="
    for standing in score.seats:
        yield f"seat {standing.seat}: {signed(standing.total)} points, rank {standing.rank}"
        for line in standing.lines:
            yield f"  round {line.round}  {line.label}: {signed(line.points)}"


def _tell_events(state: State, events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        if isinstance(event, RoundStarted):
            yield ""
        yield f"  {SODA_JERK.describe(event)}"
        if isinstance(event, RoundStarted):
            for seat in range(len(state.hands)):
                yield f"  {_hand(SODA_JERK.view(state, seat).hands[seat])}"
        elif isinstance(event, RoundEnded):
            yield from _tell_result(event.result)


def _tell_result(result: RoundResult) -> Iterator[str]:
    for tap, value in zip(result.taps, result.tap_values, strict=True):
        cards = ", ".join(placed.card.title for placed in tap.cards if placed.card)
        side = "B" if tap.effect_active else "A"
        yield f"  {tap.flavor.title} ({side}) is worth {signed(value)}: {cards or 'no cards'}"
    for hand, points in zip(result.hands, result.points, strict=True):
        yield f"  {_hand(hand)}: {signed(points)} points"


def _hand(hand: Hand) -> str:
    return f"seat {hand.seat} holds {', '.join(card.title for card in hand.cards)}"


def regenerate() -> None:
    """Writes every golden file anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GAMES:
        (GOLDEN / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")
    schema = SODA_JERK.about.schema
    (GOLDEN / f"schema-{schema}.msgpack").write_bytes(snapshot())
    (GOLDEN / f"schema-{schema}.txt").write_text(shown(Codec(SODA_JERK).decode_snapshot(snapshot())), encoding="utf-8")


if __name__ == "__main__":
    regenerate()
