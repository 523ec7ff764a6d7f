"""A game service that answers what a test tells it to, over a real socket, and remembers what it was asked."""

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

import grpc
from google.protobuf.any_pb2 import Any
from google.protobuf.message import Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.game_service_pb2_grpc import GameServiceServicer, add_GameServiceServicer_to_server
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI, SodaJerkMove

GAME_ID = "abcdefghijklmnopqrstuvwxyz"
HOST_TOKEN = "secret-of-the-host"
SEAT_TOKENS = ("secret-of-seat-0", "secret-of-seat-1", "secret-of-seat-2")


@dataclass(frozen=True)
class Refusal:
    """A failed answer: a code, a message, and bytes for `grpc-status-details-bin` unless None."""

    code: grpc.StatusCode
    message: str = "It was refused."
    details: bytes | None = None


@dataclass(frozen=True)
class Asked:
    """A request that arrived.

    Attributes:
        rpc: which.
        request: the message.
        metadata: with lower-case keys.
        time_left: the seconds until its deadline, as the server sees it.
    """

    rpc: str
    request: Message
    metadata: Mapping[str, str | bytes]
    time_left: float


class Hang:
    """On a stream: nothing more is said, until the caller goes."""


# What a stream of WatchGame may be made of.
Told: TypeAlias = pb.WatchGameResponse | Refusal | Hang


def refusal(
    code: grpc.StatusCode, reason: str, message: str = "It was refused.", *more: Message, **facts: str
) -> Refusal:
    """Refuses as the service does: a google.rpc.Status with an ErrorInfo, and more details."""
    status = Status(code=code.value[0], message=message)
    for detail in (ErrorInfo(reason=reason, domain="sodafountain.v1", metadata=facts), *more):
        packed = Any()
        packed.Pack(detail)
        status.details.append(packed)
    return Refusal(code, message, status.SerializeToString())


def flip(position: int) -> SodaJerkMove:
    """A move."""
    return SodaJerkMove(flip=SodaJerkMove.Flip(tap=FLAVOR_KIWI, position=position))


def legal_flip(position: int) -> LegalMove:
    """A legal move."""
    legal = LegalMove(label=f"Flip card {position}")
    legal.move.soda_jerk.CopyFrom(flip(position))
    return legal


def state(etag: str = "", *, viewer: int | None = None, awaiting: tuple[int, ...] = ()) -> GameState:
    """A state that says whose it is, who is awaited and which etag it has."""
    return GameState(game_id=GAME_ID, etag=etag, viewer_seat=viewer, awaiting_seats=awaiting)


# What each RPC answers where the script holds nothing.
USUAL: dict[str, Message] = {
    "NewGame": pb.NewGameResponse(
        state=state(awaiting=(0,)), host_token=HOST_TOKEN, seat_tokens=SEAT_TOKENS, seed_commitment=bytes(32)
    ),
    "LegalMoves": pb.LegalMovesResponse(etag="usual", moves=[legal_flip(1)], awaiting_seats=[0]),
    "ApplyMove": pb.ApplyMoveResponse(committed_version=2, state=state("usual", viewer=0)),
    "Score": pb.ScoreResponse(note="Nobody leads."),
    "GetGame": pb.GetGameResponse(state=state("usual", viewer=0, awaiting=(0,))),
    "GetHistory": pb.GetHistoryResponse(seat_count=3),
    "ListGameKinds": pb.ListGameKindsResponse(),
    "DeleteGame": pb.DeleteGameResponse(),
}


FINISHED = pb.WatchGameResponse(end=pb.WatchEnd(reason=pb.WATCH_END_REASON_FINISHED))


@dataclass
class ScriptedService:
    """Answers from its script, in order, then as usual.

    Attributes:
        port: where it listens; nobody else does while it does not.
        script: the next answers.
        streams: the next streams of WatchGame; those after them say at once that the game is over.
        asked: the requests that arrived.
        free: while cleared, answers wait.
        arrived: one more for each request that arrives.
        over: one more for each stream that is over.
    """

    port: int
    script: deque[Message | Refusal] = field(default_factory=deque)
    streams: deque[Sequence[Told]] = field(default_factory=deque)
    asked: list[Asked] = field(default_factory=list)
    free: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    over: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def answer(self, rpc: str, request: Message, context: grpc.ServicerContext) -> Message:
        """Notes a request and answers it."""
        self._note(rpc, request, context)
        self.free.wait(30)
        step = self.script.popleft() if self.script else USUAL[rpc]
        if isinstance(step, Refusal):
            refuse(step, context)
        return step

    def watch(self, request: Message, context: grpc.ServicerContext) -> Iterator[pb.WatchGameResponse]:
        """Notes a request and tells what is on its stream."""
        context.add_callback(self.over.release)
        self._note("WatchGame", request, context)
        for step in self.streams.popleft() if self.streams else (FINISHED,):
            match step:
                case Hang():
                    gone = threading.Event()
                    assert not context.add_callback(gone.set) or gone.wait(30), "the caller stayed"
                case Refusal():
                    refuse(step, context)
                case _:
                    yield step

    def _note(self, rpc: str, request: Message, context: grpc.ServicerContext) -> None:
        metadata = {key: value for key, value in context.invocation_metadata()}  # noqa: C416 (typed as pairs of either)
        self.asked.append(Asked(rpc, request, metadata, context.time_remaining()))
        self.arrived.release()

    def requests(self) -> list[Message]:
        """The messages that arrived."""
        return [asked.request for asked in self.asked]

    @property
    def target(self) -> str:
        """The address to connect to."""
        return f"127.0.0.1:{self.port}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Listens on its port, each time on the same; stops without grace."""
        server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.so_reuseport", 1)])
        add_GameServiceServicer_to_server(servicer_of(self.answer, self.watch), server)
        server.add_insecure_port(self.target)
        server.start()
        try:
            yield
        finally:
            stopped = server.stop(None)
            self.free.set()
            stopped.wait()


@contextmanager
def reserved_port() -> Iterator[int]:
    """Keeps a port from others: a connection is refused there until somebody who shares it listens."""
    with socket.socket() as keeper:
        keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]


def refuse(how: Refusal, context: grpc.ServicerContext) -> NoReturn:
    """Refuses a call."""
    if how.details is not None:
        context.set_trailing_metadata((("grpc-status-details-bin", how.details),))
    context.abort(how.code, how.message)


def servicer_of(
    answer: Callable[[str, Message, grpc.ServicerContext], Message],
    watch: Callable[[Message, grpc.ServicerContext], Iterator[Message]],
) -> GameServiceServicer:
    """Makes the generated servicer call one function for every RPC but WatchGame, and another for that."""

    def method(rpc: str) -> Callable[[object, Message, grpc.ServicerContext], Message]:
        return lambda _self, request, context: answer(rpc, request, context)

    methods: dict[str, object] = {rpc: method(rpc) for rpc in USUAL}
    methods["WatchGame"] = lambda _self, request, context: watch(request, context)
    kind: type[GameServiceServicer] = type("ScriptedServicer", (GameServiceServicer,), methods)
    return kind()
