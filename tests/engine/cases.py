"""What the conformance tests need to know about each game. A new game implements `Cases` and is added to `CASES`."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.game import Viewer
from tests.engine.juices.cases import JuicesCases
from tests.engine.soda_jerk.cases import SodaJerkCases
from tests.engine.soda_smugglers.cases import SodaSmugglersCases

if TYPE_CHECKING:
    from tests.engine.plays import Step


class Cases(Protocol):
    """What the conformance tests need to know about a game.

    Attributes:
        max_moves: a number of moves that no game reaches, or no game with random moves.
        max_bytes: the maximum size of a snapshot.
    """

    max_moves: int
    max_bytes: int

    def moves_to_try(self, state: Any, seat: int) -> tuple[Any, ...]:
        """Return legal and illegal moves of an awaited seat: all possible values, or all near the legal moves.

        They depend on nothing that is hidden from the seat.
        """

    def options(self, seat_count: int, random: Random) -> Any:
        """Return random options that are valid for this number of seats."""

    def pieces(self, state: Any) -> Any:
        """Return a count of all cards and tokens in a state. It changes only where an event deals."""

    def deals(self, event: Any) -> bool:
        """Return whether an event deals cards or tokens that were outside of the state."""

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, random: Random
    ) -> Iterator[tuple[int, int, Any, list[Any]]]:
        """Yield stretches of a game in which everything hidden from the viewer is replaced.

        Yields:
            For a stretch `steps[first:last]`: `first`, `last`, a state to start from instead, and the moves of the same
            seats to make instead. The viewer must see no difference.
        """


CASES: Final[dict[str, Cases]] = {
    "soda_jerk": SodaJerkCases(),
    "soda_smugglers": SodaSmugglersCases(),
    "juices": JuicesCases(),
}
