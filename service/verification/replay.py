"""Replays the history of a finished game and checks every shuffle, event and the result.

What a good replay proves: the seed is the one that was committed to when the game began, and with it, and the moves
that were made, the rules give exactly the events that were told. It does not prove that the seed was drawn honestly.
"""

import hashlib
from typing import Any, NamedTuple

from engine.errors import EngineError
from engine.game import Score
from engine.rng import Rng
from service.games.kinds import Kind, all_kinds
from service.translation import projection
from service.transport.errors import Refusal
from sodafountain.v1 import game_pb2 as pb_game
from sodafountain.v1 import game_service_pb2 as pb


class Mismatch(Exception):
    """The history does not hold; the text says where."""


class Unverifiable(Exception):
    """The history cannot be replayed, which says nothing against it; the text says why."""


class Replayed(NamedTuple):
    """A history that holds: the game's title, how many moves it took and how it ended."""

    title: str
    moves: int
    score: Score


def replay(history: pb.GetHistoryResponse) -> Replayed:
    """Replays a whole history (all pages in one message).

    Raises:
        Mismatch: it does not hold.
        Unverifiable: it cannot be replayed.
    """
    kind = all_kinds().get(history.options.WhichOneof("game") or "")
    if kind is None:
        raise Unverifiable("the kind of game is not one of this release")
    if not history.seed:
        raise Unverifiable("the game was sealed, so that its seed is not told")
    if hashlib.sha256(history.seed).digest() != history.seed_commitment:
        raise Mismatch("the seed is not the one that was committed to")
    if history.rules_version != kind.game.about.rules_version:
        raise Unverifiable(
            f"it was played by version {history.rules_version} of the rules; this release has version "
            f"{kind.game.about.rules_version}"
        )
    if not history.entries:
        raise Mismatch("it has no entries")
    state = None
    for expected, entry in enumerate(history.entries, start=1):
        if entry.version != expected:
            raise Mismatch(f"version {expected} is missing")
        if {entry.HasField("seat"), entry.HasField("move")} != {expected > 1}:
            raise Mismatch(f"version {expected}: the first is the creation and nobody's move, every other is a seat's")
        try:
            if state is None:
                options = kind.options_value(history.options)
                state, events = kind.game.new_game(options, history.seat_count, Rng(history.seed))
            else:
                state, events = kind.game.apply(state, entry.seat, kind.move_value(entry.move))
        except (EngineError, Refusal, ValueError) as error:  # ValueError: no such flavor, for one
            raise Mismatch(f"version {expected}: the rules refuse it: {error}") from None
        _compare(kind, entry, events)
    if kind.game.to_act(state):
        raise Mismatch("the game is not over at its end")
    return Replayed(kind.game.about.title, len(history.entries) - 1, kind.game.score(state))


def _compare(kind: Kind, entry: pb.HistoryEntry, events: tuple[Any, ...]) -> None:
    seat = entry.seat if entry.HasField("seat") else None
    told = [pb_game.Event.FromString(event) for event in projection.revealed(kind, entry.version, seat, events)]
    if told != list(entry.events):
        raise Mismatch(f"version {entry.version}: other events follow from the seed and the moves than were told")
