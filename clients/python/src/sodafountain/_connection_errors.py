"""What gRPC says about a failure, said to people: the cause, not the chain of everything that it came through."""

import re
from collections.abc import Sequence
from urllib.parse import unquote

# gRPC tells the failure of the address that it tried last, `localhost` having two for instance.
LAST_TRIED = re.compile(r"failed to connect to all addresses; last error: [A-Z_]+: (?P<address>\S+): (?P<cause>.*)")
IP_SCHEME = re.compile(r"ipv[46]:")

# What to say instead of gRPC's words; `\1` is theirs. The first that fits.
WORDS: Sequence[tuple[re.Pattern[str], str]] = (
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
# How a server that speaks nothing but TLS treats a client that does not.
HUNG_UP = re.compile(r"Socket closed|.*Connection reset by peer")


def cause_of(details: str, *, target: str, tls: bool) -> str:
    """Tells the cause of a failure from gRPC's details of it, in a clause without a full stop.

    Args:
        details: what gRPC or something on the way said.
        target: the address that was called; another one that the cause is about is named.
        tls: whether it was called over TLS.
    """
    details = " ".join(details.split()).rstrip(".")
    last = LAST_TRIED.fullmatch(details)
    cause = last["cause"] if last else details
    for pattern, words in WORDS:
        if found := pattern.fullmatch(cause):
            cause = found.expand(words)
            break
    if last is None:
        return cause or "no details"
    if not tls and HUNG_UP.fullmatch(cause):
        cause += "; the server may want TLS"
    address = IP_SCHEME.sub("", unquote(last["address"]))
    return cause if address in target else f"last tried {address}: {cause}"
