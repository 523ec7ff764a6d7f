"""A game service that sends scripted responses over a real socket and records the requests."""

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
COMMITMENT = bytes(range(32))
SPECTATOR_TOKEN = "secret-of-spectators"
SERVER_OPTIONS = (
    ("grpc.so_reuseport", 1),
    # Allow the pings of the client, as the service does.
    ("grpc.http2.min_ping_interval_without_data_ms", 500),
    ("grpc.keepalive_permit_without_calls", 1),
)
SEAT_TOKENS = ("secret-of-seat-0", "secret-of-seat-1", "secret-of-seat-2")


@dataclass(frozen=True)
class ErrorReply:
    """An error status: code, message, and the bytes of `grpc-status-details-bin` unless None."""

    code: grpc.StatusCode
    message: str = "The call failed."
    details: bytes | None = None


@dataclass(frozen=True)
class ReceivedRequest:
    """A request that the service received.

    Attributes:
        rpc: the name of the RPC.
        request: the message.
        metadata: the metadata, with lower-case keys.
        time_left: the seconds until the deadline of the call.
    """

    rpc: str
    request: Message
    metadata: Mapping[str, str | bytes]
    time_left: float


class Hang:
    """An item of a stream: send nothing more until the client cancels."""


# An item of a scripted WatchGame stream.
StreamItem: TypeAlias = pb.WatchGameResponse | ErrorReply | Hang


def error_reply(
    code: grpc.StatusCode, reason: str, message: str = "The call failed.", *details: Message, **metadata: str
) -> ErrorReply:
    """Return an error as the service sends it: a google.rpc.Status with an ErrorInfo and further details."""
    status = Status(code=code.value[0], message=message)
    for detail in (ErrorInfo(reason=reason, domain="sodafountain", metadata=metadata), *details):
        packed = Any()
        packed.Pack(detail)
        status.details.append(packed)
    return ErrorReply(code, message, status.SerializeToString())


def flip(position: int) -> SodaJerkMove:
    """Return a move."""
    return SodaJerkMove(flip=SodaJerkMove.Flip(tap_flavor=FLAVOR_KIWI, position=position))


def legal_flip(position: int) -> LegalMove:
    """Return a legal move."""
    legal = LegalMove(label=f"Flip card {position}")
    legal.move.soda_jerk.CopyFrom(flip(position))
    return legal


def state(etag: str = "", *, viewer: int | None = None, awaiting: tuple[int, ...] = ()) -> GameState:
    """Return a state with an etag, a viewer and the awaited seats."""
    return GameState(
        game_id=GAME_ID, etag=etag, viewer_seat=viewer, awaiting_seats=awaiting, seed_commitment=COMMITMENT
    )


# The response of each RPC when none is scripted.
DEFAULT_RESPONSES: dict[str, Message] = {
    "NewGame": pb.NewGameResponse(
        state=state(awaiting=(0,)),
        host_token=HOST_TOKEN,
        seat_tokens=SEAT_TOKENS,
        spectator_token=SPECTATOR_TOKEN,
    ),
    "LegalMoves": pb.LegalMovesResponse(etag="default", moves=[legal_flip(1)], awaiting_seats=[0]),
    "ApplyMove": pb.ApplyMoveResponse(committed_version=2, state=state("default", viewer=0)),
    "Score": pb.ScoreResponse(note="No player leads."),
    "GetGame": pb.GetGameResponse(state=state("default", viewer=0, awaiting=(0,))),
    "GetHistory": pb.GetHistoryResponse(seat_count=3),
    "ListGameKinds": pb.ListGameKindsResponse(),
    "DeleteGame": pb.DeleteGameResponse(),
}


FINISHED = pb.WatchGameResponse(end=pb.WatchEnd(reason=pb.WATCH_END_REASON_FINISHED))


@dataclass
class ScriptedService:
    """Sends its scripted responses in order, then the default ones.

    Attributes:
        port: the port, reserved while the service does not listen.
        responses: the next responses.
        streams: the next streams of WatchGame. Later streams report immediately that the game is over.
        received: the requests received.
        may_answer: responses wait while it is cleared.
        request_received: released for each request.
        stream_ended: released for each stream that ends.
    """

    port: int
    responses: deque[Message | ErrorReply] = field(default_factory=deque)
    streams: deque[Sequence[StreamItem]] = field(default_factory=deque)
    received: list[ReceivedRequest] = field(default_factory=list)
    may_answer: threading.Event = field(default_factory=threading.Event)
    request_received: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    stream_ended: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def answer(self, rpc: str, request: Message, context: grpc.ServicerContext) -> Message:
        """Record a request and answer it."""
        self._record(rpc, request, context)
        self.may_answer.wait(30)
        response = self.responses.popleft() if self.responses else DEFAULT_RESPONSES[rpc]
        if isinstance(response, ErrorReply):
            abort(response, context)
        return response

    def watch(self, request: Message, context: grpc.ServicerContext) -> Iterator[pb.WatchGameResponse]:
        """Record a request and send its scripted stream."""
        context.add_callback(self.stream_ended.release)
        self._record("WatchGame", request, context)
        for item in self.streams.popleft() if self.streams else (FINISHED,):
            match item:
                case Hang():
                    cancelled = threading.Event()
                    assert not context.add_callback(cancelled.set) or cancelled.wait(30), "the client did not cancel"
                case ErrorReply():
                    abort(item, context)
                case _:
                    yield item

    def _record(self, rpc: str, request: Message, context: grpc.ServicerContext) -> None:
        metadata = {key: value for key, value in context.invocation_metadata()}  # noqa: C416 (typed as pairs of either)
        self.received.append(ReceivedRequest(rpc, request, metadata, context.time_remaining()))
        self.request_received.release()

    def requests(self) -> list[Message]:
        """Return the messages of the requests received."""
        return [received.request for received in self.received]

    @property
    def target(self) -> str:
        """The address to connect to."""
        return f"127.0.0.1:{self.port}"

    @contextmanager
    def serving(self) -> Iterator[None]:
        """Listen on the port, and stop without a grace period afterwards."""
        server = grpc.server(futures.ThreadPoolExecutor(4), options=SERVER_OPTIONS)
        add_GameServiceServicer_to_server(make_servicer(self.answer, self.watch), server)
        server.add_insecure_port(self.target)
        server.start()
        try:
            yield
        finally:
            stopped = server.stop(None)
            self.may_answer.set()
            stopped.wait()


@contextmanager
def reserved_port() -> Iterator[int]:
    """Reserve a port. Connections are refused until a server with SO_REUSEPORT listens on it."""
    with socket.socket() as reservation:
        reservation.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        reservation.bind(("127.0.0.1", 0))
        yield reservation.getsockname()[1]


def abort(reply: ErrorReply, context: grpc.ServicerContext) -> NoReturn:
    """Fail a call."""
    if reply.details is not None:
        context.set_trailing_metadata((("grpc-status-details-bin", reply.details),))
    context.abort(reply.code, reply.message)


def make_servicer(
    answer: Callable[[str, Message, grpc.ServicerContext], Message],
    watch: Callable[[Message, grpc.ServicerContext], Iterator[Message]],
) -> GameServiceServicer:
    """Return a servicer that passes WatchGame to `watch` and every other RPC to `answer`."""

    def method(rpc: str) -> Callable[[object, Message, grpc.ServicerContext], Message]:
        return lambda _self, request, context: answer(rpc, request, context)

    methods: dict[str, object] = {rpc: method(rpc) for rpc in DEFAULT_RESPONSES}
    methods["WatchGame"] = lambda _self, request, context: watch(request, context)
    servicer: type[GameServiceServicer] = type("ScriptedServicer", (GameServiceServicer,), methods)
    return servicer()
