"""The RPCs: who may ask, what is asked of the tables, and what is shown."""

import hashlib
import os
import re
from collections.abc import Mapping
from typing import Final

from engine.codec import encode
from engine.errors import InvalidOptions
from engine.game import SPECTATOR, Viewer
from engine.rng import SEED_BYTES, Rng
from service.access.tokens import ApiKeys, Keyring, Principal
from service.games.game import Meta, Table
from service.games.kinds import Kind
from service.games.repository import Tables, digest
from service.translation import encoding as wire
from service.translation import projection
from service.transport.call import Call
from service.transport.errors import FieldProblem, Refusal, malformed
from service.watching import Audience, Stream, Watchers, resume_head
from sodafountain.v1 import errors_pb2 as reasons
from sodafountain.v1 import game_service_pb2 as pb

_DEFAULT_PAGE: Final = 100
_LARGEST_PAGE: Final = 1000
# The fields that are put together from encoded parts.
_MADE_STATE: Final = pb.NewGameResponse.STATE_FIELD_NUMBER
_APPLIED_EVENTS: Final = pb.ApplyMoveResponse.EVENTS_FIELD_NUMBER
_APPLIED_STATE: Final = pb.ApplyMoveResponse.STATE_FIELD_NUMBER
_GOT_STATE: Final = pb.GetGameResponse.STATE_FIELD_NUMBER
_HISTORY_ENTRIES: Final = pb.GetHistoryResponse.ENTRIES_FIELD_NUMBER
_PAGE_TOKEN = re.compile(r"v[1-9][0-9]{0,8}")


class GameServicer:
    """One method per RPC of `sodafountain.v1.GameService`, free of gRPC. An answer is a message, or already encoded."""

    def __init__(
        self,
        tables: Tables,
        kinds: Mapping[str, Kind],
        keyring: Keyring,
        api_keys: ApiKeys,
        watchers: Watchers,
        *,
        allow_fixed_seed: bool,
    ) -> None:
        self._tables = tables
        self._kinds = kinds
        self._keyring = keyring
        self._api_keys = api_keys
        self._watchers = watchers
        self._allow_fixed_seed = allow_fixed_seed
        self._kind_infos = [kind.info() for kind in kinds.values()]

    def new_game(self, request: pb.NewGameRequest, call: Call) -> bytes:
        """Makes a game and deals it."""
        owner = call.api_key_name(self._api_keys)
        kind = self._kind(request.options.WhichOneof("game"))
        call.kind = kind.name
        if request.HasField("seed") and not self._allow_fixed_seed:
            raise malformed("seed", "must be left out: this service draws its own seeds")
        seed = request.seed if request.HasField("seed") else os.urandom(SEED_BYTES)
        options = kind.options_value(request.options)
        try:
            state, events = kind.game.new_game(options, request.seat_count, Rng(seed))
        except InvalidOptions as error:
            field = error.field if error.field == "seat_count" else f"options.{kind.name}.{error.field}"
            problem = FieldProblem(field, str(error))
            raise Refusal(reasons.ERROR_REASON_MALFORMED, f"{field}: {error}", fields=(problem,)) from None
        encoded = encode(options)
        meta = Meta(
            kind=kind.name,
            options=encoded,
            seat_count=request.seat_count,
            sealed=request.sealed,
            seed=seed,
            commitment=hashlib.sha256(seed).digest(),
            rules_version=kind.game.about.rules_version,
            key_id=self._keyring.signing_key_id,
            payload=digest(kind.name, encoded, str(request.seat_count), str(request.sealed), request.seed),
            owner=owner,
        )
        table = self._tables.create(kind, meta, state, events, _request_id(request.request_id), call)
        host, *seats = (
            self._keyring.mint(Principal(table.game_id, seat), key_id=table.meta.key_id)
            for seat in (None, *range(table.meta.seat_count))
        )
        made = pb.NewGameResponse(host_token=host, seat_tokens=seats, seed_commitment=table.meta.commitment)
        state = projection.game_state(table, SPECTATOR, legal_moves=False)
        return made.SerializeToString() + wire.field(_MADE_STATE, state)

    def legal_moves(self, request: pb.LegalMovesRequest, call: Call) -> bytes:
        """Lists every legal move of a seat."""
        seat = self._seat(request.game_id, request.seat if request.HasField("seat") else None, call)
        table = self._table(request.game_id, call)
        table.check_seat(seat)
        return projection.legal_moves(table, seat)

    def apply_move(self, request: pb.ApplyMoveRequest, call: Call) -> bytes:
        """Makes a move of one seat."""
        seat = self._seat(request.game_id, request.seat if request.HasField("seat") else None, call)
        played = self._tables.play(
            request.game_id, seat, request.move, request.etag, _request_id(request.request_id), call
        )
        call.kind = played.table.meta.kind
        applied = pb.ApplyMoveResponse(committed_version=played.version, repeated_request=played.repeated)
        events = projection.events(played.table.kind, played.version, seat, played.events, seat)
        state = projection.game_state(played.table, seat, legal_moves=request.include_legal_moves)
        return b"".join(
            [
                applied.SerializeToString(),
                *[wire.field(_APPLIED_EVENTS, event) for event in events],
                wire.field(_APPLIED_STATE, state),
            ]
        )

    def score(self, request: pb.ScoreRequest, call: Call) -> pb.ScoreResponse:
        """Tells the standings."""
        self._viewer(request.game_id, None, call)
        return projection.score(self._table(request.game_id, call))

    def get_game(self, request: pb.GetGameRequest, call: Call) -> bytes:
        """Shows the game to its viewer."""
        viewer = self._viewer(request.game_id, request.seat if request.HasField("seat") else None, call)
        table = self._table(request.game_id, call)
        if viewer is not None:
            table.check_seat(viewer)
        state = projection.game_state(table, viewer, legal_moves=request.include_legal_moves)
        return wire.field(_GOT_STATE, state)

    def watch_game(self, request: pb.WatchGameRequest, call: Call, stream: Stream) -> None:
        """Begins to follow a game: what there is to tell goes to the stream, now and later."""
        viewer = self._viewer(request.game_id, request.seat if request.HasField("seat") else None, call)
        known = resume_head(request.resume_token)
        table = self._table(request.game_id, call)
        if viewer is not None:
            table.check_seat(viewer)
        legal_moves = request.include_legal_moves and viewer is not None
        self._watchers.open(table, Audience(viewer, legal_moves), known, stream, call)

    def get_history(self, request: pb.GetHistoryRequest, call: Call) -> bytes:
        """Reveals a finished game."""
        viewer = self._viewer(request.game_id, None, call)
        first = _page_start(request.page_token)
        table = self._table(request.game_id, call)
        if not table.finished:
            raise Refusal(
                reasons.ERROR_REASON_NOT_FINISHED,
                "The history is shown after the end of the game.",
                version=table.version,
            )
        size = min(request.page_size or _DEFAULT_PAGE, _LARGEST_PAGE)
        entries = self._tables.log(table, first=first, count=size + 1, call=call)
        kind, meta = table.kind, table.meta
        history = pb.GetHistoryResponse(
            options=kind.options(kind.codec.decode_options(meta.options)),
            seat_count=meta.seat_count,
            seed=b"" if meta.sealed else meta.seed,
            seed_commitment=meta.commitment,
            rules_version=meta.rules_version,
            next_page_token=f"v{entries[size].version}" if len(entries) > size else "",
        )
        shown = [
            wire.field(_HISTORY_ENTRIES, projection.history_entry(table, entry, viewer)) for entry in entries[:size]
        ]
        return history.SerializeToString() + b"".join(shown)

    def list_game_kinds(self, request: pb.ListGameKindsRequest, call: Call) -> pb.ListGameKindsResponse:  # noqa: ARG002 - every handler's form
        """Lists the kinds of game on offer."""
        start = _page_start(request.page_token) - 1
        end = start + (request.page_size or _DEFAULT_PAGE)
        more = f"v{end + 1}" if end < len(self._kind_infos) else ""
        return pb.ListGameKindsResponse(game_kinds=self._kind_infos[start:end], next_page_token=more)

    def delete_game(self, request: pb.DeleteGameRequest, call: Call) -> pb.DeleteGameResponse:
        """Deletes a game for good."""
        principal = self._principal(request.game_id, call)
        if principal is None or not principal.is_host:
            raise Refusal(*_HOST_ONLY if principal else _NEEDS_TOKEN)
        self._tables.delete(request.game_id, call)
        return pb.DeleteGameResponse()

    def _kind(self, name: str | None) -> Kind:
        kind = self._kinds.get(name or "")
        if kind is None:
            raise Refusal(reasons.ERROR_REASON_UNIMPLEMENTED, "This release does not offer this kind of game.")
        return kind

    def _table(self, game_id: str, call: Call) -> Table:
        table = self._tables.get(game_id, call)
        call.kind = table.meta.kind
        return table

    def _principal(self, game_id: str, call: Call) -> Principal | None:
        """Tells who calls about a game, whether or not there is such a game.

        Raises:
            Refusal: TOKEN_INVALID, WRONG_SEAT.
        """
        call.game_id = game_id
        principal = call.principal(self._keyring)
        if principal is not None and principal.game_id != game_id:
            raise Refusal(*_OTHER_GAME)
        return principal

    def _viewer(self, game_id: str, seat: int | None, call: Call) -> Viewer:
        """Tells for whom the caller looks.

        Raises:
            Refusal: TOKEN_INVALID, WRONG_SEAT.
        """
        principal = self._principal(game_id, call)
        if principal is None:
            if seat is not None:
                raise Refusal(*_NEEDS_TOKEN)
            return None
        if principal.is_host:
            return seat
        if seat not in {None, principal.seat}:
            raise Refusal(*_OTHER_SEAT)
        return principal.seat

    def _seat(self, game_id: str, seat: int | None, call: Call) -> int:
        """Tells for which seat the caller acts.

        Raises:
            Refusal: TOKEN_INVALID, WRONG_SEAT; MALFORMED where a host names no seat.
        """
        viewer = self._viewer(game_id, seat, call)
        if viewer is None:
            if self._principal(game_id, call) is None:
                raise Refusal(*_NEEDS_TOKEN)
            raise malformed("seat", "is required with a host token")
        return viewer


_NEEDS_TOKEN: Final = (
    reasons.ERROR_REASON_TOKEN_INVALID,
    "This needs a token: send `authorization: Bearer <token>` with a token from NewGame.",
)
_OTHER_GAME: Final = (reasons.ERROR_REASON_WRONG_SEAT, "The token is for another game.")
_OTHER_SEAT: Final = (reasons.ERROR_REASON_WRONG_SEAT, "The token is for another seat.")
_HOST_ONLY: Final = (reasons.ERROR_REASON_WRONG_SEAT, "Only the game's host may do this.")


def _request_id(text: str) -> str:
    """Brings a request id into its one form (RFC 9562 allows either case)."""
    if text and text[14] != "4":  # RFC 9562: where the version stands
        raise malformed("request_id", "must be a random UUID (version 4): others can be guessed")
    return text.lower()


def _page_start(token: str) -> int:
    if not token:
        return 1
    if not _PAGE_TOKEN.fullmatch(token):
        raise malformed("page_token", "must be the next_page_token of the page before")
    return int(token[1:])
