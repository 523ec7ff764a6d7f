"""The score of any game as a table: points per round, totals and places."""

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.table import Table

from sodafountain.v1.game_pb2 import SeatScore
from sodafountain.v1.game_service_pb2 import ScoreResponse


def signed(points: int) -> str:
    """Return points with their sign: +3 or 0, with a typographic minus sign."""
    return f"{points:+d}".replace("-", "\N{MINUS SIGN}") if points else "0"


def scoreboard(score: ScoreResponse, seats: int) -> Table:
    """Return the standings, best first; a seat number of `seats` or above is the automaton."""
    rounds = sorted({line.round for seat in score.seats for line in seat.lines})
    table = Table(box=SIMPLE_HEAD, show_edge=False, title=score.note, title_style="bold", title_justify="left")
    table.add_column("Place", justify="right")
    table.add_column("Player")
    for number in rounds:
        table.add_column(f"Round {number}" if number else "Game", justify="right")
    table.add_column("Total", justify="right", style="bold")
    for seat in sorted(score.seats, key=lambda seat: (seat.rank, seat.seat)):
        cells: Sequence[str] = [signed(points_of(seat, number)) for number in rounds]
        style = "green" if seat.seat in score.winning_seats else ""
        player = f"seat {seat.seat}" if seat.seat < seats else "automaton"
        table.add_row(str(seat.rank), player, *cells, signed(seat.total), style=style)
    return table


def points_of(seat: SeatScore, round_number: int) -> int:
    """Return the points of a seat in a round."""
    return sum(line.points for line in seat.lines if line.round == round_number)
