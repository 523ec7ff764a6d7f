"""The events of Soda Smugglers."""

from engine.soda_smugglers.components import EventCard
from engine.soda_smugglers.state import Departure
from engine.value import Value


class Offer(Value, frozen=True):
    """A seat's bribe, face up."""

    seat: int
    bottles: int


class RoundStarted(Value, frozen=True, tag="round_started"):
    """A round started. Suitcases are dealt to every traveler, after the event card is revealed."""

    round: int
    guard_seat: int


class EventRevealed(Value, frozen=True, tag="event_revealed"):
    """The event card of the round was revealed; `guard_caps` is the change of the guard's caps."""

    card: EventCard
    guard_caps: int


class Packed(Value, frozen=True, tag="packed"):
    """`seat` has packed. Where the pack is hidden, `luggage` is empty and `bribe` is None."""

    seat: int
    luggage: tuple[int, ...] = ()
    bribe: int | None = None


class BribesRevealed(Value, frozen=True, tag="bribes_revealed"):
    """All travelers turned their bribes face up."""

    offers: tuple[Offer, ...]


class Inspected(Value, frozen=True, tag="inspected"):
    """The guard inspected a slot of `seat`."""

    seat: int
    slot: int
    bottles: int


class Sniffed(Value, frozen=True, tag="sniffed"):
    """The guard sent the dog to `seat`, which must now open a suitcase."""

    seat: int


class Opened(Value, frozen=True, tag="opened"):
    """`seat` opened a slot for the dog."""

    seat: int
    slot: int
    bottles: int


class LeftBorder(Value, frozen=True, tag="left_border"):
    """`seat` left the border; `caps` and `guard_caps` are the changes of its caps and of the guard's."""

    seat: int
    how: Departure
    luggage: tuple[int, ...]
    caps: int
    guard_caps: int


class RoundEnded(Value, frozen=True, tag="round_ended"):
    """A round ended; `caps` are the caps of all seats."""

    round: int
    caps: tuple[int, ...]


Event = RoundStarted | EventRevealed | Packed | BribesRevealed | Inspected | Sniffed | Opened | LeftBorder | RoundEnded
