"""What the client says and what it remembers, without I/O: shared by the sync and the asyncio client.

Each operation is a plan: a generator that yields the calls to make, is sent their answers, and returns the result. The
clients differ only in how they make a call.
"""

import threading
import uuid
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

import grpc
from google.protobuf.message import Message

from sodafountain._arguments import checked_api_key, checked_target, checked_timeout, checked_token
from sodafountain._errors import ClientClosed, SodaFountainError, explain
from sodafountain._messages import as_move, as_options
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameKindInfo, GameState

T = TypeVar("T")
Metadata: TypeAlias = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True, kw_only=True)
class Call:
    """One RPC to make. What it carries is secret and stays out of its repr.

    Attributes:
        rpc: the RPC's name.
        request: its message.
        metadata: its metadata.
        timeout: its deadline in seconds.
        request_id: the request's id, where it has one.
    """

    rpc: str
    request: Message = field(repr=False)
    metadata: Metadata = field(repr=False)
    timeout: float
    request_id: str | None = field(default=None, repr=False)


class Decision(NamedTuple):
    """A decision as it was seen, of which version, by its etag.

    While nothing is awaited from a seat its etag is empty, for it tags no decision: the seat's next move means the one
    that is open by then.
    """

    version: int
    etag: str


NO_DECISION: Final = Decision(0, "")

# A plan yields calls and is sent the answer of each: of which type depends on the call, hence Any.
Plan: TypeAlias = Generator[Call, Any, T]


class ClientCalls:
    """The calls of a client that belong to no game yet, and the makings of those that do.

    Attributes:
        target: the address of the service.
        closed: whether the client is closed, or is being closed.
    """

    def __init__(self, target: str, *, tls: bool, api_key: str | None, timeout: float) -> None:
        self.target = checked_target(target)
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
        request_id: str | None,
        timeout: float | None,
    ) -> Plan[pb.NewGameResponse]:
        """Makes a game."""
        request = pb.NewGameRequest(
            options=as_options(options),
            seat_count=seats,
            request_id=request_id or new_request_id(),
            seed=seed,
            sealed=sealed,
        )
        game: pb.NewGameResponse = yield Call(
            rpc="NewGame",
            request=request,
            metadata=() if self._api_key is None else (("x-api-key", self._api_key),),
            timeout=self.deadline(timeout),
            request_id=request.request_id,
        )
        return game

    def game_kinds(self, *, timeout: float | None) -> Plan[list[GameKindInfo]]:
        """Lists the kinds of game, page by page."""
        kinds: list[GameKindInfo] = []
        token = ""
        while True:
            page: pb.ListGameKindsResponse = yield Call(
                rpc="ListGameKinds",
                request=pb.ListGameKindsRequest(page_token=token),
                metadata=(),
                timeout=self.deadline(timeout),
            )
            kinds.extend(page.game_kinds)
            token = page.next_page_token
            if not token:
                return kinds

    def deadline(self, timeout: float | None) -> float:
        """The deadline of a call, in seconds: its own or the client's."""
        return self._timeout if timeout is None else checked_timeout(timeout)

    def explained(self, failure: grpc.RpcError, call: Call) -> SodaFountainError:
        """The error that tells why a call failed."""
        if self.closed and failure.code() is grpc.StatusCode.CANCELLED:
            return self.closed_under(call)
        return explain(
            failure, target=self.target, tls=self._tls, rpc=call.rpc, timeout=call.timeout, request_id=call.request_id
        )

    def closed_before(self, call: Call) -> ClientClosed:
        """The error of a call that comes too late; its request id is as good as new."""
        return ClientClosed("This client is closed.", code=grpc.StatusCode.CANCELLED, request_id=call.request_id)

    def closed_under(self, call: Call) -> ClientClosed:
        """The error of a call that was under way when its client was closed."""
        message = f"This client was closed before {self.target} had answered {call.rpc}."
        return ClientClosed(message, code=grpc.StatusCode.CANCELLED, request_id=call.request_id)

    def closed_while_watching(self) -> ClientClosed:
        """The error of a watch whose client is closed."""
        return ClientClosed("This client was closed, and its watch with it.", code=grpc.StatusCode.CANCELLED)


class GameCalls:
    """The calls of one caller about one game, and the open decisions that the caller has seen.

    The `seat` of each call is None where the token says it, or where a spectator asks.
    """

    def __init__(self, client: ClientCalls, game_id: str, metadata: Metadata, seat: int | None = None) -> None:
        self.game_id = game_id
        # The caller's own seat as far as it is known: the token alone does not say it.
        self.own_seat = seat
        self._client = client
        self._metadata = metadata
        # By seat, as in the calls: the decision that was open when its seat was last looked at.
        self._decisions: dict[int | None, Decision] = {}
        # A watch may note what it is told in one thread while another thread asks.
        self._noting = threading.Lock()

    def state(self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None) -> Plan[GameState]:
        """Shows the game."""
        request = pb.GetGameRequest(game_id=self.game_id, seat=seat, include_legal_moves=legal_moves)
        answer: pb.GetGameResponse = yield self.call("GetGame", request, timeout)
        self.note_state(seat, answer.state)
        return answer.state

    def legal_moves(self, seat: int | None = None, *, timeout: float | None) -> Plan[pb.LegalMovesResponse]:
        """Lists the legal moves of a seat."""
        request = pb.LegalMovesRequest(game_id=self.game_id, seat=seat)
        answer: pb.LegalMovesResponse = yield self.call("LegalMoves", request, timeout)
        with self._noting:
            self._decisions[seat] = Decision(answer.version, answer.etag if answer.moves else "")
        return answer

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
        """Makes a move."""
        request = pb.ApplyMoveRequest(
            game_id=self.game_id,
            seat=seat,
            move=as_move(move),
            etag=self._decisions.get(seat, NO_DECISION).etag if etag is None else etag,
            request_id=request_id or new_request_id(),
            include_legal_moves=legal_moves,
        )
        answer: pb.ApplyMoveResponse = yield self.call("ApplyMove", request, timeout, request.request_id)
        self.note_state(seat, answer.state)
        return answer

    def score(self, *, timeout: float | None) -> Plan[pb.ScoreResponse]:
        """Tells the standings."""
        answer: pb.ScoreResponse = yield self.call("Score", pb.ScoreRequest(game_id=self.game_id), timeout)
        return answer

    def history(self, *, timeout: float | None) -> Plan[pb.GetHistoryResponse]:
        """Reveals a finished game, all pages put together."""
        history = pb.GetHistoryResponse()
        while True:
            request = pb.GetHistoryRequest(game_id=self.game_id, page_token=history.next_page_token)
            page: pb.GetHistoryResponse = yield self.call("GetHistory", request, timeout)
            if not history.next_page_token:
                history = page
            else:
                history.entries.extend(page.entries)
                history.next_page_token = page.next_page_token
            if not history.next_page_token:
                return history

    def delete(self, *, timeout: float | None) -> Plan[None]:
        """Deletes the game."""
        yield self.call("DeleteGame", pb.DeleteGameRequest(game_id=self.game_id), timeout)

    def call(self, rpc: str, request: Message, timeout: float | None, request_id: str | None = None) -> Call:
        """One RPC about the game, in the caller's name."""
        return Call(
            rpc=rpc,
            request=request,
            metadata=self._metadata,
            timeout=self._client.deadline(timeout),
            request_id=request_id,
        )

    def explained(self, failure: grpc.RpcError, call: Call) -> SodaFountainError:
        """The error that tells why a call failed."""
        return self._client.explained(failure, call)

    def note_state(self, seat: int | None, state: GameState, *, may_be_late: bool = False) -> None:
        """Remembers which decision is open in a state.

        Args:
            seat: whose, as in the call.
            state: the state.
            may_be_late: whether it was told and not asked for, so that a newer decision may be known, which then stays.
        """
        if not state.HasField("viewer_seat"):
            return
        is_open = state.viewer_seat in state.awaiting_seats
        with self._noting:
            if seat is None:
                self.own_seat = state.viewer_seat
            if not may_be_late or state.version >= self._decisions.get(seat, NO_DECISION).version:
                self._decisions[seat] = Decision(state.version, state.etag if is_open else "")


class GameHandle:
    """Somebody's hold on a game: what a seat, a spectator and a host have in common, sync or asyncio."""

    def __init__(self, calls: GameCalls) -> None:
        self._calls = calls

    @property
    def game_id(self) -> str:
        """The game's id."""
        return self._calls.game_id

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self.game_id}>"


class SeatHandle(GameHandle):
    """What a sync and an asyncio seat have in common."""

    @property
    def number(self) -> int | None:
        """The seat's number from 0; None until an answer of the service has told it (`new_game` tells it at once)."""
        return self._calls.own_seat

    def __repr__(self) -> str:
        number = "?" if self.number is None else self.number
        return f"<{type(self).__name__} {number} of game {self.game_id}>"


class NewGame:
    """What `new_game` brings, sync or asyncio. Its tokens are secrets, each for its player; no repr shows them."""

    def __init__(self, answer: pb.NewGameResponse) -> None:
        self._answer = answer

    @property
    def id(self) -> str:
        """The game's id: public."""
        return self._answer.state.game_id

    @property
    def state(self) -> GameState:
        """The game as a spectator saw it when it was made."""
        return self._answer.state

    @property
    def host_token(self) -> str:
        """The host's token: acts and looks for every seat. A secret."""
        return self._answer.host_token

    @property
    def seat_tokens(self) -> Sequence[str]:
        """One token per seat, by seat. Secrets."""
        return tuple(self._answer.seat_tokens)

    @property
    def seed_commitment(self) -> bytes:
        """The SHA-256 of the seed, 32 bytes, to be compared with the seed that the history reveals."""
        return self._answer.seed_commitment

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id}>"


def bearer(token: str) -> Metadata:
    """The metadata that shows a token.

    Raises:
        TokenInvalid: no token looks like that.
    """
    return (("authorization", f"Bearer {checked_token(token)}"),)


def new_request_id() -> str:
    """Draws a request id."""
    return str(uuid.uuid4())
