"""A blocking adapter of the asyncio client, so that one test covers the sync and the asyncio client."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import sodafountain.aio

# A sync client, or an asyncio client in a `BlockingProxy`.
Client: TypeAlias = Any
Connect: TypeAlias = Callable[..., Client]


class BlockingProxy:
    """Wraps an object of `sodafountain.aio`. Its methods run their coroutines to completion."""

    def __init__(self, wrapped: Any, runner: asyncio.Runner) -> None:  # Any: any class of the client
        self._wrapped = wrapped
        self._runner = runner

    def __getattr__(self, name: str) -> Any:  # the type of the wrapped attribute
        return self._wrap(getattr(self._wrapped, name))

    def __repr__(self) -> str:
        return repr(self._wrapped)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._blocking(self._wrapped.__anext__)()
        except StopAsyncIteration:
            raise StopIteration from None

    def _wrap(self, value: Any) -> Any:
        if inspect.ismethod(value):
            return self._blocking(value)
        if isinstance(value, tuple):
            return tuple(self._wrap(item) for item in value)
        if type(value).__module__.startswith("sodafountain._aio_"):
            return BlockingProxy(value, self._runner)
        return value

    def _blocking(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            async def call_in_loop() -> Any:
                value = method(*args, **kwargs)
                return await value if inspect.isawaitable(value) else value

            return self._wrap(self._runner.run(call_in_loop()))

        return call


def connect_blocking_aio(runner: asyncio.Runner, *args: Any, **kwargs: Any) -> BlockingProxy:
    """Create an asyncio client in the runner's event loop and wrap it."""

    async def connect_in_loop() -> sodafountain.aio.Client:
        return sodafountain.aio.connect(*args, **kwargs)

    return BlockingProxy(runner.run(connect_in_loop()), runner)
