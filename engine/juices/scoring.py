"""The scoring of Juices: juices, extra juices for preferred fruits, and the fewest Blocks as tie-breaker (JU-E3)."""

from engine.game import Score, ScoreLine
from engine.juices.components import TILES, Fruit, Mode
from engine.juices.state import State
from engine.juices.texts import juices_label, preferred_fruit_label, score_note
from engine.scoring import leaders, rank_players


def score(state: State) -> Score:
    """Return the standings. Extra juices for tiles in the stacks count during the game as well."""
    finished = not state.agenda
    lines = [_lines(seat.juices, seat.stack, seat.preferred) for seat in state.seats]
    breakers = [(-seat.grid.blocks.bit_count(),) for seat in state.seats]  # JU-E3: the fewest Blocks
    if state.automa is not None:
        lines.append(_lines(state.automa.juices, state.automa.stack, state.automa.preferred))
        breakers = [(0,), (1,)]  # JU-O4: the seat needs more juices than the Automa
    totals = [sum(line.points for line in of_player) for of_player in lines]
    scores = rank_players(totals, lines, breakers, automaton=state.automa is not None)
    winners = leaders(scores) if finished else ()
    return Score(finished, scores, winners, score_note(state.round, state.mode == Mode.SOLO, winners))


def _lines(juices: int, stack: bytes, preferred: Fruit | None) -> tuple[ScoreLine, ...]:
    lines = [ScoreLine("juices", juices_label(juices), juices)]
    if preferred is not None:  # JU-M2, JU-O7; a wild carries no fruit
        extra = sum(preferred in TILES[tile].fruits for tile in stack)
        lines.append(ScoreLine("preferred_fruit", preferred_fruit_label(extra, preferred), extra))
    return tuple(lines)
