"""The script of `helm test` where service or gateway lies, fails or hangs: it tells the first fault, in a line."""

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

from service.tokens import ApiKeys, new_api_key, parse_api_keys
from sodafountain.v1 import game_service_pb2 as pb
from tests.deploy.helm.charts import CHART
from tests.support.in_process import in_process_service
from tests.support.stores import server

SECONDS = 20.0

Answers = Callable[[Any, grpc.ServicerContext], None]
"""Changes an answer, or does not give it."""


@pytest.fixture(scope="module")
def store_url() -> Iterator[str]:
    with server("valkey") as url:
        yield url


def games(store_url: str) -> int:
    """How many games a store keeps."""
    with Redis.from_url(store_url) as store:
        return sum(store.type(key) == b"stream" for key in store.scan_iter())


@contextmanager
def lying(store_url: str, **lies: Answers) -> Iterator[str]:
    """Runs a service whose answers to some methods are tampered with; provides its address."""

    class Between(grpc.GenericRpcHandler):
        def service(self, details: grpc.HandlerCallDetails) -> Any:
            method = str(details.method)
            name = method.rpartition("/")[2]
            answers = getattr(pb, f"{name}Response")

            def answer(request: bytes, context: grpc.ServicerContext) -> Message:
                sent = tuple((key, value) for key, value in context.invocation_metadata() if key == "authorization")
                honest: Any = asked.unary_unary(method, response_deserializer=answers.FromString)
                message: Message = honest(request, timeout=SECONDS, metadata=sent)
                if lie := lies.get(name):
                    lie(message, context)
                return message

            return grpc.unary_unary_rpc_method_handler(answer, response_serializer=answers.SerializeToString)

    with (
        in_process_service(store_url) as target,
        grpc.insecure_channel(target) as asked,
        ThreadPoolExecutor(4) as threads,
    ):
        between = grpc.server(threads)
        between.add_generic_rpc_handlers((Between(),))
        port = between.add_insecure_port("127.0.0.1:0")
        between.start()
        yield f"127.0.0.1:{port}"
        between.stop(None).wait()


@contextmanager
def answering(answer: bytes) -> Iterator[str]:
    """Runs a gateway that answers everything alike; provides its address."""

    class Gateway(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(answer)
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
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs the script here, with flags; tells with what it ends. Its clock is the one that bounds the test."""

    def run(*flags: str) -> str:
        monkeypatch.setattr("sys.argv", ["play.py", f"--seconds={SECONDS:.0f}", *flags])
        with pytest.raises(SystemExit) as ended:
            runpy.run_path(str(CHART / "files/play.py"), run_name="__main__")
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0), "no alarm is left to end it otherwise than it says"
        said = ended.value.code
        assert isinstance(said, str), "which is printed, and is exit status 1"
        assert len(said.splitlines()) == 1
        return said

    return run


# --- Lies -------------------------------------------------------------------------------------------------------------


def no_moves(answer: pb.LegalMovesResponse, _context: grpc.ServicerContext) -> None:
    del answer.moves[:]


def seat_nine(answer: pb.ApplyMoveResponse, _context: grpc.ServicerContext) -> None:
    answer.state.awaiting_seats[:] = [9]


def another_score(answer: pb.ScoreResponse, _context: grpc.ServicerContext) -> None:
    answer.seats[0].total += 1


def refusal(_answer: Message, context: grpc.ServicerContext) -> None:
    context.abort(grpc.StatusCode.INTERNAL, "not deleted")


def test_no_legal_move_is_told(store_url: str, told: Callable[..., str]) -> None:
    with lying(store_url, LegalMoves=no_moves) as target:
        said = told(f"--target={target}")

    assert said.startswith("play: the service awaits seat ")
    assert said.endswith(" and names no move for it")
    assert not games(store_url)


def test_a_seat_that_is_none_is_told(store_url: str, told: Callable[..., str]) -> None:
    with lying(store_url, ApplyMove=seat_nine) as target:
        assert told(f"--target={target}") == "play: the service awaits seat 9 of a game of 2"
    assert not games(store_url)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (b"SSH-2.0-hello\r\n", "BadStatusLine"),
        (b"HTTP/1.0 200 OK\r\n\r\n<html>", "JSONDecodeError"),
        (b"HTTP/1.0 200 OK\r\n\r\n\xff", "UnicodeDecodeError"),
        (b"HTTP/1.0 200 OK\r\n\r\n{}", "KeyError('state')"),
        (b"HTTP/1.0 200 OK\r\n\r\n[]", "TypeError"),
        (b'HTTP/1.0 200 OK\r\n\r\n{"state": 1}', "AttributeError"),
    ],
)
def test_a_gateway_that_answers_with_something_else_is_told(
    store_url: str, told: Callable[..., str], answer: bytes, problem: str
) -> None:
    with in_process_service(store_url) as target, answering(answer) as rest:
        assert told(f"--target={target}", f"--rest={rest}").startswith(
            f"play: over REST the answer is no game: {problem}"
        )
    assert not games(store_url)


# --- Its key ----------------------------------------------------------------------------------------------------------


def test_the_first_key_is_sent_and_that_it_is_refused_is_told(
    store_url: str, told: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[str | None] = []
    honest = ApiKeys.name_of

    def name_of(known: ApiKeys, key: str | None) -> str:
        sent.append(key)
        return honest(known, key)

    monkeypatch.setattr(ApiKeys, "name_of", name_of)
    ours, others = new_api_key("ours"), new_api_key("others")
    (tmp_path / "keys").write_text(f"{ours}\n{others}\n")
    with in_process_service(store_url, api_keys=parse_api_keys(others)) as target:
        said = told(f"--target={target}", f"--api-keys-file={tmp_path / 'keys'}")

    assert sent == [ours.removeprefix("ours:")]
    assert "API key" in said


# --- The first trouble ------------------------------------------------------------------------------------------------


def test_a_game_that_cannot_be_deleted_does_not_hide_what_was_wrong_with_it(
    store_url: str, told: Callable[..., str]
) -> None:
    with lying(store_url, Score=another_score, DeleteGame=refusal) as target:
        said = told(f"--target={target}")

    assert said == "play: the history does not hold: the service tells another score than follows from it"


def test_a_game_that_cannot_be_deleted_is_told_where_nothing_else_is_wrong(
    store_url: str, told: Callable[..., str]
) -> None:
    with lying(store_url, DeleteGame=refusal) as target:
        said = told(f"--target={target}")

    assert said.startswith("play: DeleteGame failed ")


@pytest.mark.parametrize(
    ("method", "step", "time_to_delete"),
    [
        ("NewGame", "making a game", []),
        ("ApplyMove", "playing", [2.0]),
        ("Score", "verifying", [2.0]),
        ("DeleteGame", "deleting the game", [5.5]),  # as long as any call
    ],
)
def test_out_of_time_it_tells_in_which_step_and_leaves_deleting_little_time(
    store_url: str, told: Callable[..., str], method: str, step: str, time_to_delete: list[float]
) -> None:
    ending, begun = threading.Event(), threading.Event()
    deleting: list[float] = []

    def hang(_answer: Message, _context: grpc.ServicerContext) -> None:
        if not begun.is_set():
            begun.set()
            signal.raise_signal(signal.SIGALRM)  # which its alarm would do after a while
        ending.wait(SECONDS)

    def hang_deleting(answer: Message, context: grpc.ServicerContext) -> None:
        deleting.append(context.time_remaining())
        hang(answer, context)

    with lying(store_url, **{method: hang, "DeleteGame": hang_deleting}) as target:
        said = told(f"--target={target}")
        ending.set()

    assert said == f"play: out of time while {step}"
    assert all(left <= most for left, most in zip(deleting, time_to_delete, strict=True))
