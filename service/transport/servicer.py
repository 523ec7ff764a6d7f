"""The RPCs: each authorizes its caller, translates the request, calls the core, and projects the result."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Final

from engine.errors import InvalidOptions
from engine.game import SPECTATOR
from engine.rng import SEED_BYTES
from service.access import (
    Access,
    ApiKeys,
    Keyring,
    Principal,
    Role,
    access,
    acting_seat,
    bearer,
    check_host,
    required_bearer,
)
from service.contract import game_pb2
from service.contract import game_service_pb2 as pb
from service.games import Change, GameRepository, Kind, NewGame, StoredGame
from service.games.errors import GameNotFound, InvalidField, KindNotOffered
from service.translation import Projection, Translation
from service.translation.encoding import field
from service.translation.projection import score
from service.transport.addresses import Network
from service.transport.call import Call
from service.transport.errors import invalid_field
from service.transport.handlers import Response
from service.watching import Audience, Claim, Stream, Watchers, resume_head

_DEFAULT_PAGE_SIZE: Final = 100
_MAX_PAGE_SIZE: Final = 1000
_PAGE_TOKEN: Final = re.compile(r"v[1-9][0-9]{0,8}")
# The fields whose values are encoded already.
_NEW_GAME_STATE: Final = pb.NewGameResponse.STATE_FIELD_NUMBER
_APPLY_MOVE_EVENTS: Final = pb.ApplyMoveResponse.EVENTS_FIELD_NUMBER
_APPLY_MOVE_STATE: Final = pb.ApplyMoveResponse.STATE_FIELD_NUMBER
_GET_GAME_STATE: Final = pb.GetGameResponse.STATE_FIELD_NUMBER


class GameServicer:
    """One method per RPC of `sodafountain.v1.GameService`, and methods that identify callers before that.

    Methods raise the errors of the core, of access control and of watching; `service.transport.errors` translates them.
    """

    def __init__(
        self,
        games: GameRepository,
        kinds: Mapping[str, Kind],
        translations: Mapping[str, Translation],
        projection: Projection,
        keyring: Keyring,
        api_keys: ApiKeys,
        watchers: Watchers,
        *,
        trusted_proxies: Sequence[Network] = (),
        allow_fixed_seed: bool,
    ) -> None:
        self._games = games
        self._kinds = kinds
        self._translations = translations
        self._projection = projection
        self._keyring = keyring
        self._api_keys = api_keys
        self._watchers = watchers
        self._trusted_proxies = trusted_proxies
        self._allow_fixed_seed = allow_fixed_seed
        self._kind_infos = [translation.info() for translation in translations.values()]

    # --- Who calls; checked before the request is read ----------------------------------------------------------------

    def creator(self, call: Call) -> str:
        """Return the name of the API key of a caller; empty if no API keys are configured."""
        return self._api_keys.owner(call.api_key)

    def player(self, call: Call) -> Principal:
        """Return the holder of the token that a caller must have."""
        return required_bearer(self._keyring, call.authorization)

    def viewer(self, call: Call) -> Principal | None:
        """Return the holder of the token of a caller, if it has one."""
        return bearer(self._keyring, call.authorization)

    def anyone(self, call: Call) -> None:
        """Accept every caller."""

    # --- The RPCs -----------------------------------------------------------------------------------------------------

    def new_game(self, request: pb.NewGameRequest, call: Call, owner: str) -> Response:
        """Create and deal a game."""
        name = request.options.WhichOneof("game") or ""
        if name not in self._kinds:
            raise KindNotOffered
        fixed_seed = request.HasField("seed")
        if fixed_seed and not self._allow_fixed_seed:
            raise invalid_field("seed", "must be unset: this service generates its own seeds")
        new = NewGame(
            kind=self._kinds[name],
            options=self._translations[name].options_value(request.options),
            seat_count=request.seat_count,
            sealed=request.sealed,
            private=request.visibility == game_pb2.VISIBILITY_PRIVATE,
            seed=request.seed if fixed_seed else os.urandom(SEED_BYTES),
            fixed_seed=fixed_seed,
            key_id=self._keyring.signing_key_id,
            owner=owner,
            request_id=_canonical(request.request_id),
        )
        try:
            game = self._games.create(new, call.deadline)
        except InvalidOptions as error:
            path = error.field if error.field == "seat_count" else f"options.{name}.{error.field}"
            invalid = InvalidField(path, str(error), is_sentence=True)
            invalid.game_kind = name
            raise invalid from None
        host_token, spectator_token, *seat_tokens = (
            self._keyring.sign(Principal(game.game_id, holder), key_id=game.meta.key_id)
            for holder in (Role.HOST, Role.SPECTATOR, *range(game.meta.seat_count))
        )
        response = pb.NewGameResponse(host_token=host_token, seat_tokens=seat_tokens, spectator_token=spectator_token)
        state = self._projection.game_state(game, SPECTATOR, legal_moves=False)
        return Response(response.SerializeToString() + field(_NEW_GAME_STATE, state), game)

    def legal_moves(self, request: pb.LegalMovesRequest, call: Call, player: Principal) -> Response:
        """List every legal move of a seat."""
        seat = acting_seat(player, request.game_id, _seat(request))
        game = self._read(Access(seat, player), request.game_id, call)
        return Response(self._projection.legal_moves(game, seat), game)

    def apply_move(self, request: pb.ApplyMoveRequest, call: Call, player: Principal) -> Response:
        """Make a move of a seat."""
        seat = acting_seat(player, request.game_id, _seat(request))
        requested = self._translation(request.move).requested_move(request.move)
        request_id = _canonical(request.request_id)
        applied = self._games.apply(request.game_id, seat, requested, request.etag, request_id, call.deadline)
        game = applied.game
        response = pb.ApplyMoveResponse(committed_version=applied.version, repeated_request=applied.repeated)
        change = Change(applied.version, applied.committed_at, seat, requested.move, applied.events)
        events = self._projection.events(game, change, seat)
        state = self._projection.game_state(game, seat, legal_moves=request.include_legal_moves)
        encoded = [
            response.SerializeToString(),
            *[field(_APPLY_MOVE_EVENTS, event) for event in events],
            field(_APPLY_MOVE_STATE, state),
        ]
        return Response(b"".join(encoded), game)

    def score(self, request: pb.ScoreRequest, call: Call, viewer: Principal | None) -> Response:
        """Return the standings."""
        game = self._read(access(viewer, request.game_id, None), request.game_id, call)
        return Response(score(game), game)

    def get_game(self, request: pb.GetGameRequest, call: Call, viewer: Principal | None) -> Response:
        """Return the state of a game for a viewer."""
        allowed = access(viewer, request.game_id, _seat(request))
        game = self._read(allowed, request.game_id, call)
        state = self._projection.game_state(game, allowed.viewer, legal_moves=request.include_legal_moves)
        return Response(field(_GET_GAME_STATE, state), game)

    def watch_game(
        self, request: pb.WatchGameRequest, call: Call, viewer: Principal | None, stream: Stream
    ) -> StoredGame:
        """Start watching a game."""
        allowed = access(viewer, request.game_id, _seat(request))
        known_head = resume_head(request.resume_token)
        game = self._read(allowed, request.game_id, call)
        legal_moves = request.include_legal_moves and allowed.viewer is not SPECTATOR
        caller = allowed.principal if allowed.is_player else call.address(self._trusted_proxies)
        claim = Claim(request.game_id, caller, is_spectator=not allowed.is_player)
        self._watchers.add(game, Audience(allowed.viewer, legal_moves), known_head, claim, stream, call.deadline)
        return game

    def get_history(self, request: pb.GetHistoryRequest, call: Call, viewer: Principal | None) -> Response:
        """Return a page of the history of a game, as far as the caller may know it."""
        allowed = access(viewer, request.game_id, _seat(request))
        first = _page_start(request.page_token)
        game = self._read(allowed, request.game_id, call)
        size = min(request.page_size or _DEFAULT_PAGE_SIZE, _MAX_PAGE_SIZE)
        changes = self._games.log(game, first=first, count=size, deadline=call.deadline)
        page = pb.GetHistoryResponse(next_page_token=f"v{first + size}" if first + size <= game.version else "")
        history = self._projection.history(game, changes, allowed.viewer)
        return Response(history + page.SerializeToString(), game)

    def list_game_kinds(self, request: pb.ListGameKindsRequest, *_: object) -> Response:
        """List the kinds of game that this release offers."""
        start = _page_start(request.page_token) - 1
        end = start + (request.page_size or _DEFAULT_PAGE_SIZE)
        next_page_token = f"v{end + 1}" if end < len(self._kind_infos) else ""
        return Response(
            pb.ListGameKindsResponse(game_kinds=self._kind_infos[start:end], next_page_token=next_page_token)
        )

    def delete_game(self, request: pb.DeleteGameRequest, call: Call, player: Principal) -> Response:
        """Delete a game permanently."""
        check_host(player, request.game_id)
        self._games.delete(request.game_id, call.deadline)
        return Response(pb.DeleteGameResponse())

    def _translation(self, move: game_pb2.Move) -> Translation:
        """Return the translation of the kind of game that a move belongs to."""
        name = move.WhichOneof("game")
        if name is None:
            raise InvalidField("move.game", "is required")
        if name not in self._translations:
            raise KindNotOffered
        return self._translations[name]

    def _read(self, allowed: Access, game_id: str, call: Call) -> StoredGame:
        """Return a game, after checking that the caller may see it and that its seat exists.

        Raises:
            GameNotFound: the game does not exist, or is private and the caller has no token of it.
        """
        game = self._games.get(game_id, call.deadline)
        if game.meta.private and allowed.principal is None:
            raise GameNotFound
        if allowed.viewer is not SPECTATOR:
            game.check_seat(allowed.viewer)
        return game


def _seat(
    request: pb.LegalMovesRequest
    | pb.ApplyMoveRequest
    | pb.GetGameRequest
    | pb.WatchGameRequest
    | pb.GetHistoryRequest,
) -> int | None:
    return request.seat if request.HasField("seat") else None


def _canonical(request_id: str) -> str:
    """Return a request id in lower case, since RFC 9562 allows either case."""
    return request_id.lower()


def _page_start(token: str) -> int:
    if not token:
        return 1
    if not _PAGE_TOKEN.fullmatch(token):
        raise invalid_field("page_token", "must be the next_page_token of the previous page")
    return int(token[1:])
