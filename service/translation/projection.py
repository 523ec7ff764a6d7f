"""The way out: tables, events and scores as one viewer may see them, in the contract's messages.

Everything that leaves the service about a game passes through here, and everything here passes through the game's own
`view` and `view_event`, or is public by its nature (versions, awaited seats, scores).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from engine.game import SPECTATOR, Score, Viewer
from service.games.game import Meta, Table
from service.games.kinds import Kind
from service.store import Entry
from service.translation import encoding as wire
from sodafountain.v1 import game_pb2 as pb
from sodafountain.v1 import game_service_pb2 as rpc

_STATE_LEGAL_MOVES: Final = pb.GameState.LEGAL_MOVES_FIELD_NUMBER
_STATE_VIEW: Final = pb.GameState.VIEW_FIELD_NUMBER
_ENTRY_EVENTS: Final = rpc.HistoryEntry.EVENTS_FIELD_NUMBER
_RESPONSE_MOVES: Final = rpc.LegalMovesResponse.MOVES_FIELD_NUMBER


def game_state(table: Table, viewer: Viewer, *, legal_moves: bool) -> bytes:
    """Shows a game to a viewer: a GameState, encoded."""
    kind, game = table.kind, table.kind.game
    state = pb.GameState(
        status=pb.GAME_STATUS_FINISHED if table.finished else pb.GAME_STATUS_ACTIVE,
        version=table.version,
        etag=table.etag(viewer),
        viewer_seat=viewer,
        awaiting_seats=table.awaiting,
        prompt="" if viewer is SPECTATOR else game.prompt(table.state, viewer),
        expire_time=Timestamp(seconds=table.expires_at // 1000, nanos=table.expires_at % 1000 * 1_000_000),
    )
    view = wire.field(_STATE_VIEW, kind.view(game.view(table.state, viewer)))
    moves = legal(table, viewer, _STATE_LEGAL_MOVES) if legal_moves and viewer is not SPECTATOR else b""
    return _facts(table.game_id, kind, table.meta) + state.SerializeToString() + moves + view


@lru_cache(maxsize=4096)
def _facts(game_id: str, kind: Kind, meta: Meta) -> bytes:
    """Tells what never changes about a game: a part of every GameState, encoded."""
    options = kind.options(kind.codec.decode_options(meta.options))
    return pb.GameState(
        game_id=game_id, kind=kind.number, options=options, seat_count=meta.seat_count
    ).SerializeToString()


def legal(table: Table, seat: int, number: int) -> bytes:
    """Lists the legal moves of a seat: encoded, each as a field with that number."""
    legal_move = table.kind.legal_move
    return b"".join([legal_move(number, move) for move in table.kind.game.legal_moves(table.state, seat)])


def legal_moves(table: Table, seat: int) -> bytes:
    """Shows a seat what it may do: a LegalMovesResponse, encoded."""
    response = rpc.LegalMovesResponse(
        version=table.version,
        etag=table.etag(seat),
        awaiting_seats=table.awaiting,
        prompt=table.kind.game.prompt(table.state, seat),
    )
    return response.SerializeToString() + legal(table, seat, _RESPONSE_MOVES)


def events(kind: Kind, version: int, seat: int | None, happened: Iterable[Any], viewer: Viewer) -> list[bytes]:
    """Shows the events of one version to a viewer: Events, encoded."""
    return [kind.event(version, seat, kind.game.view_event(event, viewer)) for event in happened]


def revealed(kind: Kind, version: int, seat: int | None, happened: Iterable[Any]) -> list[bytes]:
    """Shows the events of one version of a finished, unsealed game in full: Events, encoded."""
    return [kind.event(version, seat, event) for event in happened]


def history_entry(table: Table, entry: Entry, viewer: Viewer) -> bytes:
    """Shows one commit of a finished game: a HistoryEntry, encoded. What a sealed game keeps secret is left out."""
    kind = table.kind
    happened = kind.codec.decode_events(entry.events)
    shown = rpc.HistoryEntry(version=entry.version, seat=entry.seat)
    if table.meta.sealed:
        told = events(kind, entry.version, entry.seat, happened, viewer)
    else:
        told = revealed(kind, entry.version, entry.seat, happened)
        if entry.move:
            shown.move.CopyFrom(kind.move(kind.codec.decode_move(entry.move)))
    return shown.SerializeToString() + b"".join([wire.field(_ENTRY_EVENTS, event) for event in told])


def score(table: Table) -> rpc.ScoreResponse:
    """Shows the standings."""
    return standings(table.kind.game.score(table.state), table.version)


def standings(score: Score, version: int) -> rpc.ScoreResponse:
    """Writes the standings at a version."""
    return rpc.ScoreResponse(
        version=version,
        final=score.final,
        seats=[
            pb.SeatScore(
                seat=player.seat,
                total=player.total,
                rank=player.rank,
                lines=[
                    pb.ScoreLine(code=line.code, label=line.label, points=line.points, round=line.round)
                    for line in player.lines
                ],
                tie_breakers=player.tie_breakers,
            )
            for player in score.seats
        ],
        winning_seats=score.winners,
        note=score.note,
    )
