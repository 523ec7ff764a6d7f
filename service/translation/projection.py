"""Games, events and scores as messages of the contract that show only what one viewer may see."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from google.protobuf.timestamp_pb2 import Timestamp

from engine.game import SPECTATOR, Score, Viewer
from service.contract import game_pb2 as pb
from service.contract import game_service_pb2 as rpc
from service.games.formats import Change
from service.games.game import Meta, StoredGame
from service.translation.encoding import field
from service.translation.translation import Translation

_STATE_LEGAL_MOVES: Final = pb.GameState.LEGAL_MOVES_FIELD_NUMBER
_STATE_VIEW: Final = pb.GameState.VIEW_FIELD_NUMBER
_ENTRY_EVENTS: Final = rpc.HistoryEntry.EVENTS_FIELD_NUMBER
_RESPONSE_MOVES: Final = rpc.LegalMovesResponse.MOVES_FIELD_NUMBER
_CACHED_CONSTANTS: Final = 4096


class Projection:
    """Projects games for viewers."""

    def __init__(self, translations: Mapping[str, Translation]) -> None:
        self._translations = translations
        self._constants = lru_cache(maxsize=_CACHED_CONSTANTS)(self._encode_constants)

    def game_state(self, game: StoredGame, viewer: Viewer, *, legal_moves: bool) -> bytes:
        """Return the GameState of a game for a viewer, encoded."""
        rules, translation = game.kind.game, self._translations[game.kind.name]
        state = pb.GameState(
            status=pb.GAME_STATUS_FINISHED if game.finished else pb.GAME_STATUS_ACTIVE,
            version=game.version,
            etag=game.etag(viewer),
            viewer_seat=viewer,
            awaiting_seats=game.awaiting,
            prompt="" if viewer is SPECTATOR else rules.prompt(game.state, viewer),
            expire_time=Timestamp(seconds=game.expires_at // 1000, nanos=game.expires_at % 1000 * 1_000_000),
        )
        view = field(_STATE_VIEW, translation.view(rules.view(game.state, viewer)))
        moves = b""
        if legal_moves and viewer is not SPECTATOR:
            moves = self._legal_moves(game, viewer, _STATE_LEGAL_MOVES)
        return self._constants(game.game_id, game.meta) + state.SerializeToString() + moves + view

    def legal_moves(self, game: StoredGame, seat: int) -> bytes:
        """Return the LegalMovesResponse for a seat, encoded."""
        response = rpc.LegalMovesResponse(
            version=game.version,
            etag=game.etag(seat),
            awaiting_seats=game.awaiting,
            prompt=game.kind.game.prompt(game.state, seat),
        )
        return response.SerializeToString() + self._legal_moves(game, seat, _RESPONSE_MOVES)

    def events(
        self, game: StoredGame, version: int, seat: int | None, events: Iterable[Any], viewer: Viewer
    ) -> list[bytes]:
        """Return the Events of one version for a viewer, encoded."""
        rules, translation = game.kind.game, self._translations[game.kind.name]
        return [translation.event(version, seat, rules.view_event(event, viewer)) for event in events]

    def history(self, game: StoredGame, entries: Iterable[Change], viewer: Viewer) -> list[bytes]:
        """Return the HistoryEntries of commits of a finished game, encoded; sealed ones without hidden information."""
        return [self._history_entry(game, entry, viewer) for entry in entries]

    def options(self, game: StoredGame) -> pb.Options:
        """Return the Options of a game."""
        return self._translations[game.kind.name].options_message(game.meta.options)

    def _legal_moves(self, game: StoredGame, seat: int, number: int) -> bytes:
        """Return the legal moves of a seat, each encoded as a field with that number."""
        legal_move = self._translations[game.kind.name].legal_move
        return b"".join([legal_move(number, move) for move in game.kind.game.legal_moves(game.state, seat)])

    def _history_entry(self, game: StoredGame, entry: Change, viewer: Viewer) -> bytes:
        translation = self._translations[game.kind.name]
        message = rpc.HistoryEntry(version=entry.version, seat=entry.seat)
        if game.meta.sealed:
            encoded = self.events(game, entry.version, entry.seat, entry.events, viewer)
        else:
            encoded = revealed_events(translation, entry.version, entry.seat, entry.events)
            if entry.move is not None:
                message.move.CopyFrom(translation.move_message(entry.move))
        return message.SerializeToString() + b"".join([field(_ENTRY_EVENTS, event) for event in encoded])

    def _encode_constants(self, game_id: str, meta: Meta) -> bytes:
        """Return the fields of a GameState that never change, encoded."""
        translation = self._translations[meta.kind]
        state = pb.GameState(
            game_id=game_id,
            kind=translation.number,
            options=translation.options_message(meta.options),
            seat_count=meta.seat_count,
        )
        return state.SerializeToString()


def revealed_events(translation: Translation, version: int, seat: int | None, events: Iterable[Any]) -> list[bytes]:
    """Return the Events of one version of a finished, unsealed game without hiding anything, encoded."""
    return [translation.event(version, seat, event) for event in events]


def score(game: StoredGame) -> rpc.ScoreResponse:
    """Return the standings of a game, which are public."""
    return standings(game.kind.game.score(game.state), game.version)


def standings(score: Score, version: int) -> rpc.ScoreResponse:
    """Return the message for standings."""
    return rpc.ScoreResponse(
        version=version,
        finished=score.finished,
        scores=[
            pb.PlayerScore(
                player=_player(player.seat),
                total=player.total,
                rank=player.rank,
                lines=[
                    pb.ScoreLine(code=line.code, label=line.label, points=line.points, round=line.round)
                    for line in player.lines
                ],
                tie_breakers=player.tie_breakers,
            )
            for player in score.scores
        ],
        winners=[_player(winner) for winner in score.winners],
        note=score.note,
    )


def _player(seat: int | None) -> pb.Player:
    """Return the message for a seat; None is the automaton."""
    return pb.Player(automaton=pb.Automaton()) if seat is None else pb.Player(seat=seat)
