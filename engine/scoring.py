"""Ranks and winners, by the same rules for all games."""

from collections.abc import Sequence

from engine.game import ScoreLine, SeatScore


def rank_seats(
    totals: Sequence[int],
    lines: Sequence[tuple[ScoreLine, ...]],
    tie_breakers: Sequence[tuple[int, ...]] | None = None,
) -> tuple[SeatScore, ...]:
    """Return each seat's score with its rank. Seats with equal totals and tie-breakers share a rank.

    Args:
        totals: points by seat.
        lines: the lines that add up to them, by seat.
        tie_breakers: by seat, most important first, greater is better; None where the game has none.
    """
    breakers = [()] * len(totals) if tie_breakers is None else tie_breakers
    standings = list(zip(totals, breakers, strict=True))
    return tuple(
        SeatScore(seat, standing[0], 1 + sum(other > standing for other in standings), lines[seat], standing[1])
        for seat, standing in enumerate(standings)
    )


def leaders(scores: Sequence[SeatScore]) -> tuple[int, ...]:
    """Return the seats that share the first rank."""
    return tuple(score.seat for score in scores if score.rank == 1)
