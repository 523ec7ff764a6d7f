"""Ranks and winners, by the same rules for all games."""

from collections.abc import Sequence

from engine.game import PlayerScore, ScoreLine


def rank_players(
    totals: Sequence[int],
    lines: Sequence[tuple[ScoreLine, ...]],
    tie_breakers: Sequence[tuple[int, ...]] | None = None,
    *,
    automaton: bool = False,
) -> tuple[PlayerScore, ...]:
    """Return each player's score with its rank. Players with equal totals and tie-breakers share a rank.

    Args:
        totals: points by player, in the order of `Score.scores`.
        lines: the lines that add up to them, by player.
        tie_breakers: by player, most important first, greater is better; None where the game has none.
        automaton: whether the last player is an automaton.
    """
    breakers = [()] * len(totals) if tie_breakers is None else tie_breakers
    standings = list(zip(totals, breakers, strict=True))
    automatons = len(totals) - 1 if automaton else None
    return tuple(
        PlayerScore(
            None if player == automatons else player,
            standing[0],
            1 + sum(other > standing for other in standings),
            lines[player],
            standing[1],
        )
        for player, standing in enumerate(standings)
    )


def leaders(scores: Sequence[PlayerScore]) -> tuple[int | None, ...]:
    """Return the players that share the first rank."""
    return tuple(score.seat for score in scores if score.rank == 1)
