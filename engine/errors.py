"""The errors of the engine. Each message is a sentence for a player and contains nothing hidden from that player."""


class EngineError(Exception):
    """Base class of the errors for requests that the rules do not allow."""


class InvalidOptions(EngineError):
    """No game can be set up with these options and this number of seats.

    Attributes:
        field: the option's name, or `seat_count`.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class IllegalMove(EngineError):
    """The rules forbid this move now."""


class NotYourTurn(EngineError):
    """The game is not over, but this seat has no decision to make now."""


class GameOver(EngineError):
    """The game is over; no more moves are possible."""


class InvalidNotation(ValueError):
    """A text is not the notation of a move or a position."""
