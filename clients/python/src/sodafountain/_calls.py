"""The operations of the client without I/O, shared by the sync and the asyncio client.

Each operation is a plan: a generator that yields the calls to make, receives their responses, and returns the result.
The two clients differ only in the runner that makes the calls.
"""

import re
import threading
import uuid
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from sodafountain._arguments import (
    check_not_in_the_clear,
    checked_api_key,
    checked_commitment,
    checked_target,
    checked_timeout,
    checked_token,
)
from sodafountain._commitment import Commitment
from sodafountain._errors import ClientClosed, SodaFountainError
from sodafountain._messages import as_move, as_options
from sodafountain._rpc_errors import error_from_rpc
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameKindInfo, GameState, Visibility

T = TypeVar("T")
Metadata: TypeAlias = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, kw_only=True)
class Call:
    """An RPC to make. The repr omits everything that may be secret.

    Attributes:
        rpc: the name of the RPC.
        request: the request message.
        metadata: the metadata.
        timeout: the timeout in seconds.
        request_id: the request id, if the request has one.
    """

    rpc: str
    request: Message = field(repr=False)
    metadata: Metadata = field(repr=False)
    timeout: float
    request_id: str | None = field(default=None, repr=False)


class Decision(NamedTuple):
    """The open decision of a seat, as of a version of the game.

    The etag is empty if no decision was open. The next move then answers the decision that is open when it arrives.
    """

    version: int
    etag: str


NO_DECISION: Final = Decision(0, "")
# A value of the header x-game-id. The ids of games match it; the service rejects other ids.
ROUTABLE_ID: Final = re.compile(r"[\x21-\x7e]{1,64}")

# Any: the type of a response depends on the call.
Plan: TypeAlias = Generator[Call, Any, T]


class ClientCalls:
    """The calls of a client that are not about one game, and the settings of all calls.

    Attributes:
        target: the address of the service.
        closed: whether the client is closed or closing.
    """

    def __init__(self, target: str, *, tls: bool, allow_insecure: bool, api_key: str | None, timeout: float) -> None:
        self.target = checked_target(target)
        if not tls and not allow_insecure:
            check_not_in_the_clear(target)
        self.closed = False
        self._tls = tls
        self._api_key = checked_api_key(api_key)
        self._timeout = checked_timeout(timeout)

    def new_game(
        self,
        options: Message,
        seats: int,
        *,
        seed: bytes | None,
        sealed: bool,
        visibility: Visibility.ValueType,
        request_id: str | None,
        timeout: float | None,
    ) -> Plan[pb.NewGameResponse]:
        """Create a game."""
        request = pb.NewGameRequest(
            options=as_options(options),
            seat_count=seats,
            request_id=request_id or new_request_id(),
            seed=seed,
            sealed=sealed,
            visibility=visibility,
        )
        game: pb.NewGameResponse = yield Call(
            rpc="NewGame",
            request=request,
            metadata=() if self._api_key is None else (("x-api-key", self._api_key),),
            timeout=self.timeout(timeout),
            request_id=request.request_id,
        )
        return game

    def game_kinds(self, *, timeout: float | None) -> Plan[list[GameKindInfo]]:
        """Return the kinds of game, from all pages."""
        kinds: list[GameKindInfo] = []
        token = ""
        while True:
            page: pb.ListGameKindsResponse = yield Call(
                rpc="ListGameKinds",
                request=pb.ListGameKindsRequest(page_token=token),
                metadata=(),
                timeout=self.timeout(timeout),
            )
            kinds.extend(page.game_kinds)
            token = page.next_page_token
            if not token:
                return kinds

    def timeout(self, timeout: float | None) -> float:
        """Return the timeout of a call in seconds: `timeout`, or the client's if None."""
        return self._timeout if timeout is None else checked_timeout(timeout)

    def game(self, game_id: str, metadata: Metadata, commitment: bytes | None) -> "GameCalls":
        """Return the calls of a viewer with these credentials about a game."""
        return GameCalls(self, game_id, metadata, commitment=Commitment(game_id, checked_commitment(commitment)))

    def error_from(self, failure: grpc.RpcError, call: Call) -> SodaFountainError:
        """Return the error of a failed call."""
        if self.closed and failure.code() is grpc.StatusCode.CANCELLED:
            return self.closed_during(call)
        return error_from_rpc(
            failure, target=self.target, tls=self._tls, rpc=call.rpc, timeout=call.timeout, request_id=call.request_id
        )

    def closed_before(self, call: Call) -> ClientClosed:
        """Return the error of a call on a closed client. Its request id is still unused."""
        return ClientClosed("This client is closed.", code=grpc.StatusCode.CANCELLED, request_id=call.request_id)

    def closed_during(self, call: Call) -> ClientClosed:
        """Return the error of a call that was in progress when the client was closed."""
        message = f"This client was closed before {self.target} answered {call.rpc}."
        return ClientClosed(message, code=grpc.StatusCode.CANCELLED, request_id=call.request_id)

    def closed_during_watch(self) -> ClientClosed:
        """Return the error of a watch whose client was closed."""
        return ClientClosed("The watch ended because this client was closed.", code=grpc.StatusCode.CANCELLED)


class GameCalls:
    """The calls of one viewer about one game, and what the viewer has seen: the commitment and the open decisions.

    The `seat` of a call is None if the token determines it, and for a spectator.
    """

    def __init__(
        self,
        client: ClientCalls,
        game_id: str,
        metadata: Metadata,
        *,
        seat: int | None = None,
        commitment: Commitment | None = None,
    ) -> None:
        self.game_id = game_id
        self.commitment = Commitment(game_id) if commitment is None else commitment
        # None until a response contains it: the client cannot read it from the token.
        self.own_seat = seat
        self._client = client
        # Gateways route by the game id, so that all calls about a game reach the service that has it in its cache.
        self._metadata = (*metadata, ("x-game-id", game_id)) if ROUTABLE_ID.fullmatch(game_id) else metadata
        # The last known decision of each seat; the key is the `seat` of the calls.
        self._decisions: dict[int | None, Decision] = {}
        # One thread may watch while another calls.
        self._decisions_lock = threading.Lock()

    def state(self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None) -> Plan[GameState]:
        """Return the state of the game."""
        request = pb.GetGameRequest(game_id=self.game_id, seat=seat, include_legal_moves=legal_moves)
        response: pb.GetGameResponse = yield self.call("GetGame", request, timeout)
        self.record_state(seat, response.state)
        return response.state

    def legal_moves(self, seat: int | None = None, *, timeout: float | None) -> Plan[pb.LegalMovesResponse]:
        """Return the legal moves of a seat."""
        request = pb.LegalMovesRequest(game_id=self.game_id, seat=seat)
        response: pb.LegalMovesResponse = yield self.call("LegalMoves", request, timeout)
        with self._decisions_lock:
            self._decisions[seat] = Decision(response.version, response.etag if response.moves else "")
        return response

    def apply(
        self,
        seat: int | None,
        move: Message,
        *,
        etag: str | None,
        legal_moves: bool,
        request_id: str | None,
        timeout: float | None,
    ) -> Plan[pb.ApplyMoveResponse]:
        """Apply a move."""
        request = pb.ApplyMoveRequest(
            game_id=self.game_id,
            seat=seat,
            move=as_move(move),
            etag=self._decisions.get(seat, NO_DECISION).etag if etag is None else etag,
            request_id=request_id or new_request_id(),
            include_legal_moves=legal_moves,
        )
        response: pb.ApplyMoveResponse = yield self.call("ApplyMove", request, timeout, request.request_id)
        self.record_state(seat, response.state, request_id=request.request_id)
        return response

    def score(self, *, timeout: float | None) -> Plan[pb.ScoreResponse]:
        """Return the score."""
        response: pb.ScoreResponse = yield self.call("Score", pb.ScoreRequest(game_id=self.game_id), timeout)
        return response

    def history(self, seat: int | None = None, *, timeout: float | None) -> Plan[pb.GetHistoryResponse]:
        """Return the history of the game, from all pages."""
        history = pb.GetHistoryResponse()
        while True:
            request = pb.GetHistoryRequest(game_id=self.game_id, seat=seat, page_token=history.next_page_token)
            page: pb.GetHistoryResponse = yield self.call("GetHistory", request, timeout)
            if not history.next_page_token:
                history = page
            else:
                history.entries.extend(page.entries)
                history.next_page_token = page.next_page_token
            if not history.next_page_token:
                self.commitment.check_history(history)
                return history

    def delete(self, *, timeout: float | None) -> Plan[None]:
        """Delete the game."""
        yield self.call("DeleteGame", pb.DeleteGameRequest(game_id=self.game_id), timeout)

    def call(self, rpc: str, request: Message, timeout: float | None, request_id: str | None = None) -> Call:
        """Return an RPC about the game, with the credentials of the viewer."""
        return Call(
            rpc=rpc,
            request=request,
            metadata=self._metadata,
            timeout=self._client.timeout(timeout),
            request_id=request_id,
        )

    def error_from(self, failure: grpc.RpcError, call: Call) -> SodaFountainError:
        """Return the error of a failed call."""
        return self._client.error_from(failure, call)

    def record_state(
        self, seat: int | None, state: GameState, *, may_be_outdated: bool = False, request_id: str | None = None
    ) -> None:
        """Check the commitment of a state, and record which decision is open in it.

        Args:
            seat: the `seat` of the call.
            state: the state.
            may_be_outdated: keep a decision of a newer version. Set this for updates of a watch, which may arrive after
                a newer response.
            request_id: the request id of the call, for the error.

        Raises:
            CommitmentChanged: the state has another commitment than the first one.
        """
        self.commitment.check_state(state, request_id=request_id)
        if not state.HasField("viewer_seat"):
            return
        is_open = state.viewer_seat in state.awaiting_seats
        with self._decisions_lock:
            if seat is None:
                self.own_seat = state.viewer_seat
            if not may_be_outdated or state.version >= self._decisions.get(seat, NO_DECISION).version:
                self._decisions[seat] = Decision(state.version, state.etag if is_open else "")


class GameHandle:
    """Base of the sync and asyncio handles of a game: seat, spectator and host."""

    def __init__(self, calls: GameCalls) -> None:
        self._calls = calls

    @property
    def game_id(self) -> str:
        """The id of the game."""
        return self._calls.game_id

    @property
    def commitment(self) -> bytes | None:
        """The commitment to the seed, 32 bytes; None before the first state. Not a secret.

        The first state that the handle receives determines it. If a later state or history has another one, the call
        or watch raises `CommitmentChanged`. Save it with the token, and pass it to `client.seat` and the like.
        """
        return self._calls.commitment.kept

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self.game_id}>"


class SeatHandle(GameHandle):
    """Base of the sync and asyncio seats."""

    @property
    def number(self) -> int | None:
        """The number of the seat, from 0. None until the first response contains it, unless `new_game` created it."""
        return self._calls.own_seat

    def __repr__(self) -> str:
        number = "?" if self.number is None else self.number
        return f"<{type(self).__name__} {number} of game {self.game_id}>"


class BaseGame:
    """Base of the sync and asyncio games. The tokens are secrets; the repr omits them."""

    def __init__(self, client: ClientCalls, response: pb.NewGameResponse) -> None:
        self._response = response
        self._client = client
        self._commitment = Commitment(self.id)
        self._commitment.check_state(response.state)

    def _calls_of(self, token: str, seat: int | None = None) -> GameCalls:
        """Return the calls of the holder of a token. All of them share the commitment of the first state."""
        return GameCalls(self._client, self.id, bearer(token), seat=seat, commitment=self._commitment)

    @property
    def id(self) -> str:
        """The id of the game. Not a secret."""
        return self._response.state.game_id

    @property
    def state(self) -> GameState:
        """The first state of the game, as a spectator sees it."""
        return self._response.state

    @property
    def host_token(self) -> str:
        """The token of the host, who reads and moves for every seat. A secret."""
        return self._response.host_token

    @property
    def seat_tokens(self) -> Sequence[str]:
        """The token of each seat, by number. Secrets."""
        return tuple(self._response.seat_tokens)

    @property
    def spectator_token(self) -> str:
        """The token of spectators, who see public information. A secret of a private game; not needed for others."""
        return self._response.spectator_token

    @property
    def commitment(self) -> bytes:
        """The commitment to the seed, 32 bytes; see `Seat.commitment`. Not a secret."""
        return self._response.state.seed_commitment

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


def bearer(token: str) -> Metadata:
    """Return the metadata that carries a token.

    Raises:
        TokenInvalid: the token has an invalid format.
    """
    return (("authorization", f"Bearer {checked_token(token)}"),)


def new_request_id() -> str:
    """Return a random request id."""
    return str(uuid.uuid4())
