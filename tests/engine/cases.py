"""What a game tells the conformance tests about itself. A new game writes a `Cases` and enters it here."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import TYPE_CHECKING, Any, Final, Protocol

from hypothesis import strategies as st

from engine.game import Viewer
from tests.engine.juices.cases import JuicesCases
from tests.engine.soda_jerk.cases import SodaJerkCases
from tests.engine.soda_smugglers.cases import SodaSmugglersCases

if TYPE_CHECKING:
    from tests.engine.plays import Step


class Cases(Protocol):
    """What the conformance tests need to know of a game.

    Attributes:
        longest: more moves than any game can have, or than any game by chance has.
        largest: how many bytes a snapshot may have.
    """

    longest: int
    largest: int

    def moves_to_try(self, state: Any, seat: int) -> tuple[Any, ...]:
        """Lists moves of an awaited seat, legal and not: the legal ones and whatever comes near, or all there are.

        It tells them by nothing but what the seat may know.
        """

    def options(self, seat_count: int) -> st.SearchStrategy[Any]:
        """Draws options with which this number of seats can play."""

    def pieces(self, state: Any) -> Any:
        """Counts every card and token that the state holds, wherever it is; equal as long as nothing is dealt anew."""

    def deals(self, event: Any) -> bool:
        """Tells whether an event deals anew."""

    def twins(self, steps: "Sequence[Step]", viewer: Viewer, luck: Random) -> Iterator[tuple[int, int, Any, list[Any]]]:
        """Rewrites stretches of a game so that nothing changes for the viewer but everything hidden from it.

        Yields:
            Of `steps[first:last]`: `first`, `last`, another state to start from, and other moves of the same seats.
        """


CASES: Final[dict[str, Cases]] = {
    "soda_jerk": SodaJerkCases(),
    "soda_smugglers": SodaSmugglersCases(),
    "juices": JuicesCases(),
}
