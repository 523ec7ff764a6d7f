"""Measurement of store operations, for metrics and traces."""

from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import Any, Final, TypeAlias, TypeVar, cast

from service.store.errors import StoreError, StoreFull, StoreUnavailable, Unconfirmed

Observer: TypeAlias = Callable[[str, str, float], None]
"""Receives each finished operation, in the thread that called it: its name, `ok` or how it failed, and its seconds."""

Operation = TypeVar("Operation", bound=Callable[..., Any])

OUTCOMES: Final = {StoreUnavailable: "away", Unconfirmed: "unconfirmed", StoreFull: "full"}


def operation(method: Operation) -> Operation:
    """Report each call of a method to the `_observer` of its object, if there is one."""
    name = method.__name__

    @wraps(method)
    def observed(self: Any, *arguments: Any, **named: Any) -> Any:
        observer: Observer | None = self._observer
        if observer is None:
            return method(self, *arguments, **named)
        started, outcome = perf_counter(), "ok"
        try:
            return method(self, *arguments, **named)
        except StoreError as error:
            outcome = OUTCOMES.get(type(error), "failed")
            raise
        finally:
            observer(name, outcome, perf_counter() - started)

    return cast("Operation", observed)
