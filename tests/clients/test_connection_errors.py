"""That an error tells the true cause of a failed connection, in words that people understand."""

import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

import sodafountain
from sodafountain._connection_errors import cause_of
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import ScriptedService

FAILED = "failed to connect to all addresses; last error: "
TLS_FAILED = FAILED + "UNKNOWN: ipv4:127.0.0.1:5: Tls handshake failed (TSI_PROTOCOL_FAILURE): SSL_ERROR_SSL: "
SSL = "error:100000f7:SSL routines:OPENSSL_internal:"


def unreachable(client: Client) -> str:
    """What a client says of a service that it does not reach."""
    with pytest.raises(sodafountain.Unreachable) as caught:
        client.game_kinds(timeout=30)
    return str(caught.value)


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_speaks_no_tls_is_told_as_such(connect: Connect, service: ScriptedService) -> None:
    assert unreachable(connect(service.target, tls=True)) == (
        f"Cannot reach a Soda Fountain service at {service.target} over TLS "
        "(the TLS handshake failed: the server does not speak TLS)."
    )


@pytest.mark.usefixtures("no_retries")
def test_of_several_addresses_the_one_that_failed_is_named(connect: Connect, service: ScriptedService) -> None:
    # The service listens at one of the two addresses that localhost may have; gRPC tells of the one that it tried last.
    told = unreachable(connect(f"localhost:{service.port}", tls=True))
    assert re.fullmatch(
        rf"Cannot reach a Soda Fountain service at localhost:{service.port} over TLS \(last tried "
        rf"(127\.0\.0\.1:{service.port}: the TLS handshake failed: the server does not speak TLS"
        rf"|\[::1\]:{service.port}: .+)\)\.",
        told,
    )


def hang_up(caller: socket.socket) -> None:
    """Says good-bye at once, and lets the other side finish."""
    caller.shutdown(socket.SHUT_WR)
    while caller.recv(4096):
        pass


def answer_as_the_web(caller: socket.socket) -> None:
    """Answers as a web server of the old kind."""
    caller.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    hang_up(caller)


@contextmanager
def listening(treat: Callable[[socket.socket], None]) -> Iterator[str]:
    """Treats every caller alike; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                caller, _ = listener.accept()
            except OSError:
                return
            with caller:
                caller.settimeout(30)
                treat(caller)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_hangs_up_on_plain_text_may_want_tls(connect: Connect) -> None:
    with listening(hang_up) as target:
        assert unreachable(connect(target)) == (
            f"Cannot reach a Soda Fountain service at {target} (Socket closed; the server may want TLS)."
        )


@pytest.mark.usefixtures("no_retries")
def test_a_server_of_another_kind_is_told_as_such(connect: Connect) -> None:
    with listening(answer_as_the_web) as target:
        told = unreachable(connect(target))
    assert told.startswith(
        f"Cannot reach a Soda Fountain service at {target} (the server speaks another protocol: Failed parsing HTTP/2 ("
    )


def test_a_deadline_over_tls_says_that_it_was_over_tls(connect: Connect, service: ScriptedService) -> None:
    client = connect(service.target, tls=True)
    with pytest.raises(sodafountain.DeadlineExceeded) as caught:
        client.game_kinds(timeout=0.1)
    assert str(caught.value) == f"{service.target} did not answer ListGameKinds over TLS within 0.1 s."


# As gRPC words them.
DETAILS = {
    "refused": (
        FAILED + "UNKNOWN: ipv4:127.0.0.1:5: Failed to connect to remote host: Connection refused",
        "Connection refused",
    ),
    "refused at another address": (
        FAILED + "UNKNOWN: ipv6:%5B::1%5D:5: Failed to connect to remote host: Connection refused",
        "last tried [::1]:5: Connection refused",
    ),
    "no such socket": (
        FAILED
        + "FAILED_PRECONDITION: unix:/a.sock: connect failed: addr: unix:/a.sock error: No such file or directory",
        "last tried unix:/a.sock: No such file or directory",
    ),
    "no such host": (
        "errors resolving a.invalid:1: [field:hostname lookup error:address lookup failed for a.invalid:1: Not found]",
        "Not found",
    ),
    "no TLS": (
        TLS_FAILED + SSL + "WRONG_VERSION_NUMBER: Invalid certificate verification context: OK",
        "the TLS handshake failed: the server does not speak TLS",
    ),
    "a certificate of its own": (
        TLS_FAILED + SSL + "CERTIFICATE_VERIFY_FAILED: self signed certificate: OK",
        "the TLS handshake failed: the server's certificate is not trusted: self signed certificate",
    ),
    "another host's certificate": (
        FAILED + "UNKNOWN: ipv4:127.0.0.1:5: Custom verification check failed with error: UNAUTHENTICATED: "
        "Hostname Verification Check failed.",
        "the TLS handshake failed: the server's certificate is for another host",
    ),
    "a client certificate is wanted": (
        TLS_FAILED + SSL + "TLSV1_ALERT_CERTIFICATE_REQUIRED: Invalid certificate verification context: OK",
        "the TLS handshake failed: TLSV1_ALERT_CERTIFICATE_REQUIRED",
    ),
    "hung up in the handshake": (
        FAILED + "UNAVAILABLE: ipv4:127.0.0.1:5: Handshake read failed (Socket closed)",
        "the TLS handshake failed: Socket closed",
    ),
    "hung up": (FAILED + "UNAVAILABLE: ipv4:127.0.0.1:5: Socket closed", "Socket closed"),
    "hung up in a call": ("recvmsg:Connection reset by peer", "recvmsg:Connection reset by peer"),
    "something on the way": ("upstream: went flat.", "upstream: went flat"),
    "a web server": ("Received http2 header with status: 404", "Received http2 header with status: 404"),
    "several lines": ("one:\n  two", "one: two"),
    "nothing": ("", "no details"),
}


@pytest.mark.parametrize(("details", "cause"), DETAILS.values(), ids=DETAILS)
def test_a_cause_is_told_in_a_clause(details: str, cause: str) -> None:
    assert cause_of(details, target="127.0.0.1:5", tls=True) == cause


def test_only_a_connection_that_was_never_made_makes_one_think_of_tls() -> None:
    for words in ("Socket closed", "recvmsg:Connection reset by peer"):
        never_made = f"{FAILED}UNAVAILABLE: ipv4:127.0.0.1:5: {words}"
        assert cause_of(never_made, target="127.0.0.1:5", tls=False) == f"{words}; the server may want TLS"
        assert cause_of(never_made, target="127.0.0.1:5", tls=True) == words
        assert cause_of(words, target="127.0.0.1:5", tls=False) == words
