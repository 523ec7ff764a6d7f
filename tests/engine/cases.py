"""The cases of each game for the conformance tests. A new game implements `Cases` and is added to `CASES`."""

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
    """The data and functions of a game for the conformance tests.

    Attributes:
        max_moves: an upper bound of the number of moves of a game with random moves.
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
        """Return whether an event deals cards or tokens that were not in the state before."""

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, random: Random
    ) -> Iterator[tuple[int, int, Any, list[Any]]]:
        """Yield stretches of a game in which everything hidden from the viewer is replaced.

        Yields:
            For each stretch `steps[first:last]`: `first`, `last`, the replaced state to start from, and the replaced
            moves of the same seats. The viewer must see no difference.
        """


CASES: Final[dict[str, Cases]] = {
    "soda_jerk": SodaJerkCases(),
    "soda_smugglers": SodaSmugglersCases(),
    "juices": JuicesCases(),
}
