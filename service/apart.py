"""Handlers that run on threads of their own, so that whoever holds theirs holds up nothing else."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


class Apart:
    """A handler with its own threads, by the attributes under which gRPC looks for them.

    Attributes:
        experimental_thread_pool: the threads.
        experimental_non_blocking: whether the handler of a stream returns at once and sends later.
    """

    def __init__(self, behave: Callable[..., Any], threads: ThreadPoolExecutor, *, non_blocking: bool = False) -> None:
        self._behave = behave
        self.experimental_thread_pool = threads
        self.experimental_non_blocking = non_blocking

    def __call__(self, *arguments: Any) -> Any:
        """Handles a call."""
        return self._behave(*arguments)
