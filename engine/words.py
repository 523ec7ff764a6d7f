"""Words that all games have in common: numbers, lists and victories, for people."""

from collections.abc import Sequence


def signed(points: int) -> str:
    """Writes points for people, with a real minus sign."""
    return str(points).replace("-", "\N{MINUS SIGN}")


def counted(number: int, noun: str) -> str:
    """Counts things whose plural takes an s: 1 cap, 2 caps; and no caps instead of 0."""
    return f"{number or 'no'} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def listed(items: Sequence[str], last: str = "and") -> str:
    """Lists things: one, one and two, one, two and three.

    Args:
        items: the things, in order.
        last: the word before the last one.
    """
    return f" {last} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def victory(winners: Sequence[int]) -> str:
    """Says who won."""
    if len(winners) == 1:
        return f"Seat {winners[0]} wins."
    return f"Seats {listed([str(seat) for seat in winners])} share the victory."
