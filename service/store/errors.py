"""Exceptions of the store. Their texts are for the operator's log, never for callers."""


class StoreError(Exception):
    """An operation of the store failed.

    Attributes:
        game_id: the game whose creation failed, set by the repository; otherwise empty.
        game_kind: the kind of that game; likewise.
    """

    game_id = ""
    game_kind = ""


class StoreUnavailable(StoreError):
    """The server is unreachable, did not answer, or refused. Nothing changed."""


class AccessDenied(StoreUnavailable):
    """The server refuses the user: its password is wrong, or a right is missing. Nothing changed."""


class Unconfirmed(StoreError):
    """A write was sent, but its outcome is unknown, or too few replicas confirmed it.

    The same request can be sent again: its request id shows whether it was committed.
    """


class StoreFull(StoreError):
    """The server has no memory left for writes. Nothing changed."""


class UnknownLayout(StoreError):
    """Another release stored the game in a layout that this one does not know. Nothing changed."""
