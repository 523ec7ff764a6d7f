"""What watching raises."""


class WatchLimitReached(Exception):
    """The server's limit of watchers is reached. The text is for callers."""
