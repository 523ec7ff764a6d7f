"""Games, events and scores as messages of the contract that show only what one viewer may see."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from engine.game import SPECTATOR, Score, Viewer
from service.contract import game_pb2 as pb
from service.contract import game_service_pb2 as rpc
from service.games.formats import Change
from service.games.game import Meta, StoredGame
from service.translation.commitment import commitment_of, commitment_text
from service.translation.encoding import field, timestamp
from service.translation.translation import Translation

_STATE_LEGAL_MOVES: Final = pb.GameState.LEGAL_MOVES_FIELD_NUMBER
_STATE_VIEW: Final = pb.GameState.VIEW_FIELD_NUMBER
_HISTORY_ENTRIES: Final = rpc.GetHistoryResponse.ENTRIES_FIELD_NUMBER
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
            status=_status(game),
            version=game.version,
            etag=game.etag(viewer),
            viewer_seat=viewer,
            awaiting_seats=game.awaiting,
            prompt="" if viewer is SPECTATOR else rules.prompt(game.state, viewer),
            update_time=timestamp(game.updated_at),
            expire_time=timestamp(game.expires_at),
        )
        view = field(_STATE_VIEW, translation.view(rules.view(game.state, viewer)))
        moves = b""
        if legal_moves and viewer is not SPECTATOR:
            moves = self._legal_moves(game, viewer, _STATE_LEGAL_MOVES)
        return self._constants(game.game_id, game.created_at, game.meta) + state.SerializeToString() + moves + view

    def legal_moves(self, game: StoredGame, seat: int) -> bytes:
        """Return the LegalMovesResponse for a seat, encoded."""
        response = rpc.LegalMovesResponse(
            version=game.version,
            etag=game.etag(seat),
            awaiting_seats=game.awaiting,
            prompt=game.kind.game.prompt(game.state, seat),
        )
        return response.SerializeToString() + self._legal_moves(game, seat, _RESPONSE_MOVES)

    def events(self, game: StoredGame, change: Change, viewer: Viewer) -> list[bytes]:
        """Return the Events of one version for a viewer, encoded."""
        view_event = game.kind.game.view_event
        return self._encode_events(game, change, [view_event(event, viewer) for event in change.events])

    def history(self, game: StoredGame, changes: Iterable[Change], viewer: Viewer) -> bytes:
        """Return a GetHistoryResponse with some changes of a game for a viewer, encoded, without its page token.

        It has no hidden information, unless the game is over and not sealed.
        """
        meta, translation = game.meta, self._translations[game.kind.name]
        options, revealed = translation.options_message(meta.options), game.finished and not meta.sealed
        text = commitment_text(game.game_id, meta.seat_count, options, meta.seed)
        response = rpc.GetHistoryResponse(
            game_id=game.game_id,
            options=options,
            seat_count=meta.seat_count,
            rules_version=meta.rules_version,
            status=_status(game),
            sealed=meta.sealed,
            seed_commitment=commitment_of(text),
            seed=meta.seed if revealed else b"",
            commitment_text=text if revealed else "",
        )
        entries = [
            self._revealed_entry(game, change) if revealed else self._entry(game, change, viewer) for change in changes
        ]
        return response.SerializeToString() + b"".join([field(_HISTORY_ENTRIES, entry) for entry in entries])

    def _legal_moves(self, game: StoredGame, seat: int, number: int) -> bytes:
        """Return the legal moves of a seat, each encoded as a field with that number."""
        legal_move = self._translations[game.kind.name].legal_move
        return b"".join([legal_move(number, move) for move in game.kind.game.legal_moves(game.state, seat)])

    def _entry(self, game: StoredGame, change: Change, viewer: Viewer) -> bytes:
        """Return the HistoryEntry of a change as far as a viewer may know it, encoded."""
        own = change.seat is not None and change.seat == viewer
        return self._encode_entry(game, change, self.events(game, change, viewer), with_move=own)

    def _revealed_entry(self, game: StoredGame, change: Change) -> bytes:
        """Return the complete HistoryEntry of a change, encoded."""
        events = self._encode_events(game, change, change.events)
        return self._encode_entry(game, change, events, with_move=change.move is not None)

    def _encode_events(self, game: StoredGame, change: Change, events: Iterable[Any]) -> list[bytes]:
        """Return the Events for the events of a change, or for what a viewer may see of them, encoded."""
        translation = self._translations[game.kind.name]
        return [translation.event(change.version, change.committed_at, change.seat, event) for event in events]

    def _encode_entry(self, game: StoredGame, change: Change, events: Iterable[bytes], *, with_move: bool) -> bytes:
        move = self._translations[game.kind.name].move_message(change.move) if with_move else None
        entry = rpc.HistoryEntry(
            version=change.version, commit_time=timestamp(change.committed_at), seat=change.seat, move=move
        )
        return entry.SerializeToString() + b"".join([field(_ENTRY_EVENTS, event) for event in events])

    def _encode_constants(self, game_id: str, created_at: int, meta: Meta) -> bytes:
        """Return the fields of a GameState that never change, encoded."""
        translation = self._translations[meta.kind]
        options = translation.options_message(meta.options)
        state = pb.GameState(
            game_id=game_id,
            kind=translation.number,
            options=options,
            seat_count=meta.seat_count,
            create_time=timestamp(created_at),
            seed_commitment=commitment_of(commitment_text(game_id, meta.seat_count, options, meta.seed)),
            visibility=pb.VISIBILITY_PRIVATE if meta.private else pb.VISIBILITY_PUBLIC,
            sealed=meta.sealed,
        )
        return state.SerializeToString()


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


def _status(game: StoredGame) -> pb.GameStatus.ValueType:
    return pb.GAME_STATUS_FINISHED if game.finished else pb.GAME_STATUS_ACTIVE


def _player(seat: int | None) -> pb.Player:
    """Return the message for a seat; None is the automaton."""
    return pb.Player(automaton=pb.Automaton()) if seat is None else pb.Player(seat=seat)
