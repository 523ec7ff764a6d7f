"""The golden games of Soda Smugglers (see `tests.engine.golden`)."""

from collections.abc import Iterator
from typing import Final

from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.events import Event, LeftBorder, RoundEnded, RoundStarted
from engine.soda_smugglers.state import Options, State
from engine.texts import format_list, format_points
from tests.engine.golden import Golden

GAMES: Final = {
    "four-seats-events": Golden(Options(events=True, first_guard=1), 4, 8),
    "five-seats": Golden(Options(), 5, 9),
}
"""Four seats play eight rounds, with all eight event cards. The seeds were chosen for the variety of events."""

SNAPSHOT: Final = "four-seats-events"


def lines(state: State, event: Event) -> Iterator[str]:
    """Yield the lines for an event, with all hands when a round starts and the caps of a departure."""
    if isinstance(event, RoundStarted):
        yield ""
    yield f"  {SODA_SMUGGLERS.describe(event)}"
    if isinstance(event, LeftBorder):
        luggage = format_list([str(bottles) for bottles in event.luggage])
        yield f"    luggage {luggage}; traveler {format_points(event.caps)}, guard {format_points(event.guard_caps)}"
    elif isinstance(event, RoundStarted):
        view = SODA_SMUGGLERS.view(state, None)
        if view.event is not None:
            yield f"  {view.event_text}"
        kinds = [f"{getattr(view.tokens, kind)} {kind}" for kind in view.tokens.__struct_fields__]
        yield f"  tokens: {format_list(kinds)}"
        for seat in range(len(state.caps)):
            if seat != event.guard_seat:
                hand = SODA_SMUGGLERS.view(state, seat).seats[seat].hand
                yield f"  seat {seat} is dealt {format_list([str(bottles) for bottles in hand])}"
    elif isinstance(event, RoundEnded):
        yield f"    {sum(event.caps)} caps in all"
