"""The protocol that the translation module of each game implements."""

from typing import Any, Protocol


class MalformedMove(ValueError):
    """A message is not a move of its game.

    Attributes:
        field: the path of the invalid field, below the message of the game.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class Translator(Protocol):
    """Translates the values of one game. Its messages are those in the game's field of the shared messages.

    It receives only what `view` and `view_event` return, so it cannot expose anything else.
    """

    def options_value(self, message: Any) -> Any:
        """Return the options in a message."""

    def options_message(self, options: Any) -> Any:
        """Return the message for options."""

    def move_value(self, message: Any) -> Any:
        """Return the move in a message.

        Raises:
            MalformedMove: the message is not a move of this game.
        """

    def move_message(self, move: Any) -> Any:
        """Return the message for a move."""

    def view_message(self, view: Any) -> Any:
        """Return the message for a view, encoded or not."""

    def event_message(self, event: Any) -> Any:
        """Return the message for an event as `view_event` returned it, encoded or not."""
