"""Verification of finished games: a history from a file, or from a running service."""

import re
from pathlib import Path
from typing import Final, NamedTuple

import grpc
from google.protobuf import json_format

from engine.texts import format_points
from service.contract import game_service_pb2 as pb
from service.contract.game_service_pb2_grpc import GameServiceStub
from service.translation.projection import standings
from service.verification.replay import Mismatch, Replay, Unverifiable, replay_history

_SECONDS: Final = 10.0
_MAX_ENTRIES: Final = 100_000
"""More than any game has."""


class CannotVerify(Exception):
    """The history cannot be read or replayed; the text says why."""


class VerificationFailed(Exception):
    """The history was changed, or the service did not apply the rules; the text says where."""


class Target(NamedTuple):
    """A running service.

    Attributes:
        address: its address, host:port.
        credentials: the credentials for TLS; None means no TLS.
        token: a token of the game, which only a private game requires; empty without one.
    """

    address: str
    credentials: grpc.ChannelCredentials | None = None
    token: str = ""

    def channel(self) -> grpc.Channel:
        """Open a channel."""
        if self.credentials is None:
            return grpc.insecure_channel(self.address)
        return grpc.secure_channel(self.address, self.credentials)


def verify_file(path: Path, commitment: bytes | None = None) -> str:
    """Verify a GetHistory response in a JSON file, and return the result in a few sentences.

    Args:
        path: the file.
        commitment: the `seed_commitment` that the caller kept; None without one.

    Raises:
        VerificationFailed: the history is not consistent.
        CannotVerify: the file is not such a response, or the history cannot be replayed.
    """
    try:
        history = json_format.Parse(path.read_text(), pb.GetHistoryResponse())
    except OSError as error:
        hint = "; a game id requires --target host:port" if re.fullmatch("[a-z2-7]{26}", str(path)) else ""
        raise CannotVerify(f"cannot read {path}: {error.strerror}{hint}") from None
    except (json_format.ParseError, UnicodeDecodeError):
        raise CannotVerify(f"{path} is not a GetHistory response as JSON") from None
    if history.next_page_token:
        raise CannotVerify(f"{path} contains only the first page of the history")
    return _summary(_replay(history, None, commitment))


def verify_target(target: Target, game_id: str, commitment: bytes | None = None) -> str:
    """Verify the history and the score of a finished game of a running service, and return the result in sentences.

    Args:
        target: the service.
        game_id: the game.
        commitment: the `seed_commitment` that the caller kept; None without one.

    Raises:
        VerificationFailed: history or score are not consistent.
        CannotVerify: the history cannot be fetched or replayed.
    """
    metadata = (("authorization", f"Bearer {target.token}"),) if target.token else ()
    with target.channel() as channel:
        stub = GameServiceStub(channel)
        try:
            request = pb.GetHistoryRequest(game_id=game_id, page_size=1000)
            history = pages = stub.GetHistory(request, metadata=metadata, timeout=_SECONDS)
            while pages.next_page_token:
                if not pages.entries or len(history.entries) > _MAX_ENTRIES:
                    raise CannotVerify(f"{target.address} sends pages without an end")
                request.page_token = pages.next_page_token
                pages = stub.GetHistory(request, metadata=metadata, timeout=_SECONDS)
                history.entries.extend(pages.entries)
            score = stub.Score(pb.ScoreRequest(game_id=game_id), metadata=metadata, timeout=_SECONDS)
        except grpc.RpcError as error:
            raise CannotVerify(f"cannot fetch the history from {target.address}: {error.details()}") from None
    return _summary(verify_history(history, score, game_id, commitment))


def verify_history(
    history: pb.GetHistoryResponse, score: pb.ScoreResponse, game_id: str, commitment: bytes | None = None
) -> Replay:
    """Replay the complete history of a finished game, and compare the result with the service's score.

    Args:
        history: the history, all pages in one message.
        score: the score.
        game_id: the game that they must be of.
        commitment: the `seed_commitment` that the caller kept; None without one.

    Raises:
        VerificationFailed: history or score are not consistent.
        CannotVerify: the history cannot be replayed.
    """
    replayed = _replay(history, game_id, commitment)
    reported = pb.ScoreResponse()
    reported.CopyFrom(score)
    reported.DiscardUnknownFields()  # a later release may report more
    if reported != standings(replayed.score, len(history.entries)):
        raise VerificationFailed("verification failed: the service's score differs from the score of the history")
    return replayed


def _replay(history: pb.GetHistoryResponse, game_id: str | None, commitment: bytes | None) -> Replay:
    try:
        return replay_history(history, game_id=game_id, commitment=commitment)
    except Mismatch as error:
        raise VerificationFailed(f"verification failed: {error}") from None
    except Unverifiable as error:
        raise CannotVerify(f"the history cannot be verified: {error}") from None


def _summary(replay: Replay) -> str:
    totals = ", ".join(
        f"{'automaton' if score.seat is None else f'seat {score.seat}'}: {format_points(score.total)}"
        for score in replay.score.scores
    )
    result = (
        f"{replay.title}, {replay.moves} moves. Every shuffle, event and point follows from the seed and the moves. "
        f"{replay.score.note} ({totals})"
    )
    if replay.kept_commitment:
        return f"Verified: {result} Game, seats, options and seed are those of the given commitment."
    return (
        f"Consistent: {result} Nothing shows that this is the game that was played: for that, give the seed_commitment "
        "that you kept from your first look at it, with --commitment."
    )
