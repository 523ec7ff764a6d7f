"""Exceptions of watching."""


class WatchLimitReached(Exception):
    """The server has the maximum number of watchers. The text is shown to callers."""
