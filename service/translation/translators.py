"""Between the engine's values and the contract's messages: one module per game, named as its kind.

A module defines `TRANSLATOR`. It receives only what `view` and `view_event` let through, so it cannot leak what it
never sees.
"""

from importlib import import_module
from typing import Any, Protocol, cast


class MalformedMove(ValueError):
    """A message cannot be read as a move of its game.

    Attributes:
        field: the field that is wrong, below the game's own message.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class Translator(Protocol):
    """Translates one game's values; messages are what goes into the game's field of the shared ones."""

    def options_value(self, message: Any) -> Any:
        """Reads options."""

    def options_message(self, options: Any) -> Any:
        """Writes options."""

    def move_value(self, message: Any) -> Any:
        """Reads a move.

        Raises:
            MalformedMove: it is no move of this game.
        """

    def move_message(self, move: Any) -> Any:
        """Writes a move."""

    def view_message(self, view: Any) -> Any:
        """Writes a view: a message, or its encoded bytes."""

    def event_message(self, event: Any) -> Any:
        """Writes an event, as `view_event` left it: a message, or its encoded bytes."""


def translator(kind: str) -> Translator:
    """Finds the translator of a kind of game."""
    return cast("Translator", import_module(f"{__name__}.{kind}").TRANSLATOR)
