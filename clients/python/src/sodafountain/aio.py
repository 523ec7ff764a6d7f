"""The client for asyncio: as `sodafountain`, with `await` before every call.

    import sodafountain.aio

    async with sodafountain.aio.connect("localhost:50051") as client:
        game = await client.new_game(SodaJerkOptions(), seats=3)
        moves = (await game.seats[0].legal_moves()).moves

The errors are those of `sodafountain`. A call that is cancelled is cancelled on the way too.
"""

import asyncio
from collections.abc import Sequence
from types import TracebackType
from typing import Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls, GameCalls, GameHandle, NewGame, Plan, SeatHandle, bearer
from sodafountain._channel import DEFAULT_TARGET, DEFAULT_TIMEOUT, channel_credentials, channel_options
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameKindInfo, GameState
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

__all__ = ["Client", "Game", "Host", "Seat", "Spectator", "connect"]

T = TypeVar("T")


def connect(
    target: str = DEFAULT_TARGET,
    *,
    tls: bool | grpc.ChannelCredentials = False,
    api_key: str | None = None,
    timeout: float = DEFAULT_TIMEOUT,
) -> "Client":
    """Makes a client; call it where the event loop runs. Otherwise as `sodafountain.connect`."""
    credentials = channel_credentials(tls)
    calls = ClientCalls(target, tls=credentials is not None, api_key=api_key, timeout=timeout)
    channel = (
        grpc.aio.insecure_channel(target, channel_options())
        if credentials is None
        else grpc.aio.secure_channel(target, credentials, channel_options())
    )
    return Client(channel, calls)


class Runner:
    """Makes the calls of plans over a channel, one after the other."""

    def __init__(self, channel: grpc.aio.Channel, calls: ClientCalls) -> None:
        self._stub = GameServiceStub(channel)
        self._calls = calls

    async def run(self, plan: Plan[T]) -> T:
        """Carries a plan out and returns its result."""
        try:
            call = next(plan)
            while True:
                call = plan.send(await self._answer(call))
        except StopIteration as end:
            result: T = end.value
            return result

    async def _answer(self, call: Call) -> Message:
        if self._calls.closed:
            raise self._calls.closed_before(call)
        method: grpc.aio.UnaryUnaryMultiCallable[Message, Message] = getattr(self._stub, call.rpc)
        answering = method(call.request, timeout=call.timeout, metadata=call.metadata)
        try:
            return await answering
        except grpc.aio.AioRpcError as failure:
            raise self._calls.explained(failure, call) from failure
        except asyncio.CancelledError:
            # Closing the channel cancels its calls, and they tell that as if their task had been cancelled.
            task = asyncio.current_task()
            if self._calls.closed and not (task and task.cancelling()):
                raise self._calls.closed_under(call) from None
            raise


class Client:
    """A connection to a Soda Fountain service; close it, or use it in an `async with` statement.

    Made by `connect`; otherwise as `sodafountain.Client`.
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
        request_id: str | None = None,
        timeout: float | None = None,
    ) -> "Game":
        """As `sodafountain.Client.new_game`."""
        answer = await self._runner.run(
            self._calls.new_game(options, seats, seed=seed, sealed=sealed, request_id=request_id, timeout=timeout)
        )
        return Game(self._runner, self._calls, answer)

    async def game_kinds(self, *, timeout: float | None = None) -> list[GameKindInfo]:
        """As `sodafountain.Client.game_kinds`."""
        return await self._runner.run(self._calls.game_kinds(timeout=timeout))

    def seat(self, game_id: str, token: str) -> "Seat":
        """As `sodafountain.Client.seat`; asks nothing of the service."""
        return Seat(self._runner, GameCalls(self._calls, game_id, bearer(token)))

    def spectator(self, game_id: str) -> "Spectator":
        """As `sodafountain.Client.spectator`; asks nothing of the service."""
        return Spectator(self._runner, GameCalls(self._calls, game_id, metadata=()))

    def host(self, game_id: str, token: str) -> "Host":
        """As `sodafountain.Client.host`; asks nothing of the service."""
        return Host(self._runner, GameCalls(self._calls, game_id, bearer(token)))

    async def close(self) -> None:
        """Closes the connection; calls that are under way, and later ones, raise `ClientClosed`."""
        self._calls.closed = True
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
    """What everybody may ask about a game."""

    def __init__(self, runner: Runner, calls: GameCalls) -> None:
        super().__init__(calls)
        self._runner = runner

    async def score(self, *, timeout: float | None = None) -> pb.ScoreResponse:
        """As `sodafountain.Seat.score`."""
        return await self._runner.run(self._calls.score(timeout=timeout))

    async def history(self, *, timeout: float | None = None) -> pb.GetHistoryResponse:
        """As `sodafountain.Seat.history`."""
        return await self._runner.run(self._calls.history(timeout=timeout))


class Spectator(Viewer):
    """Somebody who looks at a game and sees what is public."""

    async def state(self, *, timeout: float | None = None) -> GameState:
        """As `sodafountain.Spectator.state`."""
        return await self._runner.run(self._calls.state(timeout=timeout))


class Seat(Viewer, SeatHandle):
    """A seat of a game, held with its token. Like `sodafountain.Seat`, it remembers the decision it saw open last."""

    async def state(self, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """As `sodafountain.Seat.state`."""
        return await self._runner.run(self._calls.state(legal_moves=legal_moves, timeout=timeout))

    async def legal_moves(self, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """As `sodafountain.Seat.legal_moves`."""
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
        """As `sodafountain.Seat.apply`."""
        return await self._runner.run(
            self._calls.apply(None, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )


class Host(Viewer):
    """The host of a game: acts and looks for every seat. For trusted back ends that know their users themselves."""

    async def state(
        self, seat: int | None = None, *, legal_moves: bool = False, timeout: float | None = None
    ) -> GameState:
        """As `sodafountain.Host.state`."""
        return await self._runner.run(self._calls.state(seat, legal_moves=legal_moves, timeout=timeout))

    async def legal_moves(self, seat: int, *, timeout: float | None = None) -> pb.LegalMovesResponse:
        """As `sodafountain.Host.legal_moves`."""
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
        """As `sodafountain.Host.apply`."""
        return await self._runner.run(
            self._calls.apply(seat, move, etag=etag, legal_moves=legal_moves, request_id=request_id, timeout=timeout)
        )

    async def delete(self, *, timeout: float | None = None) -> None:
        """As `sodafountain.Host.delete`."""
        await self._runner.run(self._calls.delete(timeout=timeout))


class Game(NewGame):
    """A game that this client made."""

    def __init__(self, runner: Runner, client: ClientCalls, answer: pb.NewGameResponse) -> None:
        super().__init__(answer)
        self._host = Host(runner, GameCalls(client, self.id, bearer(self.host_token)))
        self._seats = tuple(
            Seat(runner, GameCalls(client, self.id, bearer(token), number))
            for number, token in enumerate(self.seat_tokens)
        )

    @property
    def host(self) -> Host:
        """The host's hold on the game."""
        return self._host

    @property
    def seats(self) -> Sequence[Seat]:
        """The seats, by number."""
        return self._seats
