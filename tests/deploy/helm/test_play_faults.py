"""The script of `helm test` reports the first fault of a service or gateway in one line."""

import runpy
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message
from redis import Redis

from service.access import ApiKeys, new_api_key, parse_api_keys
from sodafountain.v1 import game_service_pb2 as pb
from tests.deploy.helm.charts import CHART
from tests.support.in_process import in_process_service
from tests.support.stores import server

SECONDS = 20.0

Tamper = Callable[[Any, grpc.ServicerContext], None]
"""Modifies a response, or fails the call."""


@pytest.fixture(scope="module")
def store_url() -> Iterator[str]:
    with server("valkey") as url:
        yield url


def games(store_url: str) -> int:
    """Return the number of games in a store."""
    with Redis.from_url(store_url) as store:
        return sum(store.type(key) == b"stream" for key in store.scan_iter())


@contextmanager
def tampering_service(store_url: str, **tampers: Tamper) -> Iterator[str]:
    """Run a service whose responses to some methods are modified; yield its address."""

    class Proxy(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> Any:
            method = str(details.method)
            name = method.rpartition("/")[2]
            response_type = getattr(pb, f"{name}Response")

            def handle(request: bytes, context: grpc.ServicerContext) -> Message:
                metadata = [pair for pair in context.invocation_metadata() if pair[0] == "authorization"]
                upstream: Any = channel.unary_unary(method, response_deserializer=response_type.FromString)
                message: Message = upstream(request, timeout=SECONDS, metadata=tuple(metadata))
                if tamper := tampers.get(name):
                    tamper(message, context)
                return message

            return grpc.unary_unary_rpc_method_handler(handle, response_serializer=response_type.SerializeToString)

    with (
        in_process_service(store_url) as target,
        grpc.insecure_channel(target) as channel,
        ThreadPoolExecutor(4) as threads,
    ):
        proxy = grpc.server(threads)
        proxy.add_generic_rpc_handlers((Proxy(),))
        port = proxy.add_insecure_port("127.0.0.1:0")
        proxy.start()
        yield f"127.0.0.1:{port}"
        proxy.stop(None).wait()


@contextmanager
def fixed_gateway(response: bytes) -> Iterator[str]:
    """Run a gateway that gives every request the same response; yield its address."""

    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(response)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Gateway) as gateway:
        serving = threading.Thread(target=gateway.serve_forever, args=(0.01,))
        serving.start()
        yield f"http://127.0.0.1:{gateway.server_port}"
        gateway.shutdown()
        serving.join()


@pytest.fixture
def run_script(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Run the script in this process with flags; return its error. Its own deadline limits the test."""

    def run(*flags: str) -> str:
        monkeypatch.setattr("sys.argv", ["play.py", f"--seconds={SECONDS:.0f}", *flags])
        with pytest.raises(SystemExit) as exit_info:
            runpy.run_path(str(CHART / "files/play.py"), run_name="__main__")
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0), (
            "the alarm must be cancelled, or it could change the exit status"
        )
        error = exit_info.value.code
        assert isinstance(error, str), "Python prints it and exits with status 1"
        assert len(error.splitlines()) == 1
        return error

    return run


# --- Modified responses -----------------------------------------------------------------------------------------------


def no_moves(response: pb.LegalMovesResponse, _context: grpc.ServicerContext) -> None:
    del response.moves[:]


def seat_nine(response: pb.ApplyMoveResponse, _context: grpc.ServicerContext) -> None:
    response.state.awaiting_seats[:] = [9]


def another_score(response: pb.ScoreResponse, _context: grpc.ServicerContext) -> None:
    response.scores[0].total += 1


def fail(_response: Message, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.INTERNAL, "not deleted")


def test_a_missing_legal_move_is_reported(store_url: str, run_script: Callable[..., str]) -> None:
    with tampering_service(store_url, LegalMoves=no_moves) as target:
        error = run_script(f"--target={target}")

    assert error.startswith("play: the service awaits seat ")
    assert error.endswith(", but lists no legal moves for it")
    assert not games(store_url)


def test_an_invalid_seat_is_reported(store_url: str, run_script: Callable[..., str]) -> None:
    with tampering_service(store_url, ApplyMove=seat_nine) as target:
        assert run_script(f"--target={target}") == "play: the service awaits seat 9, but the game has 2 seats"
    assert not games(store_url)


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (b"SSH-2.0-hello\r\n", "BadStatusLine"),
        (b"HTTP/1.0 200 OK\r\n\r\n<html>", "JSONDecodeError"),
        (b"HTTP/1.0 200 OK\r\n\r\n\xff", "UnicodeDecodeError"),
        (b"HTTP/1.0 200 OK\r\n\r\n{}", "KeyError('state')"),
        (b"HTTP/1.0 200 OK\r\n\r\n[]", "TypeError"),
        (b'HTTP/1.0 200 OK\r\n\r\n{"state": 1}', "AttributeError"),
    ],
)
def test_an_invalid_response_of_the_gateway_is_reported(
    store_url: str, run_script: Callable[..., str], response: bytes, problem: str
) -> None:
    with in_process_service(store_url) as target, fixed_gateway(response) as rest:
        assert run_script(f"--target={target}", f"--rest={rest}").startswith(
            f"play: the response over REST is not a game: {problem}"
        )
    assert not games(store_url)


# --- The API key ------------------------------------------------------------------------------------------------------


def test_the_first_key_is_sent_and_its_rejection_is_reported(
    store_url: str, run_script: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received_keys: list[str | None] = []
    original = ApiKeys.owner

    def owner(known: ApiKeys, key: str | None) -> str:
        received_keys.append(key)
        return original(known, key)

    monkeypatch.setattr(ApiKeys, "owner", owner)
    unknown, known_key = new_api_key("unknown"), new_api_key("known")
    (tmp_path / "keys").write_text(f"{unknown}\n{known_key}\n")
    with in_process_service(store_url, api_keys=parse_api_keys(known_key)) as target:
        error = run_script(f"--target={target}", f"--api-keys-file={tmp_path / 'keys'}")

    assert received_keys == [unknown.removeprefix("unknown:")]
    assert "API key" in error


# --- The first fault --------------------------------------------------------------------------------------------------


def test_a_failed_deletion_does_not_hide_an_earlier_fault(store_url: str, run_script: Callable[..., str]) -> None:
    with tampering_service(store_url, Score=another_score, DeleteGame=fail) as target:
        error = run_script(f"--target={target}")

    assert error == "play: verification failed: the service's score differs from the score of the history"


def test_a_failed_deletion_is_reported_if_there_is_no_other_fault(
    store_url: str, run_script: Callable[..., str]
) -> None:
    with tampering_service(store_url, DeleteGame=fail) as target:
        error = run_script(f"--target={target}")

    assert error.startswith("play: DeleteGame failed ")


@pytest.mark.parametrize(
    ("method", "step", "delete_timeouts"),
    [
        ("NewGame", "creating a game", []),
        ("ApplyMove", "playing", [2.0]),
        ("Score", "verifying", [2.0]),
        ("DeleteGame", "deleting the game", [5.5]),  # the default timeout of a call
    ],
)
def test_a_timeout_names_its_step_and_limits_the_deletion(
    store_url: str, run_script: Callable[..., str], method: str, step: str, delete_timeouts: list[float]
) -> None:
    released, timed_out = threading.Event(), threading.Event()
    remaining: list[float] = []

    def hang(_response: Message, _context: grpc.ServicerContext) -> None:
        if not timed_out.is_set():
            timed_out.set()
            signal.raise_signal(signal.SIGALRM)  # the script's own alarm sends it at the deadline
        released.wait(SECONDS)

    def hang_deleting(response: Message, context: grpc.ServicerContext) -> None:
        remaining.append(context.time_remaining())
        hang(response, context)

    with tampering_service(store_url, **{method: hang, "DeleteGame": hang_deleting}) as target:
        error = run_script(f"--target={target}")
        released.set()

    assert error == f"play: timeout while {step}"
    assert all(left <= limit for left, limit in zip(remaining, delete_timeouts, strict=True))
