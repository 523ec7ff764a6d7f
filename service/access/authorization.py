"""Authorization: who a caller is in a game, for which seat it acts, and whose view it sees.

Who a caller is, is known before its request is read; what it may do depends on the request. The result does not depend
on whether the game exists, so that a token reveals nothing about other games. Whether the game is private is checked
where it is read: without a token, a private game does not exist.
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
        principal: the holder of the caller's token; None without a token. Such a caller may see public games only.
    """

    viewer: Viewer
    principal: Principal | None

    @property
    def is_player(self) -> bool:
        """Whether the caller has a token of a seat or of the host."""
        return self.principal is not None and self.principal.holder is not Role.SPECTATOR


def bearer(keyring: Keyring, authorization: str | None) -> Principal | None:
    """Return the holder of the token in the metadata `authorization`; None without it.

    Raises:
        TokenInvalid: the token is invalid.
    """
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer":
        raise TokenInvalid("The metadata `authorization` must have the form `Bearer <token>`.")
    return keyring.verify(token.strip())


def required_bearer(keyring: Keyring, authorization: str | None) -> Principal:
    """Return the holder of the token in the metadata `authorization`.

    Raises:
        TokenInvalid: the token is missing or invalid.
    """
    if (principal := bearer(keyring, authorization)) is None:
        raise TokenInvalid(_TOKEN_REQUIRED)
    return principal


def access(principal: Principal | None, game_id: str, seat: int | None) -> Access:
    """Return what a caller may see. `seat` is the seat that it names, if any.

    Raises:
        TokenInvalid: a caller without a token names a seat.
        PermissionDenied: the token is for another game or seat.
    """
    if principal is None:
        if seat is not None:
            raise TokenInvalid(_TOKEN_REQUIRED)
        return Access(SPECTATOR, None)
    _check_game(principal, game_id)
    match principal.holder:
        case Role.HOST:
            return Access(seat, principal)
        case Role.SPECTATOR:
            if seat is not None:
                raise PermissionDenied(_SPECTATOR)
            return Access(SPECTATOR, principal)
        case own:
            if seat not in {None, own}:
                raise PermissionDenied(_OTHER_SEAT)
            return Access(own, principal)


def acting_seat(principal: Principal, game_id: str, seat: int | None) -> int:
    """Return the seat that a caller acts for.

    Raises:
        PermissionDenied: the token is for another game or seat, or for a spectator.
        SeatRequired: a host names no seat.
    """
    viewer = access(principal, game_id, seat).viewer
    if viewer is not SPECTATOR:
        return viewer
    if principal.holder is Role.SPECTATOR:
        raise PermissionDenied(_SPECTATOR)
    raise SeatRequired


def check_host(principal: Principal, game_id: str) -> None:
    """Check that a caller is the host of a game.

    Raises:
        PermissionDenied: the token is for another game, or not for the host.
    """
    _check_game(principal, game_id)
    if principal.holder is not Role.HOST:
        raise PermissionDenied(_HOST_ONLY)


def _check_game(principal: Principal, game_id: str) -> None:
    if principal.game_id != game_id:
        raise PermissionDenied(_OTHER_GAME)
