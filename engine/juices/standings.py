"""The standings of Juices by public facts: juices, extra juices for preferred fruits, and Blocks (JU-E3)."""

from engine.game import Score, ScoreLine, SeatScore
from engine.juices.components import TILES, Fruit, Mode
from engine.juices.state import State


def score(state: State) -> Score:
    """Tells the standings. Extra juices for what lies in the stacks count from the start."""
    final = not state.agenda
    lines = [_lines(seat.juices, seat.stack, seat.preferred) for seat in state.seats]
    breakers = [(-seat.grid.blocks.bit_count(),) for seat in state.seats]  # JU-E3: the fewest Blocks
    if state.automa is not None:
        lines.append(_lines(state.automa.juices, state.automa.stack, state.automa.preferred))
        breakers = [(0,), (1,)]  # JU-O4: the seat needs more juices than the Automa
    standings = [
        (sum(line.points for line in of_seat), breaker) for of_seat, breaker in zip(lines, breakers, strict=True)
    ]
    best = max(standings)
    winners = tuple(seat for seat, standing in enumerate(standings) if standing == best) if final else ()
    return Score(
        final,
        tuple(
            SeatScore(seat, total, 1 + sum(other > (total, breaker) for other in standings), lines[seat], breaker)
            for seat, (total, breaker) in enumerate(standings)
        ),
        winners,
        _note(state, winners),
    )


def _lines(juices: int, stack: bytes, preferred: Fruit | None) -> tuple[ScoreLine, ...]:
    lines = [ScoreLine("juices", f"{juices} juice{'s' * (juices != 1)}", juices)]
    if preferred is not None:  # JU-M2, JU-O7; a wild carries no fruit
        extra = sum(preferred in TILES[tile].fruits for tile in stack)
        lines.append(ScoreLine("preferred_fruit", f"{extra} kept with {preferred.title}, the preferred fruit", extra))
    return tuple(lines)


def _note(state: State, winners: tuple[int, ...]) -> str:
    if not winners:
        return f"The standings in {'turn' if state.mode == Mode.SOLO else 'round'} {state.round}."
    if state.mode == Mode.SOLO:
        return "Seat 0 wins." if winners == (0,) else "The Automa wins."
    if len(winners) == 1:
        return f"Seat {winners[0]} wins."
    names = " and ".join((", ".join(map(str, winners[:-1])), str(winners[-1])))
    return f"Seats {names} share the victory; the rulebook asks for another game."
