"""Errors of failed connections name the cause in plain words."""

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


def unreachable_message(client: Client) -> str:
    """Return the message of the error when the client cannot reach the service."""
    with pytest.raises(sodafountain.Unreachable) as caught:
        client.game_kinds(timeout=30)
    return str(caught.value)


@pytest.mark.usefixtures("no_retries")
def test_a_server_without_tls_is_reported(connect: Connect, service: ScriptedService) -> None:
    assert unreachable_message(connect(service.target, tls=True)) == (
        f"Cannot reach a Soda Fountain service at {service.target} over TLS "
        "(the TLS handshake failed: the server does not speak TLS)."
    )


@pytest.mark.usefixtures("no_retries")
def test_the_error_names_the_failed_address_of_several(connect: Connect, service: ScriptedService) -> None:
    # localhost may have two addresses, and the service listens on one. gRPC reports the address that it tried last.
    message = unreachable_message(connect(f"localhost:{service.port}", tls=True))
    assert re.fullmatch(
        rf"Cannot reach a Soda Fountain service at localhost:{service.port} over TLS \(last tried "
        rf"(127\.0\.0\.1:{service.port}: the TLS handshake failed: the server does not speak TLS"
        rf"|\[::1\]:{service.port}: .+)\)\.",
        message,
    )


def close_connection(connection: socket.socket) -> None:
    """Close the connection and drain what the client sends."""
    connection.shutdown(socket.SHUT_WR)
    while connection.recv(4096):
        pass


def answer_in_http_1(connection: socket.socket) -> None:
    """Answer as an HTTP/1.1 server and close the connection."""
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
    close_connection(connection)


@contextmanager
def listening(handle: Callable[[socket.socket], None]) -> Iterator[str]:
    """Pass every connection to `handle`; yield the address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(30)
                handle(connection)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


@pytest.mark.usefixtures("no_retries")
def test_a_server_that_closes_a_plaintext_connection_may_require_tls(connect: Connect) -> None:
    with listening(close_connection) as target:
        assert unreachable_message(connect(target)) == (
            f"Cannot reach a Soda Fountain service at {target} (Socket closed; the server may require TLS)."
        )


@pytest.mark.usefixtures("no_retries")
def test_a_server_of_another_protocol_is_reported(connect: Connect) -> None:
    with listening(answer_in_http_1) as target:
        message = unreachable_message(connect(target))
    assert message.startswith(
        f"Cannot reach a Soda Fountain service at {target} (the server speaks another protocol: Failed parsing HTTP/2 ("
    )


def test_the_error_of_a_missed_deadline_mentions_tls(connect: Connect, service: ScriptedService) -> None:
    client = connect(service.target, tls=True)
    with pytest.raises(sodafountain.DeadlineExceeded) as caught:
        client.game_kinds(timeout=0.1)
    assert str(caught.value) == f"{service.target} did not answer ListGameKinds over TLS within 0.1 s."


# Details as gRPC reports them, and the cause to report.
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
    "a self-signed certificate": (
        TLS_FAILED + SSL + "CERTIFICATE_VERIFY_FAILED: self signed certificate: OK",
        "the TLS handshake failed: the server's certificate is not trusted: self signed certificate",
    ),
    "another host's certificate": (
        FAILED + "UNKNOWN: ipv4:127.0.0.1:5: Custom verification check failed with error: UNAUTHENTICATED: "
        "Hostname Verification Check failed.",
        "the TLS handshake failed: the server's certificate is for another host",
    ),
    "a client certificate is required": (
        TLS_FAILED + SSL + "TLSV1_ALERT_CERTIFICATE_REQUIRED: Invalid certificate verification context: OK",
        "the TLS handshake failed: TLSV1_ALERT_CERTIFICATE_REQUIRED",
    ),
    "closed in the handshake": (
        FAILED + "UNAVAILABLE: ipv4:127.0.0.1:5: Handshake read failed (Socket closed)",
        "the TLS handshake failed: Socket closed",
    ),
    "closed": (FAILED + "UNAVAILABLE: ipv4:127.0.0.1:5: Socket closed", "Socket closed"),
    "closed during a call": ("recvmsg:Connection reset by peer", "recvmsg:Connection reset by peer"),
    "a proxy": ("upstream: went flat.", "upstream: went flat"),
    "a web server": ("Received http2 header with status: 404", "Received http2 header with status: 404"),
    "several lines": ("one:\n  two", "one: two"),
    "nothing": ("", "no details"),
}


@pytest.mark.parametrize(("details", "cause"), DETAILS.values(), ids=DETAILS)
def test_the_cause_is_a_clause(details: str, cause: str) -> None:
    assert cause_of(details, target="127.0.0.1:5", tls=True) == cause


def test_only_a_failed_plaintext_connection_suggests_tls() -> None:
    for details in ("Socket closed", "recvmsg:Connection reset by peer"):
        never_connected = f"{FAILED}UNAVAILABLE: ipv4:127.0.0.1:5: {details}"
        assert cause_of(never_connected, target="127.0.0.1:5", tls=False) == f"{details}; the server may require TLS"
        assert cause_of(never_connected, target="127.0.0.1:5", tls=True) == details
        assert cause_of(details, target="127.0.0.1:5", tls=False) == details
