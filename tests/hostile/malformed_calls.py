"""Calls that a gRPC client cannot make: malformed headers and framing."""

import gzip
import random
import struct
from typing import Final

import grpc

from service.transport.errors import STATUS_KEY
from tests.hostile import checks
from tests.hostile.fuzz_model import Metadata
from tests.support import http2

_SECONDS: Final = 20.0
_HEADERS: Final[tuple[tuple[bytes, bytes], ...]] = (
    (b"authorization", b"Bearer \xff\xfe\x80"),
    (b"authorization", b"Bearer \0"),
    (b"authorization", b"Bearer " + "🥤".encode()),
    (b"x-api-key", b"\xed\xa0\x80"),
    (b"x-bin", b"!!!!"),
    (b"X-Upper", b"1"),
    (b"", b"1"),
    (b":odd", b"1"),
    (b":path", b"/x"),
    (b"x", b"a\r\nb: c"),
    (b"grpc-timeout", b"99999999999H"),
    (b"grpc-timeout", b"-1S"),
    (b"grpc-timeout", b"1n"),
    (b"grpc-timeout", b"0n"),
    (b"grpc-encoding", b"brotli"),
    (b"grpc-encoding", b"gzip"),
    (b"grpc-accept-encoding", b"zz,\xff"),
    (b"grpc-previous-rpc-attempts", b"zz"),
    (b"grpc-status", b"0"),
    (b"grpc-status-details-bin", b"AAAA"),
    (b"grpc-message", b"%zz"),
    (b"host", b"elsewhere"),
    (b"content-length", b"-1"),
)
_REPLACED: Final[tuple[tuple[bytes, bytes | None], ...]] = (
    (b":method", b"GET"),
    (b":method", None),
    (b":path", b"/sodafountain.v1.GameService/\xff"),
    (b":path", b"/../GetGame"),
    (b":path", b""),
    (b":path", None),
    (b":scheme", None),
    (b":authority", None),
    (b"te", None),
    (b"content-type", b"text/html"),
    (b"content-type", b"application/grpc+json"),
    (b"content-type", None),
)


class MalformedCaller:
    """A client that makes malformed calls. It reconnects whenever the service closes the connection."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._connection: http2.Connection | None = None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.socket.close()
            self._connection = None

    def call(self, method: str, data: bytes, metadata: Metadata, rng: random.Random) -> tuple[str, str]:
        """Make a call; return its status or how it ended, and the problem of the response."""
        fields = list(http2.call_fields(f"/sodafountain.v1.GameService/{method}".encode()))
        fields += [(key.encode(), value.encode()) for key, value in metadata if isinstance(value, str)]
        if rng.random() < 0.4:
            name, value = rng.choice(_REPLACED)
            fields = [field for field in fields if field[0] != name]
            if value is not None:
                fields.insert(0, (name, value))
        for _ in range(rng.choice((0, 1, 1, 2))):
            fields.insert(rng.randint(min(4, len(fields)), len(fields)), rng.choice(_HEADERS))
        try:
            answer = self._answer(fields, _framed(data, rng))
        except TimeoutError:
            self.close()
            return "NOTHING", f"no answer in {_SECONDS:.0f} s"
        except OSError:
            self.close()
            return "CLOSED", ""
        if answer.end != "trailers":
            if answer.end != "reset":
                self.close()
            return answer.end.upper(), ""
        return _status(answer), _problem(answer)

    def _answer(self, fields: list[tuple[bytes, bytes]], body: bytes) -> http2.Answer:
        if self._connection is None:
            self._connection = http2.Connection(self._target)
        stream = self._connection.next_stream()
        self._connection.send(http2.call(stream, fields, body))
        return self._connection.answer(stream, seconds=_SECONDS)


def _framed(data: bytes, rng: random.Random) -> bytes:
    match rng.randrange(8):
        case 0:
            return http2.message(data) * 2
        case 1:
            return http2.message(data)[: rng.randint(0, len(data) + 4)]
        case 2:
            return http2.message(data) + rng.randbytes(3)
        case 3:
            return struct.pack(">BI", 0, rng.choice((0, 1, len(data) + 1, 2**31, 2**32 - 1))) + data
        case 4:
            return http2.message(data, compressed=rng.choice((1, 2, 255)))
        case 5:
            return http2.message(gzip.compress(data), compressed=1)
        case 6:
            return rng.randbytes(rng.choice((0, 4, 40)))
    return http2.message(data)


def _status(answer: http2.Answer) -> str:
    return next((code.name for code in grpc.StatusCode if code.value[0] == answer.status), "NONE")


def _problem(answer: http2.Answer) -> str:
    fields = dict(answer.fields)
    data = b"\n".join([value for _, value in answer.fields])
    if secret := checks.SECRETS.search(data):
        return f"a secret in an error: {secret[0]!r}"
    # gRPC itself answers violations of its protocol with INTERNAL, as its specification requires: such calls do not
    # reach the service, so they have no status details. gRPC for Python reports exceptions of handlers in its message.
    message, code = fields.get(b"grpc-message", b""), _status(answer)
    ours = STATUS_KEY.encode() in fields or b"xception" in message
    if code == "UNKNOWN" or (ours and code in {forbidden.name for forbidden in checks.FORBIDDEN}):
        return f"{code}: {message!r}"
    return ""
