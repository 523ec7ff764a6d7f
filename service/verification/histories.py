"""`sodafountain verify`: fetches or reads a history, and tells in a sentence whether it holds."""

import re
from pathlib import Path
from typing import Final

import grpc
from google.protobuf import json_format

from service.translation import projection
from service.verification.replay import Mismatch, Replayed, Unverifiable, replay
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

_SECONDS: Final = 10.0


class CannotVerify(Exception):
    """The history cannot be had or replayed; the text says why."""


class DoesNotHold(Exception):
    """The history was tampered with, or the service did not keep the rules; the text says where."""


def verify_file(path: Path) -> str:
    """Verifies a GetHistory response kept as JSON.

    Raises:
        DoesNotHold: it does not hold.
        CannotVerify: it is not one, or cannot be replayed.
    """
    try:
        history = json_format.Parse(path.read_text(), pb.GetHistoryResponse())
    except OSError as error:
        hint = "; a game's id needs --target host:port" if re.fullmatch("[a-z2-7]{26}", str(path)) else ""
        raise CannotVerify(f"cannot read {path}: {error.strerror}{hint}") from None
    except (json_format.ParseError, UnicodeDecodeError):
        raise CannotVerify(f"{path} is not a GetHistory response as JSON") from None
    if history.next_page_token:
        raise CannotVerify(f"{path} holds only the first page of the history")
    return _told(_replayed(history))


def verify_target(target: str, game_id: str) -> str:
    """Verifies a finished game of a running service, and that its score is what the history gives.

    Raises:
        DoesNotHold: it does not hold.
        CannotVerify: it cannot be fetched or replayed.
    """
    with grpc.insecure_channel(target) as channel:
        stub = GameServiceStub(channel)
        try:
            history = pages = stub.GetHistory(pb.GetHistoryRequest(game_id=game_id, page_size=1000), timeout=_SECONDS)
            while pages.next_page_token:
                request = pb.GetHistoryRequest(game_id=game_id, page_size=1000, page_token=pages.next_page_token)
                pages = stub.GetHistory(request, timeout=_SECONDS)
                history.entries.extend(pages.entries)
            score = stub.Score(pb.ScoreRequest(game_id=game_id), timeout=_SECONDS)
        except grpc.RpcError as error:
            raise CannotVerify(f"cannot fetch the history from {target}: {error.details()}") from None
    return _told(held(history, score))


def held(history: pb.GetHistoryResponse, score: pb.ScoreResponse) -> Replayed:
    """Replays the whole history of a finished game, and compares its result with the service's score.

    Raises:
        DoesNotHold: it does not hold.
        CannotVerify: it cannot be replayed.
    """
    replayed = _replayed(history)
    told = pb.ScoreResponse()
    told.CopyFrom(score)
    told.DiscardUnknownFields()  # a later release may tell more
    if told != projection.standings(replayed.score, len(history.entries)):
        raise DoesNotHold("the history does not hold: the service tells another score than follows from it")
    return replayed


def _replayed(history: pb.GetHistoryResponse) -> Replayed:
    try:
        return replay(history)
    except Mismatch as error:
        raise DoesNotHold(f"the history does not hold: {error}") from None
    except Unverifiable as error:
        raise CannotVerify(f"the history cannot be verified: {error}") from None


def _told(replayed: Replayed) -> str:
    totals = ", ".join(
        f"seat {seat.seat}: {seat.total}".replace("-", "\N{MINUS SIGN}") for seat in replayed.score.seats
    )
    return (
        f"Verified: {replayed.title}, {replayed.moves} moves. The seed is the one committed to, and every "
        f"shuffle, event and point follows from it and the moves. {replayed.score.note} ({totals})"
    )
