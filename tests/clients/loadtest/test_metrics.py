"""Metrics: read where they can be, and no reason to lose a report where they cannot."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseRequestHandler, TCPServer

import pytest

from clients.loadtest.metrics import lost_races, total, url_of

TEXT = """# HELP sodafountain_lost_races_total Moves that another came before.
sodafountain_lost_races_total{game="juices"} 3.0
sodafountain_lost_races_total{game="soda_jerk"} 4.0 1700000000000
sodafountain_lost_races_total_of_others 100.0
sodafountain_watchers 2.0
"""


@contextmanager
def answering(answer: str) -> Iterator[str]:
    """Gives the URL of a server that answers everything so."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            self.request.sendall(answer.encode("latin-1"))

    with TCPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/metrics"
        finally:
            server.shutdown()
            thread.join()


def test_a_total_is_that_of_all_labels_of_just_its_name() -> None:
    with answering(f"HTTP/1.1 200 OK\r\n\r\n{TEXT}") as url:
        assert total(url, "sodafountain_lost_races_total") == 7
        assert total(url, "sodafountain_watchers") == 2
        assert lost_races(url) == 7


@pytest.mark.parametrize(
    "answer",
    [
        "HTTP/1.1 404 Not Found\r\n\r\n",
        "\0\0\x12\4\0\0\0\0\0\0\3\x7f\xff\xff\xff\n",
        "HTTP/1.1 200 OK\r\n\r\nsodafountain_lost_races_total many\n",
        "HTTP/1.1 200 OK\r\n\r\nsodafountain_lost_races_total NaN\n",
        "HTTP/1.1 200 OK\r\n\r\nsodafountain_watchers 2.0\n",
        "HTTP/1.1 200 OK\r\n\r\n<html></html>\n",
        "HTTP/1.1 200 OK\r\n\r\n\xff",
    ],
    ids=["another page", "gRPC", "no number", "not a number", "other metrics", "no metrics", "no text"],
)
def test_what_answers_with_something_else_tells_of_no_lost_races(
    answer: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(answer) as url:
        assert lost_races(url) is None
    assert "The metrics cannot be read: " in capsys.readouterr().err


@pytest.mark.parametrize("url", ["localhost:9464/metrics", "127.0.0.1/metrics", "http://127.0.0.1:1/metrics"])
def test_what_is_no_url_or_is_not_there_tells_of_no_lost_races(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert lost_races(url) is None
    assert "The metrics cannot be read: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["localhost:9464/metrics", "ftp://host/metrics", "http:///metrics", "http://me:secret@host/metrics"]
)
def test_what_is_no_url_is_refused_and_what_may_be_a_password_in_it_is_not_told(text: str) -> None:
    with pytest.raises(ValueError, match="is not a URL") as caught:
        url_of(text)
    assert "secret" not in str(caught.value)


def test_nobody_asks_where_no_metrics_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert lost_races("") is None
    assert capsys.readouterr().err == ""
