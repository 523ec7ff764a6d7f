"""Authorization: who a caller is in a game, for which seat it acts, and whose view it sees.

The result does not depend on whether the game exists, so that a token reveals nothing about other games. Whether the
game is private is checked where it is read: without a token, a private game does not exist.
"""

from typing import Final, NamedTuple

from engine.game import SPECTATOR, Viewer
from service.access.errors import PermissionDenied, TokenInvalid
from service.access.tokens import Keyring, Principal, Role

_TOKEN_REQUIRED: Final = "A token is required: send `authorization: Bearer <token>` with a token from NewGame."  # noqa: S105
_OTHER_GAME: Final = "The token is for another game."
_OTHER_SEAT: Final = "The token is for another seat."
_SPECTATOR: Final = "The token is for a spectator: it is valid for no seat."
_HOST_ONLY: Final = "Only the host of the game may do this."


class SeatRequired(Exception):
    """A host must name the seat that it acts for."""


class Access(NamedTuple):
    """What a caller may see of a game.

    Attributes:
        viewer: the seat whose view it is; None for a spectator, and for a host that names no seat.
        has_token: whether the caller has a token of the game. Otherwise it may look only if the game is public.
    """

    viewer: Viewer
    has_token: bool


class Authorizer:
    """Authorizes callers by the value of their `authorization` metadata."""

    def __init__(self, keyring: Keyring) -> None:
        self._keyring = keyring

    def access(self, authorization: str | None, game_id: str, seat: int | None) -> Access:
        """Return what the caller may see. `seat` is the seat that it names, if any.

        Raises:
            TokenInvalid: the token is invalid, or a caller without a token names a seat.
            PermissionDenied: the token is for another game or seat.
        """
        principal = self._principal(authorization, game_id)
        if principal is None:
            if seat is not None:
                raise TokenInvalid(_TOKEN_REQUIRED)
            return Access(SPECTATOR, has_token=False)
        match principal.holder:
            case Role.HOST:
                return Access(seat, has_token=True)
            case Role.SPECTATOR:
                if seat is not None:
                    raise PermissionDenied(_SPECTATOR)
                return Access(SPECTATOR, has_token=True)
            case own:
                if seat not in {None, own}:
                    raise PermissionDenied(_OTHER_SEAT)
                return Access(own, has_token=True)

    def acting_seat(self, authorization: str | None, game_id: str, seat: int | None) -> int:
        """Return the seat that the caller acts for.

        Raises:
            TokenInvalid: the token is missing or invalid.
            PermissionDenied: the token is for another game or seat, or for a spectator.
            SeatRequired: a host names no seat.
        """
        viewer = self.access(authorization, game_id, seat).viewer
        if viewer is not SPECTATOR:
            return viewer
        principal = self._principal(authorization, game_id)
        if principal is None:
            raise TokenInvalid(_TOKEN_REQUIRED)
        if principal.holder is Role.SPECTATOR:
            raise PermissionDenied(_SPECTATOR)
        raise SeatRequired

    def check_host(self, authorization: str | None, game_id: str) -> None:
        """Check that the caller is the host of a game.

        Raises:
            TokenInvalid: the token is missing or invalid.
            PermissionDenied: the token is for another game, or not for the host.
        """
        principal = self._principal(authorization, game_id)
        if principal is None:
            raise TokenInvalid(_TOKEN_REQUIRED)
        if principal.holder is not Role.HOST:
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
