"""The exceptions of the client."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import grpc

from sodafountain._reasons import Reason


class FieldViolation(NamedTuple):
    """An invalid field of a request.

    Attributes:
        field: the path of the field in the request message, such as `options.soda_jerk.first_seat`.
        description: the condition that a valid value meets.
    """

    field: str
    description: str


class SodaFountainError(Exception):
    """A call failed. `str(error)` is one sentence for users; the attributes are for programs.

    Each reason has its own subclass. If the service gave no reason, or one that this release does not know, the error
    is of this class itself: use its `code`.

    Attributes:
        code: the gRPC status code.
        reason: the `Reason` from the service; None if it is missing or unknown to this release.
        message: the sentence.
        metadata: the facts that belong to the reason, such as `version` or `call_id`; see `Reason`.
        field_violations: the invalid fields of the request.
        retry_delay: the delay in seconds before a retry that the service suggests; None if it suggests none.
        request_id: the request id of a `new_game` or an `apply`; None for other calls. Repeat the call with it to learn
            the outcome if that is unknown. The request id of a `new_game` is a secret: keep it out of logs.
    """

    def __init__(
        self,
        message: str,
        *,
        code: grpc.StatusCode = grpc.StatusCode.UNKNOWN,
        reason: Reason | None = None,
        metadata: Mapping[str, str] | None = None,
        field_violations: Iterable[FieldViolation] = (),
        retry_delay: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.reason = reason
        self.metadata = dict(metadata or {})
        self.field_violations = tuple(field_violations)
        self.retry_delay = retry_delay
        self.request_id = request_id


class MalformedRequest(SodaFountainError):
    """The request is invalid; `field_violations` names the fields."""


class IllegalMove(SodaFountainError):
    """The rules do not allow this move now."""


class NotYourTurn(SodaFountainError):
    """The game does not await a move of this seat now."""


class GameFinished(SodaFountainError):
    """The game is over."""


class StaleEtag(SodaFountainError):
    """The move answers a decision that is no longer open: get the state and choose again."""


class Contention(SodaFountainError):
    """Concurrent moves of the same game won every attempt until the deadline: try again."""


class RequestIdReused(SodaFountainError):
    """The request id was used before with another request: use a new one."""


class TokenInvalid(SodaFountainError):
    """The token is missing, malformed, forged, or signed with a key that is no longer accepted.

    Raised before any call if the token has an invalid format.
    """


class WrongSeat(SodaFountainError):
    """The token is valid, but for another game or seat, or the call requires the host token."""


class GameNotFound(SodaFountainError):
    """The game does not exist: it was never created, has expired or was deleted."""


class GameDeleted(GameNotFound):
    """The game was deleted during a watch."""


class GameExpired(GameNotFound):
    """The game expired during a watch: it had no move for longer than the operator keeps idle games."""


class LimitExceeded(SodaFountainError):
    """A limit was reached: the size of a request, the number of concurrent calls, the capacity of the store."""


class StoreUnavailable(SodaFountainError):
    """The service cannot reach its store; nothing has changed. Try again after `retry_delay`."""


class Unconfirmed(SodaFountainError):
    """It is unknown whether the change was stored: retry with the `request_id` of the error."""


class ApiKeyInvalid(SodaFountainError):
    """The service requires an API key to create games, and the key is missing or unknown.

    Raised before any call if the key has an invalid format.
    """


class Unimplemented(SodaFountainError):
    """The server does not support the call or the kind of game."""


class InternalError(SodaFountainError):
    """The service has a bug. The operator can find the details in the log by `metadata["call_id"]`."""


class Draining(SodaFountainError):
    """The server is shutting down, and all retries failed; nothing has changed. Try again."""


class Upgrading(SodaFountainError):
    """Another release of the service stored the game, and all retries failed; nothing has changed. Try again."""


class Unreachable(SodaFountainError):
    """The service is unreachable, and all retries failed. It is unknown whether a change was stored."""


class DeadlineExceeded(SodaFountainError):
    """The call did not finish before its deadline. It is unknown whether a change was stored."""


class CommitmentChanged(SodaFountainError):
    """A state or history does not match the commitment to the seed: the deal of the game may have been replaced.

    Raised by the client itself. After an `apply`, the move may have been stored.
    """


class ClientClosed(SodaFountainError):
    """The client was closed, before the call or during it. In the latter case the result is unknown."""
