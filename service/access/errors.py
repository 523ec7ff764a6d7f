"""Exceptions of access control. Their texts are shown to callers."""


class AccessError(Exception):
    """The caller may not do this."""


class TokenInvalid(AccessError):
    """A token is missing or invalid."""


class ApiKeyInvalid(AccessError):
    """An API key is missing or invalid."""


class PermissionDenied(AccessError):
    """The token is valid, but for another game or seat, or it does not permit this call."""
