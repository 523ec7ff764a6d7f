"""The moves that a service has acknowledged, compared with the history."""

import random
import time
import uuid
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS, Game, GameClient
from tests.support.retrying_client import RetryingClient

_FLIPS: Final = 0.6


class Acknowledged(NamedTuple):
    """An acknowledged move. `started` and `done` are seconds on the monotonic clock."""

    seat: int
    move: game_pb2.Move
    version: int
    repeated: bool
    started: float
    done: float


class MoveLog:
    """The acknowledged moves of one game."""

    def __init__(self) -> None:
        self.moves: list[Acknowledged] = []

    def apply(
        self,
        client: RetryingClient,
        caller: GameClient,
        seat: int,
        move: game_pb2.Move,
        etag: str = "",
        timeout: float = SECONDS,
    ) -> pb.ApplyMoveResponse:
        """Make a move, with retries, and record its acknowledgement."""
        started = time.monotonic()
        answer = client.call(GameClient.apply, caller, move, etag=etag, request_id=str(uuid.uuid4()), timeout=timeout)
        self.moves.append(
            Acknowledged(
                seat, move, answer.committed_version, answer.repeated_request, started=started, done=time.monotonic()
            )
        )
        return answer

    def play(self, client: RetryingClient, game: Game, rng: random.Random, *, moves: int | None = None) -> None:
        """Play all seats at random, to the end or for a number of moves. Prefer flips, since they end rounds."""
        awaiting = client.call(GameClient.state, game.spectator).awaiting_seats
        while awaiting and moves != 0:
            seat = awaiting[0]
            offered = client.call(GameClient.legal, game.seats[seat])
            flips = [offer for offer in offered.moves if offer.move.soda_jerk.HasField("flip")]
            move = rng.choice(flips if flips and rng.random() < _FLIPS else offered.moves).move
            awaiting = self.apply(client, game.seats[seat], seat, move, offered.etag).state.awaiting_seats
            moves = None if moves is None else moves - 1


def full_history(client: RetryingClient, caller: GameClient) -> list[pb.HistoryEntry]:
    """Fetch every page of the history of a finished game."""
    page = client.call(GameClient.history, caller, page_size=1000)
    entries = list(page.entries)
    while page.next_page_token:
        page = client.call(GameClient.history, caller, page_size=1000, page_token=page.next_page_token)
        entries += page.entries
    return entries


def check_history(entries: Sequence[pb.HistoryEntry], moves: Sequence[Acknowledged]) -> None:
    """Check a history against all acknowledged moves: it contains each once, at its version, and no others."""
    assert [entry.version for entry in entries] == list(range(1, len(entries) + 1)), "a version is missing"
    versions = [move.version for move in moves]
    assert len(set(versions)) == len(versions), "two moves were acknowledged as one version"
    committed = {entry.version: (entry.seat, entry.move) for entry in entries[1:]}
    acknowledged = {move.version: (move.seat, move.move) for move in moves}
    assert acknowledged.keys() <= committed.keys(), "an acknowledged move is lost"
    assert committed.keys() <= acknowledged.keys(), "a move was committed that was not requested"
    assert acknowledged == committed, "another move was committed than the requested one"
    check_real_time_order(moves)


def check_real_time_order(moves: Iterable[Acknowledged]) -> None:
    """Check that a move has a higher version than each move that was acknowledged before it started."""
    moments = sorted(
        [(move.started, 1, move.version) for move in moves] + [(move.done, 0, move.version) for move in moves]
    )
    newest_done = 0
    for _, begins, version in moments:
        if begins:
            assert version > newest_done, f"version {version} was started after version {newest_done} was acknowledged"
        else:
            newest_done = max(newest_done, version)
