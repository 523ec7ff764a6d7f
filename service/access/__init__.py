"""Access control: tokens, API keys, and what their bearers may do."""

from service.access.authorization import (
    Access,
    SeatRequired,
    access,
    acting_seat,
    bearer,
    check_host,
    required_bearer,
)
from service.access.errors import AccessError, ApiKeyInvalid, PermissionDenied, TokenInvalid
from service.access.keys import new_api_key, new_token_key, parse_api_keys, parse_encryption_keys, parse_token_keys
from service.access.tokens import ApiKeys, Keyring, Principal, Role

__all__ = [
    "Access",
    "AccessError",
    "ApiKeyInvalid",
    "ApiKeys",
    "Keyring",
    "PermissionDenied",
    "Principal",
    "Role",
    "SeatRequired",
    "TokenInvalid",
    "access",
    "acting_seat",
    "bearer",
    "check_host",
    "new_api_key",
    "new_token_key",
    "parse_api_keys",
    "parse_encryption_keys",
    "parse_token_keys",
    "required_bearer",
]
