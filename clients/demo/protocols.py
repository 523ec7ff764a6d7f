"""What the demo wants to know about a kind of game: which games to show, how seats choose, how it is drawn."""

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
class Programme:
    """A game to show.

    Attributes:
        title: its headline.
        options: how it is played.
        seats: by how many.
        deal: which of its deals, so that a game worth telling is told each time.
    """

    title: str
    options: Message
    seats: int
    deal: int

    @property
    def seed(self) -> bytes:
        """The seed of the service's draws."""
        return sha256(self._name.encode()).digest()

    def chance(self, seat: int) -> random.Random:
        """What decides for a seat between moves that seem equal."""
        return random.Random(f"{self._name} {seat}")  # noqa: S311 (no secret)

    @property
    def _name(self) -> str:
        return f"{self.title} {self.deal}"


class Story(Protocol):
    """Tells one game."""

    def begin(self, state: GameState) -> Iterator[RenderableType]:
        """Introduces the game.

        Args:
            state: the new game as a spectator sees it.
        """

    def go_on(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Tells what there is to tell after a move.

        Args:
            answer: what the mover was answered.
        """


class Show(Protocol):
    """A kind of game as the demo shows it: a module with these."""

    PROGRAMME: Sequence[Programme]

    def choose(self, state: GameState, chance: random.Random) -> LegalMove:
        """Chooses sensibly among the legal moves, by nothing but what the seat sees.

        Args:
            state: the game as the seat sees it, with its legal moves.
            chance: decides between equals.
        """

    def story(self) -> Story:
        """Begins to tell a game."""
