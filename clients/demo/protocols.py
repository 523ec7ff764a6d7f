"""The interface of a kind of game in the demo: the games to play, the choice of moves, and a narrator."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

from google.protobuf.message import Message
from rich.console import RenderableType

from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse


@dataclass(frozen=True)
class DemoGame:
    """A game that the demo plays.

    Attributes:
        title: the headline; together with `deal` it determines the seeds.
        options: the options of the game.
        seats: the number of seats.
        deal: the number of the deal, chosen so that the game is interesting to read.
    """

    title: str
    options: Message
    seats: int
    deal: int

    @property
    def seed(self) -> bytes:
        """The seed of the service's draws."""
        return sha256(self._name.encode()).digest()

    def rng(self, seat: int) -> random.Random:
        """Return the random numbers for the choices of a seat."""
        return random.Random(f"{self._name} {seat}")  # noqa: S311 (no secret)

    @property
    def _name(self) -> str:
        return f"{self.title} {self.deal}"


class Narrator(Protocol):
    """Narrates one game."""

    def introduce(self, state: GameState) -> Iterator[RenderableType]:
        """Yield an introduction to the game.

        Args:
            state: the new game as a spectator sees it.
        """

    def narrate(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Yield the narration of a move.

        Args:
            answer: the answer to the move.
        """


class GameDemo(Protocol):
    """A kind of game in the demo; implemented by modules."""

    GAMES: Sequence[DemoGame]

    def choose(self, state: GameState, rng: random.Random) -> LegalMove:
        """Return a good legal move.

        Args:
            state: the game as the seat sees it, with its legal moves.
            rng: random numbers for the choice.
        """

    def narrator(self) -> Narrator:
        """Create the narrator of a new game."""
