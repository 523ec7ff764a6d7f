"""How the store's operations are measured, for whoever wants to know."""

from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar, cast

from service.store.values import StoreError, StoreFull, StoreUnavailable, Unconfirmed

Measured: TypeAlias = Callable[[str, str, float], None]
"""Told of an operation that is over, by the thread that asked for it: its name, `ok` or how it failed, and how many
seconds it took."""

Operation = TypeVar("Operation", bound=Callable[..., Any])

_OUTCOMES: Final = {StoreUnavailable: "away", Unconfirmed: "unconfirmed", StoreFull: "full"}


def operation(method: Operation) -> Operation:
    """Has a method of the store measured: its `_measured` is told, unless it is None."""
    name = method.__name__

    @wraps(method)
    def measuring(self: Any, *arguments: Any, **named: Any) -> Any:
        measured: Measured | None = self._measured
        if measured is None:
            return method(self, *arguments, **named)
        started, outcome = perf_counter(), "ok"
        try:
            return method(self, *arguments, **named)
        except StoreError as error:
            outcome = _OUTCOMES.get(type(error), "failed")
            raise
        finally:
            measured(name, outcome, perf_counter() - started)

    return cast("Operation", measuring)
