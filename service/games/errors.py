"""Exceptions with which the core rejects a request. Their texts are shown to callers.

The transport maps each class to an ErrorReason; see `service.transport.errors`.
"""


class GameError(Exception):
    """A request that is rejected.

    Attributes:
        version: the game's version, if the rejection depends on it.
        game_id: the game that could not be created; otherwise empty.
        game_kind: the kind of the game that the request is about, if it is known; otherwise empty.
    """

    game_id = ""
    game_kind = ""

    def __init__(self, message: str, *, version: int | None = None) -> None:
        super().__init__(message)
        self.version = version


class InvalidField(GameError):
    """A field of the request is invalid.

    Args:
        field: the path of the field in the request.
        problem: what is valid, as a phrase that follows the path (`must be below 4`), or as a whole sentence.
        is_sentence: whether `problem` is a whole sentence.
    """

    def __init__(self, field: str, problem: str, *, is_sentence: bool = False) -> None:
        super().__init__(f"{field}: {problem}" if is_sentence else f"{field} {problem}")
        self.field = field
        self.problem = problem


class GameNotFound(GameError):
    """The game does not exist."""

    def __init__(
        self,
        message: str = "The game does not exist: it was never created, has expired or was deleted, or it is private "
        "and requires a token.",
    ) -> None:
        super().__init__(message)


class KindNotOffered(GameError):
    """This release does not offer the kind of game."""

    def __init__(self) -> None:
        super().__init__("This release does not offer this kind of game.")


class UnreadableRecord(GameError):
    """This server cannot read the game: another release stored it, or the server lacks its encryption key.

    Attributes:
        problem: what cannot be read, for the operator's log.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(
            "This server cannot read the game: another release stored it, or the server lacks its encryption key. Try "
            "again."
        )
        self.problem = problem


class GameFinished(GameError):
    """The game is over."""


class NotYourTurn(GameError):
    """The seat has no open decision."""


class IllegalMove(GameError):
    """The rules forbid the move."""


class StaleEtag(GameError):
    """The etag is not that of the open decision."""


class Contention(GameError):
    """Other moves of the game were committed first, on every attempt until the deadline."""

    def __init__(self) -> None:
        super().__init__("Other moves of this game were committed first until the deadline: try again.")


class RequestIdReused(GameError):
    """The request id was used before, with another payload."""

    def __init__(self) -> None:
        super().__init__("request_id was used before with another payload: generate a new one.")


class QuotaExceeded(GameError):
    """An API key has reached its quota.

    Attributes:
        owner: the name of the API key; empty for all callers together.
        quota: which limit: `live games` or `new games`.
        retry_after_ms: when to try again, in milliseconds; None if that depends on other games.
    """

    def __init__(self, message: str, *, owner: str, quota: str, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.owner = owner
        self.quota = quota
        self.retry_after_ms = retry_after_ms
