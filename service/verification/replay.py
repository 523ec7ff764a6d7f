"""Replay the history of a finished game, and check the seed, every shuffle, every event and the result.

A successful replay proves that seed, moves and rules produce exactly the reported events. With a commitment that was
kept since the beginning of the game, it also proves that the game id, the number of seats, the options and the seed are
those of the beginning. It does not prove that the moves are those that the seats made, or that the seed was generated
fairly: the creator of a game can discard games until it likes a deal.
"""

from typing import NamedTuple

from engine.errors import EngineError
from engine.game import Score
from engine.rng import Rng
from service.contract import game_pb2 as pb_game
from service.contract import game_service_pb2 as pb
from service.games import all_kinds
from service.games.errors import InvalidField
from service.translation import Translation, all_translations
from service.translation.commitment import commitment_of, commitment_text


class Mismatch(Exception):
    """The history is not consistent; the text says where."""


class Unverifiable(Exception):
    """The history cannot be replayed, which does not mean that it is wrong; the text says why."""


class Replay(NamedTuple):
    """A consistent history.

    Attributes:
        title: the title of the game.
        moves: the number of moves.
        score: the final score.
        kept_commitment: whether the commitment is the one that the caller kept.
    """

    title: str
    moves: int
    score: Score
    kept_commitment: bool


def replay_history(
    history: pb.GetHistoryResponse, *, game_id: str | None = None, commitment: bytes | None = None
) -> Replay:
    """Replay a complete history (all pages in one message).

    Args:
        history: the history.
        game_id: the game that it must be of; None if any.
        commitment: the `seed_commitment` that the caller kept from an earlier look at the game; None without one.

    Raises:
        Mismatch: the history is not consistent.
        Unverifiable: the history cannot be replayed.
    """
    kinds = all_kinds()
    kind = kinds.get(history.options.WhichOneof("game") or "")
    if kind is None:
        raise Unverifiable("this release does not offer the kind of game")
    game, translation = kind.game, all_translations(kinds)[kind.name]
    _check_revealed(history)
    _check_commitment(history, game_id, commitment)
    if history.rules_version != game.about.rules_version:
        raise Unverifiable(
            f"the game was played by version {history.rules_version} of the rules; this release has version "
            f"{game.about.rules_version}"
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
                state, events = game.new_game(options, history.seat_count, Rng(history.seed))
            else:
                state, events = game.apply(state, entry.seat, translation.move_value(entry.move))
        except (EngineError, InvalidField, ValueError) as error:  # ValueError: an unknown flavor, for example
            raise Mismatch(f"version {expected}: the rules reject it: {error}") from None
        if [_expected_event(translation, entry, event) for event in events] != list(entry.events):
            raise Mismatch(f"version {expected}: the reported events do not follow from the seed and the moves")
    if game.to_act(state):
        raise Mismatch("the game is not finished after the last entry")
    return Replay(game.about.title, len(history.entries) - 1, game.score(state), commitment is not None)


def _check_revealed(history: pb.GetHistoryResponse) -> None:
    """Check that the history has everything that a replay requires, and nothing unknown in its options."""
    if history.sealed:
        raise Unverifiable("the game is sealed: its seed is not revealed")
    if history.status != pb_game.GAME_STATUS_FINISHED:
        raise Unverifiable("the game is not finished: its seed is not revealed yet")
    known = pb_game.Options()
    known.CopyFrom(history.options)
    known.DiscardUnknownFields()
    if known.ByteSize() != history.options.ByteSize():
        raise Unverifiable("the game has options that this release does not know")


def _check_commitment(history: pb.GetHistoryResponse, game_id: str | None, commitment: bytes | None) -> None:
    """Check that one commitment binds the facts with which the replay starts."""
    if game_id is not None and history.game_id != game_id:
        raise Mismatch(f"the history is of the game {history.game_id or '(none)'}, not of {game_id}")
    text = commitment_text(history.game_id, history.seat_count, history.options, history.seed)
    for expected, line in zip(text.splitlines(), history.commitment_text.splitlines(), strict=False):
        if expected != line:
            name = expected.partition(" ")[0]
            raise Mismatch(f"the line `{name}` of commitment_text differs from the history")
    if history.commitment_text.startswith(text) and history.commitment_text != text:
        raise Unverifiable("commitment_text has lines that this release does not know")
    if history.commitment_text != text:
        raise Mismatch("commitment_text is not the text that the history requires")
    if commitment_of(text) != history.seed_commitment:
        raise Mismatch("seed_commitment is not the SHA-256 of commitment_text")
    if commitment not in {None, history.seed_commitment}:
        raise Mismatch("the commitment of the history is not the given one: this is another game or another seed")


def _expected_event(translation: Translation, entry: pb.HistoryEntry, event: object) -> pb_game.Event:
    """Return the message for an event of an entry. Times do not follow from the moves: an event has its entry's."""
    seat = entry.seat if entry.HasField("seat") else None
    expected = pb_game.Event.FromString(translation.event(entry.version, 0, seat, event))
    expected.ClearField("commit_time")
    if entry.HasField("commit_time"):
        expected.commit_time.CopyFrom(entry.commit_time)
    return expected
