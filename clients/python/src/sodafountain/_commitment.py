"""The commitment to a game's seed: keep the first one, and compare every later state and history with it."""

import hashlib
import threading
from typing import Final

import grpc
from google.protobuf import json_format

from sodafountain._errors import CommitmentChanged
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED, GameState, Options
from sodafountain.v1.game_service_pb2 import GetHistoryResponse

HEADING: Final = "sodafountain.v1"
SEED_BYTES: Final = 32


class Commitment:
    """The commitment of one game, which handles of the game may share. Threads may use it simultaneously.

    Attributes:
        kept: the commitment of the first state, 32 bytes; None before the first state.
    """

    def __init__(self, game_id: str, kept: bytes | None = None) -> None:
        self.kept = kept
        self._game_id = game_id
        self._lock = threading.Lock()

    def check_state(self, state: GameState, *, request_id: str | None = None) -> None:
        """Keep the commitment of the first state, and compare it with that of every other one.

        Args:
            state: a state of the game.
            request_id: the request id of the call, for the error.

        Raises:
            CommitmentChanged: the commitment differs from the one that is kept.
        """
        with self._lock:
            self.kept = self.kept or state.seed_commitment or None
        self._compare(state.seed_commitment, request_id)

    def check_history(self, history: GetHistoryResponse) -> None:
        """Compare a history with the commitment. If the history reveals the seed, also compare both with its text.

        Raises:
            CommitmentChanged: the history does not match the commitment.
        """
        self._compare(history.seed_commitment)
        if history.status != GAME_STATUS_FINISHED or history.sealed:
            return
        text = history.commitment_text
        if hashlib.sha256(text.encode()).digest() != history.seed_commitment or not self._is_about(text, history):
            raise changed(f"The history of game {self._game_id} does not match its seed commitment.")

    def _compare(self, found: bytes, request_id: str | None = None) -> None:
        if self.kept is not None and found != self.kept:
            raise changed(f"The seed commitment of game {self._game_id} has changed.", request_id)

    def _is_about(self, text: str, history: GetHistoryResponse) -> bool:
        """Return whether a text names this game and the facts of its history. A later release may add lines."""
        heading, *lines = text.removesuffix("\n").split("\n")
        facts = dict(line.partition(" ")[::2] for line in lines)
        try:
            options = json_format.Parse(facts.get("options", ""), Options(), ignore_unknown_fields=True)
        except json_format.ParseError:
            return False
        return (
            heading == HEADING
            and text.endswith("\n")
            and len(facts) == len(lines)
            and facts.get("game") == self._game_id == history.game_id
            and facts.get("seats") == str(history.seat_count)
            and facts.get("seed") == history.seed.hex()
            and len(history.seed) == SEED_BYTES
            and options == without_unknown(history.options)
        )


def without_unknown(options: Options) -> Options:
    """Return options without the fields and values of a later release, which JSON parsing ignores too."""
    known = Options()
    known.CopyFrom(options)
    known.DiscardUnknownFields()
    kind = known.WhichOneof("game")
    if kind is not None:
        chosen = getattr(known, kind)
        for field, value in chosen.ListFields():
            if field.enum_type is not None and value not in field.enum_type.values_by_number:
                chosen.ClearField(field.name)
    return known


def changed(message: str, request_id: str | None = None) -> CommitmentChanged:
    """Return the error of a commitment that does not match."""
    return CommitmentChanged(message, code=grpc.StatusCode.DATA_LOSS, request_id=request_id)
