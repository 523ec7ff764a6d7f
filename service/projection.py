"""The way out: tables, events and scores as one viewer may see them, in the contract's messages.

Everything that leaves the service about a game passes through here, and everything here passes through the game's own
`view` and `view_event`, or is public by its nature (versions, awaited seats, scores).
"""

from collections.abc import Iterable
from typing import Any

from google.protobuf.timestamp_pb2 import Timestamp

from engine.game import SPECTATOR, Viewer
from service.kinds import Kind
from service.table import Table
from sodafountain.v1 import game_pb2 as pb
from sodafountain.v1 import game_service_pb2 as rpc


def game_state(table: Table, viewer: Viewer, *, legal_moves: bool) -> pb.GameState:
    """Shows a game to a viewer."""
    game, meta = table.kind.game, table.meta
    return pb.GameState(
        game_id=table.game_id,
        kind=table.kind.number,
        options=table.kind.options(table.kind.codec.decode_options(meta.options)),
        seat_count=meta.seat_count,
        status=pb.GAME_STATUS_FINISHED if table.finished else pb.GAME_STATUS_ACTIVE,
        version=table.version,
        etag=table.etag(viewer),
        viewer_seat=viewer,
        awaiting_seats=table.awaiting,
        prompt="" if viewer is SPECTATOR else game.prompt(table.state, viewer),
        legal_moves=() if viewer is SPECTATOR or not legal_moves else legal(table, viewer),
        view=table.kind.view(game.view(table.state, viewer)),
        expire_time=Timestamp(seconds=table.expires_at // 1000, nanos=table.expires_at % 1000 * 1_000_000),
    )


def legal(table: Table, seat: int) -> list[pb.LegalMove]:
    """Lists the legal moves of a seat."""
    return [table.kind.legal_move(move) for move in table.kind.game.legal_moves(table.state, seat)]


def events(kind: Kind, version: int, seat: int | None, happened: Iterable[Any], viewer: Viewer) -> list[pb.Event]:
    """Shows the events of one version to a viewer."""
    return [kind.event(version, seat, kind.game.view_event(event, viewer)) for event in happened]


def revealed(kind: Kind, version: int, seat: int | None, happened: Iterable[Any]) -> list[pb.Event]:
    """Shows the events of one version of a finished, unsealed game in full."""
    return [kind.event(version, seat, event) for event in happened]


def score(table: Table) -> rpc.ScoreResponse:
    """Shows the standings."""
    standings = table.kind.game.score(table.state)
    return rpc.ScoreResponse(
        version=table.version,
        final=standings.final,
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
            for player in standings.seats
        ],
        winning_seats=standings.winners,
        note=standings.note,
    )
