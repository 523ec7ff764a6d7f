"""A spectator that prints the events of a game while it is played."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from rich.console import Console

import sodafountain


@contextmanager
def spectator(console: Console, target: str, game_id: str) -> Iterator[None]:
    """Watch a game and print every event, in a thread and with a client of its own.

    The block starts when the watch is open. It must play the game to its end: the context manager then waits until the
    watch has ended.
    """
    watching = threading.Event()

    def watch(client: sodafountain.Client) -> None:
        try:
            for update in client.spectator(game_id).watch():
                watching.set()
                for event in update.events:
                    console.print(event.text)
        finally:
            watching.set()

    with ThreadPoolExecutor(1) as threads, sodafountain.connect(target) as client:
        task = threads.submit(watch, client)
        watching.wait()
        yield
        task.result()
