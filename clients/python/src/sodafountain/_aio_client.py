"""The asyncio client."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import grpc
import grpc.aio
from google.protobuf.message import Message

from sodafountain._aio_runner import Runner
from sodafountain._aio_watch import Watch
from sodafountain._calls import BaseGame, ClientCalls, GameCalls, GameHandle, SeatHandle, bearer
from sodafountain._channel import DEFAULT_TARGET, DEFAULT_TIMEOUT, channel_credentials, channel_options
from sodafountain._watch_plan import DEFAULT_IDLE_TIMEOUT, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import VISIBILITY_UNSPECIFIED, GameKindInfo, GameState, Visibility


def connect(
    target: str = DEFAULT_TARGET,
    *,
    tls: bool | grpc.ChannelCredentials = False,
    allow_insecure: bool = False,
    api_key: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """Create a client; call this in a running event loop. See `sodafountain.connect`."""
    credentials = channel_credentials(tls)
    calls = ClientCalls(
        target, tls=credentials is not None, allow_insecure=allow_insecure, api_key=api_key, timeout=timeout
    )
    channel = (
        grpc.aio.insecure_channel(target, channel_options())
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, channel_options())
    )
    return Client(channel, calls)


class Client:
    """A connection to a Soda Fountain service. Close it, or use it in an `async with` statement.

    Create one with `connect`. See `sodafountain.Client`.
    """

    def __init__(self, channel: grpc.aio.Channel, calls: ClientCalls) -> None:
        self._channel = channel
        self._calls = calls
        self._runner = Runner(channel, calls)

    async def new_game(
        self,
        options: Message,
        seats: int,
        *,
        seed: bytes | None = None,
        sealed: bool = False,
        visibility: Visibility.ValueType = VISIBILITY_UNSPECIFIED,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> "Game":
        """Create a game. See `sodafountain.Client.new_game`."""
        response = await self._runner.run(
            self._calls.new_game(
                options,
                seats,
                seed=seed,
                sealed=sealed,
                visibility=visibility,
                request_id=request_id,
                timeout=timeout,
            )
        )
        return Game(self._runner, self._calls, response)

    async def game_kinds(self, *, timeout: float | None = None) -> list[GameKindInfo]:
        """Return the kinds of game that the service offers. See `sodafountain.Client.game_kinds`."""
        return await self._runner.run(self._calls.game_kinds(timeout=timeout))

    def seat(self, game_id: str, token: str, *, commitment: bytes | None = None) -> "Seat":
        """Return a handle of a seat, without a call. See `sodafountain.Client.seat`."""
        return Seat(self._runner, self._calls.game(game_id, bearer(token), commitment))

    def spectator(self, game_id: str, token: str | None = None, *, commitment: bytes | None = None) -> "Spectator":
        """Return a handle of a game for a spectator, without a call. See `sodafountain.Client.spectator`."""
        metadata = () if token is None else bearer(token)
        return Spectator(self._runner, self._calls.game(game_id, metadata, commitment))

    def host(self, game_id: str, token: str, *, commitment: bytes | None = None) -> "Host":
        """Return a handle of a game for its host, without a call. See `sodafountain.Client.host`."""
        return Host(self._runner, self._calls.game(game_id, bearer(token), commitment))

    async def close(self) -> None:
        """Close the connection. Calls and watches that are in progress, and later ones, raise `ClientClosed`."""
        self._calls.closed = True
        self._runner.wake_watches()
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._calls.target}>"


class Viewer(GameHandle):
    """Base of the handles: the calls that need no token."""

    def __init__(self, runner: Runner, calls: GameCalls) -> None:
        super().__init__(calls)
        self._runner = runner

    async def score(self, *, timeout: float | None = None) -> pb.ScoreResponse:
        """Return the current or final score. See `sodafountain.Seat.score`."""
        return await self._runner.run(self._calls.score(timeout=timeout))

    async def history(self, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """Return the history of the game so far. See `sodafountain.Seat.history`."""
        return await self._runner.run(self._calls.history(timeout=timeout))


class Spectator(Viewer):
    """A spectator of a game, who sees public information only."""

    async def state(self, *, timeout: float | None = None) -> GameState:
        """Return the state of the game, as a spectator sees it. See `sodafountain.Spectator.state`."""
        return await self._runner.run(self._calls.state(timeout=timeout))

    def watch(self, *, resume_token: str | None = None, idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT) -> Watch:
        """Watch the game: `async for update in spectator.watch(): …`. See `sodafountain.Spectator.watch`."""
        return self._runner.watch(WatchPlan(self._calls, resume_token=resume_token, idle_timeout=idle_timeout))


class Seat(Viewer, SeatHandle):
    """A seat of a game, with its token. Like `sodafountain.Seat`, it remembers the latest open decision."""

    async def state(self, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """Return the state of the game, as the seat sees it. See `sodafountain.Seat.state`."""
        return await self._runner.run(self._calls.state(legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> Watch:
        """Watch the game: `async for update in seat.watch(): …`. See `sodafountain.Seat.watch`."""
        return self._runner.watch(
            WatchPlan(self._calls, legal_moves=legal_moves, resume_token=resume_token, idle_timeout=idle_timeout)
        )

    async def legal_moves(self, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Return all legal moves of the seat. See `sodafountain.Seat.legal_moves`."""
        return await self._runner.run(self._calls.legal_moves(timeout=timeout))

    async def apply(
        self,
        move: Message,
        *,
        etag: str | None = None,
        legal_moves: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> pb.ApplyMoveResponse:
        """Apply a move. See `sodafountain.Seat.apply`."""
        return await self._runner.run(
            self._calls.apply(None, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )


class Host(Viewer):
    """The host of a game, who reads and moves for every seat. For backends that authenticate their users themselves."""

    async def state(
        self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None = None
    ) -> GameState:
        """Return the state of the game, as a seat sees it. See `sodafountain.Host.state`."""
        return await self._runner.run(self._calls.state(seat, legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        idle_timeout: float | None = DEFAULT_IDLE_TIMEOUT,
    ) -> Watch:
        """Watch the game: `async for update in host.watch(seat): …`. See `sodafountain.Host.watch`."""
        return self._runner.watch(
            WatchPlan(self._calls, seat, legal_moves=legal_moves, resume_token=resume_token, idle_timeout=idle_timeout)
        )

    async def legal_moves(self, seat: int, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """Return the legal moves of a seat. See `sodafountain.Host.legal_moves`."""
        return await self._runner.run(self._calls.legal_moves(seat, timeout=timeout))

    async def apply(
        self,
        seat: int,
        move: Message,
        *,
        etag: str | None = None,
        legal_moves: bool = False,
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> pb.ApplyMoveResponse:
        """Apply a move of a seat. See `sodafountain.Host.apply`."""
        return await self._runner.run(
            self._calls.apply(seat, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )

    async def history(self, seat: int | None = None, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """Return the history of the game so far, as a seat may know it. See `sodafountain.Host.history`."""
        return await self._runner.run(self._calls.history(seat, timeout=timeout))

    async def delete(self, *, timeout: float | None = None) -> None:
        """Delete the game permanently. See `sodafountain.Host.delete`."""
        await self._runner.run(self._calls.delete(timeout=timeout))


class Game(BaseGame):
    """A game that this client created."""

    def __init__(self, runner: Runner, client: ClientCalls, response: pb.NewGameResponse) -> None:
        super().__init__(client, response)
        self._host = Host(runner, self._calls_of(self.host_token))
        self._seats = tuple(
            Seat(runner, self._calls_of(token, number)) for number, token in enumerate(self.seat_tokens)
        )

    @property
    def host(self) -> Host:
        """The handle of the host."""
        return self._host

    @property
    def seats(self) -> Sequence[Seat]:
        """The handles of the seats, by number."""
        return self._seats
