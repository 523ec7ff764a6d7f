"""The client for asyncio: as `sodafountain`, with `await` before every call.

    import sodafountain.aio

    async with sodafountain.aio.connect("localhost:50051") as client:
        game = await client.new_game(SodaJerkOptions(), seats=3)
        moves = (await game.seats[0].legal_moves()).moves

The errors are those of `sodafountain`. A call that is cancelled is cancelled on the way too.
"""

import asyncio
import weakref
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls, GameCalls, GameHandle, NewGame, Plan, SeatHandle, bearer
from sodafountain._channel import DEFAULT_TARGET, DEFAULT_TIMEOUT, channel_credentials, channel_options
from sodafountain._watch_plan import DEFAULT_PATIENCE, ENDED, Heard, Open, Pause, Read, Step, Update, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameKindInfo, GameState
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

__all__ = ["Client", "Game", "Host", "Seat", "Spectator", "Watch", "connect"]

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
        # What ends the pauses of watches.
        self._bells: weakref.WeakSet[asyncio.Event] = weakref.WeakSet()

    def watch(self, plan: WatchPlan) -> "Watch":
        """Lets a watch be iterated over."""
        bell = asyncio.Event()
        self._bells.add(bell)
        return Watch(self._stub, self._calls, plan, bell)

    def end_watches(self) -> None:
        """Ends every watch of a client that is closed."""
        for bell in tuple(self._bells):
            bell.set()

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
        """Closes the connection; calls and watches that are under way, and later ones, raise `ClientClosed`."""
        self._calls.closed = True
        self._runner.end_watches()
        await self._channel.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._calls.target}>"


class Watch(AsyncIterator[Update]):
    """A game that is being followed: iterate over it, once, for its updates. See `sodafountain.Seat.watch`.

    It is closed at the end of its loop if nobody else holds it, and of an `async with` statement. Cancelling a task
    that waits for an update cancels the stream too; whoever asks for the next update then gets it: nothing is lost.
    """

    def __init__(self, stub: GameServiceStub, calls: ClientCalls, plan: WatchPlan, bell: asyncio.Event) -> None:
        self._closed = False
        self._stub = stub
        self._calls = calls
        self._plan = plan
        self._bell = bell
        self._stream: grpc.aio.UnaryStreamCall[Message, pb.WatchGameResponse] | None = None
        self._heard: Heard = None

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    async def close(self) -> None:
        """Ends the watch, also one that another task waits for: it has no more updates."""
        self._closed = True
        self._end_stream()
        self._bell.set()

    async def __anext__(self) -> Update:
        self._plan.be_patient()
        # What the plan is to hear if this is interrupted: nothing that was under way will come.
        heard, self._heard = self._heard, ENDED
        try:
            while not self._closed and (step := self._plan.step(heard)) is not None:
                if isinstance(step, Update):
                    self._heard = None
                    return step
                heard = await self._take(step)
        except BaseException:
            self._end_stream()
            raise
        self._end_stream()
        raise StopAsyncIteration

    async def _take(self, step: Step) -> Heard:
        if self._calls.closed:
            raise self._calls.closed_while_watching()
        match step:
            case Open(call):
                self._end_stream()
                method: grpc.aio.UnaryStreamMultiCallable[Message, pb.WatchGameResponse] = getattr(self._stub, call.rpc)
                # No deadline: it lasts as long as the game.
                self._stream = method(call.request, metadata=call.metadata)
            case Pause(seconds):
                self._end_stream()
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._bell.wait()
            case Read(seconds):
                heard = await self._read(seconds)
                if self._calls.closed:
                    raise self._calls.closed_while_watching()
                return heard
        return None

    async def _read(self, seconds: float) -> Heard:
        if self._stream is None:
            return ENDED
        try:
            async with asyncio.timeout(seconds):
                message = await self._stream.read()
        except TimeoutError:
            return None
        except grpc.aio.AioRpcError as failure:
            return failure
        except asyncio.CancelledError:
            # So does a stream tell that it was cancelled, by closing its watch or the channel.
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            return ENDED
        return message if isinstance(message, pb.WatchGameResponse) else ENDED

    def _end_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        # A loop that is closed has ended its streams.
        with suppress(RuntimeError):
            self._end_stream()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self._plan.game_id}>"


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

    def watch(self, *, resume_token: str | None = None, patience: float | None = DEFAULT_PATIENCE) -> "Watch":
        """As `sodafountain.Spectator.watch`: `async for update in spectator.watch(): …`."""
        return self._runner.watch(WatchPlan(self._calls, resume_token=resume_token, patience=patience))


class Seat(Viewer, SeatHandle):
    """A seat of a game, held with its token. Like `sodafountain.Seat`, it remembers the decision it saw open last."""

    async def state(self, *, legal_moves: bool = False, timeout: float | None = None) -> GameState:
        """As `sodafountain.Seat.state`."""
        return await self._runner.run(self._calls.state(legal_moves=legal_moves, timeout=timeout))

    def watch(
        self,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        patience: float | None = DEFAULT_PATIENCE,
    ) -> "Watch":
        """As `sodafountain.Seat.watch`: `async for update in seat.watch(): …`."""
        return self._runner.watch(
            WatchPlan(self._calls, legal_moves=legal_moves, resume_token=resume_token, patience=patience)
        )

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

    def watch(
        self,
        seat: int | None = None,
        *,
        legal_moves: bool = False,
        resume_token: str | None = None,
        patience: float | None = DEFAULT_PATIENCE,
    ) -> "Watch":
        """As `sodafountain.Host.watch`: `async for update in host.watch(seat): …`."""
        return self._runner.watch(
            WatchPlan(self._calls, seat, legal_moves=legal_moves, resume_token=resume_token, patience=patience)
        )

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
