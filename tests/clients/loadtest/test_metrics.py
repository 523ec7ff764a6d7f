"""Metrics are optional: without them, only the lost races are missing from the report."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from socketserver import BaseRequestHandler, TCPServer

import pytest

from clients.loadtest.metrics import parse_metrics_url, read_counter, read_lost_races

TEXT = """# HELP sodafountain_lost_races_total Commits that lost a race.
sodafountain_lost_races_total{game="juices"} 3.0
sodafountain_lost_races_total{game="soda_jerk"} 4.0 1700000000000
sodafountain_lost_races_total_of_others 100.0
sodafountain_watchers 2.0
"""


@contextmanager
def server(response: str) -> Iterator[str]:
    """Run a server that sends this response to every request; yield its URL."""

    class Handler(BaseRequestHandler):
        def handle(self) -> None:
            self.request.recv(1 << 16)
            self.request.sendall(response.encode("latin-1"))

    with TCPServer(("127.0.0.1", 0), Handler) as tcp:
        thread = threading.Thread(target=tcp.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{tcp.server_address[1]}/metrics"
        finally:
            tcp.shutdown()
            thread.join()


def test_a_counter_is_the_sum_over_the_labels_of_exactly_its_name() -> None:
    with server(f"HTTP/1.1 200 OK\r\n\r\n{TEXT}") as url:
        assert read_counter(url, "sodafountain_lost_races_total") == 7
        assert read_counter(url, "sodafountain_watchers") == 2
        assert read_lost_races(url) == 7


@pytest.mark.parametrize(
    "response",
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
def test_a_response_without_the_counter_yields_no_lost_races(response: str, capsys: pytest.CaptureFixture[str]) -> None:
    with server(response) as url:
        assert read_lost_races(url) is None
    assert "Cannot read the metrics: " in capsys.readouterr().err


@pytest.mark.parametrize("url", ["localhost:9464/metrics", "127.0.0.1/metrics", "http://127.0.0.1:1/metrics"])
def test_an_invalid_or_unreachable_url_yields_no_lost_races(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert read_lost_races(url) is None
    assert "Cannot read the metrics: " in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["localhost:9464/metrics", "ftp://host/metrics", "http:///metrics", "http://me:secret@host/metrics"]
)
def test_an_invalid_url_is_rejected_without_showing_a_password(text: str) -> None:
    with pytest.raises(ValueError, match="metrics must be a URL such as") as caught:
        parse_metrics_url(text)
    assert "secret" not in str(caught.value)


def test_without_a_url_no_metrics_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert read_lost_races("") is None
    assert capsys.readouterr().err == ""
