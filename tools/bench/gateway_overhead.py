"""The cost of a gateway between client and service: the same calls over gRPC, gRPC-Web and REST in one run."""

import http.client
import itertools
import json
import socket
import struct
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf import json_format

from service.gateway import Gateway, running_gateway
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import Variant, script
from tools.bench.server import ServerProcess

_SECONDS: Final = 30.0
_MOVES_PER_GAME: Final = 4
"""The number of measured moves per game."""

Call = Callable[[], Any]
Request = pb.GetGameRequest | pb.ApplyMoveRequest


class TransportCost(NamedTuple):
    """The cost of a call over a transport: CPU time of service and Envoy in microseconds, latency in milliseconds."""

    rpc: str
    transport: str
    service_micros: float
    envoy_micros: float
    millis: float


class _SeatRequest(NamedTuple):
    """A request, and the token of the seat that sends it."""

    request: Request
    token: str


def measure_transports(server: ServerProcess, variant: Variant, *, rounds: int, block: int) -> list[TransportCost]:
    """Measure GetGame and ApplyMove over each transport in turn, with one caller; return the medians of the rounds."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gateway = Gateway(host="127.0.0.1", port=port, admin="", services=[server.target], rate=1_000_000)
    found: defaultdict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    with running_gateway(gateway) as envoy, grpc.insecure_channel(server.target) as channel:
        stub, proxy = GameServiceStub(channel), ServerProcess(f"127.0.0.1:{port}", envoy.pid)
        connection = http.client.HTTPConnection(proxy.target, timeout=_SECONDS)
        transports: dict[str, Callable[[_SeatRequest], Call]] = {
            "gRPC": lambda call: _grpc(stub, call),
            "gRPC-Web": lambda call: _web(connection, call),
            "REST": lambda call: _rest(connection, call),
        }
        games = itertools.count()
        for _, (transport, prepare) in itertools.product(range(rounds), transports.items()):
            moves = _moves(stub, variant, games, block)
            reads = [_SeatRequest(pb.GetGameRequest(game_id=move.request.game_id), move.token) for move in moves]
            for rpc, requests in (("GetGame", reads), ("ApplyMove", moves)):
                calls = [prepare(one) for one in requests]
                found[rpc, transport].append(_measure(server, proxy, calls))
        connection.close()
    return [
        TransportCost(rpc, transport, *(median(column) for column in zip(*figures, strict=True)))
        for (rpc, transport), figures in sorted(found.items())
    ]


def _measure(server: ServerProcess, proxy: ServerProcess, calls: list[Call]) -> tuple[float, float, float]:
    """Make the calls; return CPU time of service and Envoy per call in microseconds, and median latency in ms."""
    before, latencies = (server.cpu(), proxy.cpu()), []
    for call in calls:
        started = time.perf_counter()
        call()
        latencies.append(time.perf_counter() - started)
    service, envoy = server.cpu() - before[0], proxy.cpu() - before[1]
    return service / len(calls) * 1e6, envoy / len(calls) * 1e6, median(latencies) * 1e3


def _moves(stub: GameServiceStub, variant: Variant, games: Iterator[int], block: int) -> list[_SeatRequest]:
    """Return the first moves of new games, alternating between the games."""
    games_moves = []
    for number in itertools.islice(games, -(-block // _MOVES_PER_GAME)):
        planned = script(variant, number)
        request = pb.NewGameRequest(options=planned.options, seat_count=planned.seats, seed=planned.seed)
        game = stub.NewGame(request, timeout=_SECONDS)
        games_moves.append(
            [
                _SeatRequest(
                    pb.ApplyMoveRequest(game_id=game.state.game_id, move=move, request_id=str(uuid.uuid4())),
                    game.seat_tokens[seat],
                )
                for seat, move in planned.moves[:_MOVES_PER_GAME]
            ]
        )
    return [call for step in zip(*games_moves, strict=True) for call in step][:block]


def _grpc(stub: GameServiceStub, call: _SeatRequest) -> Call:
    metadata = (("authorization", f"Bearer {call.token}"),)
    if isinstance(call.request, pb.GetGameRequest):
        read = call.request
        return lambda: stub.GetGame(read, metadata=metadata, timeout=_SECONDS)
    move = call.request
    return lambda: stub.ApplyMove(move, metadata=metadata, timeout=_SECONDS)


def _web(connection: http.client.HTTPConnection, call: _SeatRequest) -> Call:
    name = type(call.request).__name__.removesuffix("Request")
    data = call.request.SerializeToString()
    headers = {
        "content-type": "application/grpc-web+proto",
        "x-grpc-web": "1",
        "authorization": f"Bearer {call.token}",
    }
    path, body = f"/sodafountain.v1.GameService/{name}", struct.pack(">BI", 0, len(data)) + data
    return lambda: _http(connection, "POST", path, body, headers)


def _rest(connection: http.client.HTTPConnection, call: _SeatRequest) -> Call:
    path, headers = f"/v1/games/{call.request.game_id}", {"authorization": f"Bearer {call.token}"}
    if isinstance(call.request, pb.GetGameRequest):
        return lambda: _http(connection, "GET", path, b"", headers)
    fields = json_format.MessageToDict(call.request)
    del fields["gameId"]
    body = json.dumps(fields).encode()
    return lambda: _http(connection, "POST", f"{path}:applyMove", body, headers)


def _http(connection: http.client.HTTPConnection, verb: str, path: str, body: bytes, headers: dict[str, str]) -> None:
    connection.request(verb, path, body or None, headers)
    response = connection.getresponse()
    answer = response.read()
    if response.status != http.HTTPStatus.OK or response.getheader("grpc-status", "0") != "0":
        raise RuntimeError(f"{verb} {path}: {response.status} {answer[:200]!r}")
