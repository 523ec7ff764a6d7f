"""Replay the history of a finished game, and check every shuffle, every event and the result.

A successful replay proves that the seed matches its commitment, and that seed, moves and rules produce exactly the
reported events. It does not prove that the seed was generated fairly.
"""

import hashlib
from typing import Any, NamedTuple

from engine.errors import EngineError
from engine.game import Score
from engine.rng import Rng
from service.contract import game_pb2 as pb_game
from service.contract import game_service_pb2 as pb
from service.games import all_kinds
from service.games.errors import InvalidField
from service.translation import Translation, all_translations
from service.translation.projection import revealed_events


class Mismatch(Exception):
    """The history is not consistent; the text says where."""


class Unverifiable(Exception):
    """The history cannot be replayed, which does not mean that it is wrong; the text says why."""


class Replay(NamedTuple):
    """A consistent history: the title of the game, the number of moves, and the final score."""

    title: str
    moves: int
    score: Score


def replay_history(history: pb.GetHistoryResponse) -> Replay:
    """Replay a complete history (all pages in one message).

    Raises:
        Mismatch: the history is not consistent.
        Unverifiable: the history cannot be replayed.
    """
    kinds = all_kinds()
    kind = kinds.get(history.options.WhichOneof("game") or "")
    if kind is None:
        raise Unverifiable("this release does not offer the kind of game")
    translation = all_translations(kinds)[kind.name]
    if not history.seed:
        raise Unverifiable("the game is sealed: its seed is not revealed")
    if hashlib.sha256(history.seed).digest() != history.seed_commitment:
        raise Mismatch("the seed does not match the commitment")
    if history.rules_version != kind.game.about.rules_version:
        raise Unverifiable(
            f"the game was played by version {history.rules_version} of the rules; this release has version "
            f"{kind.game.about.rules_version}"
        )
    if not history.entries:
        raise Mismatch("the history has no entries")
    state = None
    for expected, entry in enumerate(history.entries, start=1):
        if entry.version != expected:
            raise Mismatch(f"version {expected} is missing")
        if {entry.HasField("seat"), entry.HasField("move")} != {expected > 1}:
            raise Mismatch(f"version {expected}: only version 1, the creation, has no seat and no move")
        try:
            if state is None:
                options = translation.options_value(history.options)
                state, events = kind.game.new_game(options, history.seat_count, Rng(history.seed))
            else:
                state, events = kind.game.apply(state, entry.seat, translation.move_value(entry.move))
        except (EngineError, InvalidField, ValueError) as error:  # ValueError: an unknown flavor, for example
            raise Mismatch(f"version {expected}: the rules reject it: {error}") from None
        _compare(translation, entry, events)
    if kind.game.to_act(state):
        raise Mismatch("the game is not finished after the last entry")
    return Replay(kind.game.about.title, len(history.entries) - 1, kind.game.score(state))


def _compare(translation: Translation, entry: pb.HistoryEntry, events: tuple[Any, ...]) -> None:
    seat = entry.seat if entry.HasField("seat") else None
    encoded = revealed_events(translation, entry.version, seat, events)
    if [pb_game.Event.FromString(event) for event in encoded] != list(entry.events):
        raise Mismatch(f"version {entry.version}: the reported events do not follow from the seed and the moves")
