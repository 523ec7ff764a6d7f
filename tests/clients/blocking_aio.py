"""The asyncio client with the face of the sync one, so that one test tells both."""

import asyncio
import inspect
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import sodafountain.aio

# A client, sync or asyncio with the same face.
Client: TypeAlias = Any
Connect: TypeAlias = Callable[..., Client]


class Settled:
    """Wraps something of `sodafountain.aio`: what it would have to be awaited for is awaited at once."""

    def __init__(self, thing: Any, runner: asyncio.Runner) -> None:  # Any: whatever there is
        self._thing = thing
        self._runner = runner

    def __getattr__(self, name: str) -> Any:  # whatever the wrapped thing has there
        return self._settle(getattr(self._thing, name))

    def __repr__(self) -> str:
        return repr(self._thing)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return self._called(self._thing.__anext__)()
        except StopAsyncIteration:
            raise StopIteration from None

    def _settle(self, value: Any) -> Any:
        if inspect.ismethod(value):
            return self._called(value)
        if isinstance(value, tuple):
            return tuple(self._settle(item) for item in value)
        if type(value).__module__ == sodafountain.aio.__name__:
            return Settled(value, self._runner)
        return value

    def _called(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            async def awaited() -> Any:
                value = method(*args, **kwargs)
                return await value if inspect.isawaitable(value) else value

            return self._settle(self._runner.run(awaited()))

        return call


def connect_asyncio(runner: asyncio.Runner, *args: Any, **kwargs: Any) -> Settled:
    """Makes an asyncio client in the runner's loop."""

    async def connected() -> sodafountain.aio.Client:
        return sodafountain.aio.connect(*args, **kwargs)

    return Settled(runner.run(connected()), runner)
