"""What a gateway between caller and service costs: the same calls as gRPC, as gRPC-Web and as REST, in the same run."""

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
from tools.bench.server import Served

_SECONDS: Final = 30.0
_MOVES_EACH: Final = 4
"""How many moves of a game are timed."""

Call = Callable[[], Any]
Request = pb.GetGameRequest | pb.ApplyMoveRequest


class Hop(NamedTuple):
    """What a call costs by one way: CPU of the service and of Envoy in microseconds, and how long its caller waits."""

    rpc: str
    way: str
    service_micros: float
    envoy_micros: float
    millis: float


class _Asked(NamedTuple):
    """A request to be made, and whose it is."""

    request: Request
    token: str


def hops(server: Served, variant: Variant, *, rounds: int, block: int) -> list[Hop]:
    """Measures GetGame and ApplyMove by each way, in turn; the medians of the rounds count. One caller at a time."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    gateway = Gateway(host="127.0.0.1", port=port, admin="", services=[server.target], rate=1_000_000)
    found: defaultdict[tuple[str, str], list[tuple[float, float, float]]] = defaultdict(list)
    with running_gateway(gateway) as envoy, grpc.insecure_channel(server.target) as channel:
        stub, proxy = GameServiceStub(channel), Served(f"127.0.0.1:{port}", envoy.pid)
        connection = http.client.HTTPConnection(proxy.target, timeout=_SECONDS)
        ways: dict[str, Callable[[_Asked], Call]] = {
            "gRPC": lambda asked: _grpc(stub, asked),
            "gRPC-Web": lambda asked: _web(connection, asked),
            "REST": lambda asked: _rest(connection, asked),
        }
        games = itertools.count()
        for _, (way, prepare) in itertools.product(range(rounds), ways.items()):
            asked = _moves(stub, variant, games, block)
            looks = [_Asked(pb.GetGameRequest(game_id=move.request.game_id), move.token) for move in asked]
            for rpc, requests in (("GetGame", looks), ("ApplyMove", asked)):
                calls = [prepare(one) for one in requests]
                found[rpc, way].append(_spent(server, proxy, calls))
        connection.close()
    return [
        Hop(rpc, way, *(median(column) for column in zip(*figures, strict=True)))
        for (rpc, way), figures in sorted(found.items())
    ]


def _spent(server: Served, proxy: Served, calls: list[Call]) -> tuple[float, float, float]:
    """Makes the calls; returns microseconds of CPU per call, the service's and Envoy's, and their median in ms."""
    before, waited = (server.cpu(), proxy.cpu()), []
    for call in calls:
        began = time.perf_counter()
        call()
        waited.append(time.perf_counter() - began)
    service, envoy = server.cpu() - before[0], proxy.cpu() - before[1]
    return service / len(calls) * 1e6, envoy / len(calls) * 1e6, median(waited) * 1e3


def _moves(stub: GameServiceStub, variant: Variant, games: Iterator[int], block: int) -> list[_Asked]:
    """The first moves of fresh games, the games in turn."""
    made = []
    for number in itertools.islice(games, -(-block // _MOVES_EACH)):
        written = script(variant, number)
        request = pb.NewGameRequest(options=written.options, seat_count=written.seats, seed=written.seed)
        game = stub.NewGame(request, timeout=_SECONDS)
        made.append(
            [
                _Asked(
                    pb.ApplyMoveRequest(game_id=game.state.game_id, move=move, request_id=str(uuid.uuid4())),
                    game.seat_tokens[seat],
                )
                for seat, move in written.moves[:_MOVES_EACH]
            ]
        )
    return [asked for step in zip(*made, strict=True) for asked in step][:block]


# --- The ways ---------------------------------------------------------------------------------------------------------


def _grpc(stub: GameServiceStub, asked: _Asked) -> Call:
    metadata = (("authorization", f"Bearer {asked.token}"),)
    if isinstance(asked.request, pb.GetGameRequest):
        look = asked.request
        return lambda: stub.GetGame(look, metadata=metadata, timeout=_SECONDS)
    move = asked.request
    return lambda: stub.ApplyMove(move, metadata=metadata, timeout=_SECONDS)


def _web(connection: http.client.HTTPConnection, asked: _Asked) -> Call:
    name = type(asked.request).__name__.removesuffix("Request")
    data = asked.request.SerializeToString()
    headers = {
        "content-type": "application/grpc-web+proto",
        "x-grpc-web": "1",
        "authorization": f"Bearer {asked.token}",
    }
    path, body = f"/sodafountain.v1.GameService/{name}", struct.pack(">BI", 0, len(data)) + data
    return lambda: _http(connection, "POST", path, body, headers)


def _rest(connection: http.client.HTTPConnection, asked: _Asked) -> Call:
    path, headers = f"/v1/games/{asked.request.game_id}", {"authorization": f"Bearer {asked.token}"}
    if isinstance(asked.request, pb.GetGameRequest):
        return lambda: _http(connection, "GET", path, b"", headers)
    fields = json_format.MessageToDict(asked.request)
    del fields["gameId"]
    body = json.dumps(fields).encode()
    return lambda: _http(connection, "POST", f"{path}:applyMove", body, headers)


def _http(connection: http.client.HTTPConnection, verb: str, path: str, body: bytes, headers: dict[str, str]) -> None:
    connection.request(verb, path, body or None, headers)
    response = connection.getresponse()
    answer = response.read()
    if response.status != http.HTTPStatus.OK or response.getheader("grpc-status", "0") != "0":
        raise RuntimeError(f"{verb} {path}: {response.status} {answer[:200]!r}")
