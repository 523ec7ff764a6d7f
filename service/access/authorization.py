"""Authorization: who a caller is in a game, for which seat it acts, and whose view it sees.

The result does not depend on whether the game exists, so that a token reveals nothing about other games.
"""

from typing import Final

from engine.game import Viewer
from service.access.errors import PermissionDenied, TokenInvalid
from service.access.tokens import Keyring, Principal

_TOKEN_REQUIRED: Final = "A token is required: send `authorization: Bearer <token>` with a token from NewGame."  # noqa: S105
_OTHER_GAME: Final = "The token is for another game."
_OTHER_SEAT: Final = "The token is for another seat."
_HOST_ONLY: Final = "Only the host of the game may do this."


class SeatRequired(Exception):
    """A host must name the seat that it acts for."""


class Authorizer:
    """Authorizes callers by the value of their `authorization` metadata."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def viewer(self, authorization: str | None, game_id: str, seat: int | None) -> Viewer:
        """Return the seat whose view the caller sees; None for a spectator, and for a host that names no seat.

        Raises:
            TokenInvalid: the token is invalid, or a spectator names a seat.
            PermissionDenied: the token is for another game or seat.
        """
        principal = self._principal(authorization, game_id)
        if principal is None:
            if seat is not None:
                raise TokenInvalid(_TOKEN_REQUIRED)
            return None
        if principal.is_host:
            return seat
        if seat not in {None, principal.seat}:
            raise PermissionDenied(_OTHER_SEAT)
        return principal.seat

    def acting_seat(self, authorization: str | None, game_id: str, seat: int | None) -> int:
        """Return the seat that the caller acts for.

        Raises:
            TokenInvalid: the token is missing or invalid.
            PermissionDenied: the token is for another game or seat.
            SeatRequired: a host names no seat.
        """
        viewer = self.viewer(authorization, game_id, seat)
        if viewer is None:
            if self._principal(authorization, game_id) is None:
                raise TokenInvalid(_TOKEN_REQUIRED)
            raise SeatRequired
        return viewer

    def check_host(self, authorization: str | None, game_id: str) -> None:
        """Check that the caller is the host of a game.

        Raises:
            TokenInvalid: the token is missing or invalid.
            PermissionDenied: the token is for another game, or for a seat.
        """
        principal = self._principal(authorization, game_id)
        if principal is None:
            raise TokenInvalid(_TOKEN_REQUIRED)
        if not principal.is_host:
            raise PermissionDenied(_HOST_ONLY)

    def _principal(self, authorization: str | None, game_id: str) -> Principal | None:
        """Return the holder of the token; None without a token."""
        if authorization is None:
            return None
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise TokenInvalid("The metadata `authorization` must have the form `Bearer <token>`.")
        principal = self._keyring.verify(token.strip())
        if principal.game_id != game_id:
            raise PermissionDenied(_OTHER_GAME)
        return principal
