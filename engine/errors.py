"""Why the engine refuses. Every message is a sentence for a player and holds nothing that the player may not know."""


class EngineError(Exception):
    """What the engine raises when it is asked for something that the rules do not allow."""


class InvalidOptions(EngineError):
    """The options or the number of seats do not make a game.

    Attributes:
        field: the option's name, or `seat_count`.
    """

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(problem)
        self.field = field


class IllegalMove(EngineError):
    """The rules forbid this move now."""


class NotYourTurn(EngineError):
    """The game goes on, but nothing is awaited from this seat now."""


class GameOver(EngineError):
    """The game is over; nobody moves any more."""
