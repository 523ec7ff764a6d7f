"""A spectator of the demo, who tells what it sees as it happens."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from rich.console import Console

import sodafountain


@contextmanager
def spectator(console: Console, target: str, game_id: str) -> Iterator[None]:
    """Has a spectator watch a game from its beginning and print every event, in a thread and over a client of its own.

    The game is to be played to its end inside the block, which lasts until the spectator has seen that.
    """
    seated = threading.Event()

    def watch(client: sodafountain.Client) -> None:
        try:
            for update in client.spectator(game_id).watch():
                seated.set()
                for event in update.events:
                    console.print(event.text)
        finally:
            seated.set()

    with ThreadPoolExecutor(1) as threads, sodafountain.connect(target) as client:
        watching = threads.submit(watch, client)
        seated.wait()
        yield
        watching.result()
