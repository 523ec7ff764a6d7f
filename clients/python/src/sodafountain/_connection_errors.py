"""Reduce gRPC's details of a failed connection to the cause, for error messages."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

# gRPC reports only the address that it tried last. A host such as localhost may have two.
LAST_TRIED = re.compile(r"failed to connect to all addresses; last error: [A-Z_]+: (?P<address>\S+): (?P<cause>.*)")
IP_SCHEME = re.compile(r"ipv[46]:")

# Patterns of gRPC's details, and the text to report instead. The first match is used.
REPLACEMENTS: Sequence[tuple[re.Pattern[str], str]] = (
    (re.compile(r".*WRONG_VERSION_NUMBER.*"), "the TLS handshake failed: the server does not speak TLS"),
    (
        re.compile(r".*CERTIFICATE_VERIFY_FAILED: ([^:]+).*"),
        r"the TLS handshake failed: the server's certificate is not trusted: \1",
    ),
    (
        re.compile(r".*Hostname Verification Check failed.*"),
        "the TLS handshake failed: the server's certificate is for another host",
    ),
    (re.compile(r"Tls handshake failed.*OPENSSL_internal:(\w+).*"), r"the TLS handshake failed: \1"),
    (re.compile(r"Handshake read failed \((.*)\)"), r"the TLS handshake failed: \1"),
    (re.compile(r"(Failed parsing HTTP/2.*)"), r"the server speaks another protocol: \1"),
    (re.compile(r"Failed to connect to remote host: (.*)"), r"\1"),
    (re.compile(r"connect failed: addr: \S+ error: (.*)"), r"\1"),
    (re.compile(r"errors resolving .*address lookup failed for \S+: ([^\]]*)\]"), r"\1"),
)
# How a server that requires TLS treats a plaintext client.
CONNECTION_CLOSED = re.compile(r"Socket closed|.*Connection reset by peer")


def cause_of(details: str, *, target: str, tls: bool) -> str:
    """Return the cause of a failure as a clause without a full stop.

    Args:
        details: the details of the status, from gRPC or from a proxy.
        target: the address that was called. If the cause is about another address, the result names it.
        tls: whether the call used TLS.
    """
    details = " ".join(details.split()).rstrip(".")
    last = LAST_TRIED.fullmatch(details)
    cause = last["cause"] if last else details
    for pattern, replacement in REPLACEMENTS:
        if found := pattern.fullmatch(cause):
            cause = found.expand(replacement)
            break
    if last is None:
        return cause or "no details"
    if not tls and CONNECTION_CLOSED.fullmatch(cause):
        cause += "; the server may require TLS"
    address = IP_SCHEME.sub("", unquote(last["address"]))
    return cause if address in target else f"last tried {address}: {cause}"
