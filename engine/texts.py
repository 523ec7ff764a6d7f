"""Texts that all games share: points, counts, lists and victories."""

from collections.abc import Sequence


def format_points(points: int) -> str:
    """Return points as text, with a real minus sign."""
    return str(points).replace("-", "\N{MINUS SIGN}")


def format_count(number: int, noun: str) -> str:
    """Return a number with its noun: `no caps`, `1 cap`, `2 caps`. The plural must end in s."""
    return f"{number or 'no'} {noun}" if number == 1 else f"{number or 'no'} {noun}s"


def format_list(items: Sequence[str], conjunction: str = "and") -> str:
    """Return items as a list in a sentence: `a`, `a and b`, `a, b and c`."""
    return f" {conjunction} ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def victory_sentence(winners: Sequence[int | None], automaton: str = "The automaton") -> str:
    """Return the sentence that names the winners: seats, or the automaton alone."""
    if winners[0] is None:
        return f"{automaton} wins."
    if len(winners) == 1:
        return f"Seat {winners[0]} wins."
    return f"Seats {format_list([str(seat) for seat in winners])} share the victory."
