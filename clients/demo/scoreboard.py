"""The score of any game as a table: points per round, totals and places."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from sodafountain.v1.game_pb2 import PlayerScore
from sodafountain.v1.game_service_pb2 import ScoreResponse


def signed(points: int) -> str:
    """Return points with their sign: +3 or 0, with a typographic minus sign."""
    return f"{points:+d}".replace("-", "\N{MINUS SIGN}") if points else "0"


def scoreboard(score: ScoreResponse) -> Table:
    """Return the standings, best first."""
    rounds = sorted({line.round for player in score.scores for line in player.lines})
    table = Table(box=SIMPLE_HEAD, show_edge=False, title=score.note, title_style="bold", title_justify="left")
    table.add_column("Place", justify="right")
    table.add_column("Player")
    for number in rounds:
        table.add_column(f"Round {number}" if number else "Game", justify="right")
    table.add_column("Total", justify="right", style="bold")
    # Players who share a rank stay in the order of `scores`.
    for entry in sorted(score.scores, key=lambda entry: entry.rank):
        cells: Sequence[str] = [signed(points_of(entry, number)) for number in rounds]
        style = "green" if entry.player in score.winners else ""
        name = f"seat {entry.player.seat}" if entry.player.HasField("seat") else "automaton"
        table.add_row(str(entry.rank), name, *cells, signed(entry.total), style=style)
    return table


def points_of(score: PlayerScore, round_number: int) -> int:
    """Return the points of a player in a round."""
    return sum(line.points for line in score.lines if line.round == round_number)
