"""A service with its gateway, and games played through REST."""

import json
import random
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tests.support.ports import free_port
from tests.support.service import START_SECONDS, running

Json: TypeAlias = dict[str, Any]
SECONDS = 10.0


@contextmanager
def running_with_rest(folder: Path, *flags: str) -> Iterator[str]:
    """Run a service with its gateway during the block; yield the URL of REST."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with running(folder, f"--rest-port={port}", *flags) as service:
        deadline = time.monotonic() + START_SECONDS
        while not _answers(url):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the gateway did not start:\n{service.log_file.read_text()}")
            time.sleep(0.02)
        yield url


def _answers(url: str) -> bool:
    try:
        call_rest(f"{url}/v1/gameKinds")
    except OSError:
        return False
    return True


@dataclass(frozen=True)
class RestGame:
    """A game with all of its tokens, played through REST."""

    url: str
    id: str
    host: str
    seats: tuple[str, ...]

    def get(self, call: str, **query: Any) -> Json:
        """Call `:call` of the game as its host. An empty call returns the game."""
        text = "&".join(f"{name}={json.dumps(value)}" for name, value in query.items())
        return call_rest(f"{self.url}/v1/games/{self.id}{call}?{text}", token=self.host)

    def move(self) -> Json | None:
        """Return a legal move as the body of ApplyMove; None when the game is over."""
        awaited = self.get("")["state"]["awaitingSeats"]
        if not awaited:
            return None
        moves = self.get(":legalMoves", seat=awaited[0])["moves"]
        return {"seat": awaited[0], "move": random.Random(len(moves)).choice(moves)["move"]}

    def finish(self) -> None:
        """Play the game to its end."""
        while body := self.move():
            call_rest(f"{self.url}/v1/games/{self.id}:applyMove", body, token=self.host)


def new_game(url: str, options: Json, seats: int) -> RestGame:
    """Create a game."""
    response = call_rest(f"{url}/v1/games", {"options": options, "seatCount": seats})
    return RestGame(url, response["state"]["gameId"], response["hostToken"], tuple(response["seatTokens"]))


def call_rest(url: str, body: Json | None = None, *, token: str | None = None) -> Json:
    """Make a call and decode the JSON of the response.

    Raises:
        urllib.error.HTTPError: the call failed.
    """
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode())
    if token:
        request.add_header("authorization", f"Bearer {token}")
    with urllib.request.urlopen(request, timeout=SECONDS) as response:
        answer: Json = json.load(response)
        return answer
