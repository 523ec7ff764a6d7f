"""HTTP/2 frame by frame: a client that keeps none of the protocol's manners unless told to.

Only as much of RFC 9113 and of HPACK (RFC 7541) as calling a gRPC server takes. What is sent is never compressed or
remembered, and the server is told to remember nothing and to send binary values as they are, so that reading its
headers needs neither a dynamic table nor Huffman's code.
"""

import select
import socket
import struct
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Final, NamedTuple, Self

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
END_STREAM = ACK = 1
END_HEADERS = 4
CANCEL = 8
"""The error code of a reset that a caller asks for."""

HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE, TRUE_BINARY = 1, 4, 6, 0xFE03
_OURS: Final = ((HEADER_TABLE_SIZE, 0), (MAX_HEADER_LIST_SIZE, 1 << 20), (TRUE_BINARY, 1))
_HEAD: Final = 9
_LARGEST_FRAME: Final = 16_384

Fields = tuple[tuple[bytes, bytes], ...]

_STATIC_NAMES: Final = (
    b":authority :method :method :path :path :scheme :scheme :status :status :status :status :status :status :status "
    b"accept-charset accept-encoding accept-language accept-ranges accept access-control-allow-origin age allow "
    b"authorization cache-control content-disposition content-encoding content-language content-length "
    b"content-location content-range content-type cookie date etag expect expires from host if-match "
    b"if-modified-since if-none-match if-range if-unmodified-since last-modified link location max-forwards "
    b"proxy-authenticate proxy-authorization range referer refresh retry-after server set-cookie "
    b"strict-transport-security transfer-encoding user-agent vary via www-authenticate"
).split()  # fmt: skip
_STATIC_VALUES: Final = {
    2: b"GET", 3: b"POST", 4: b"/", 5: b"/index.html", 6: b"http", 7: b"https", 8: b"200", 9: b"204", 10: b"206",
    11: b"304", 12: b"400", 13: b"404", 14: b"500", 16: b"gzip, deflate",
}  # fmt: skip


class Frame(NamedTuple):
    """A frame."""

    kind: int
    flags: int
    stream: int
    payload: bytes


class Answer(NamedTuple):
    """What a server answered to a call.

    Attributes:
        fields: every header and trailer.
        body: all data.
        end: how it ended: `trailers`, `reset`, `goaway` or `closed`.
        error: the HTTP/2 error code of a reset or goaway.
    """

    fields: Fields
    body: bytes
    end: str
    error: int = 0

    @property
    def status(self) -> int | None:
        """The gRPC status; None where none came."""
        return next((int(value) for name, value in self.fields if name == b"grpc-status"), None)


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Writes a frame."""
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def settings(*values: tuple[int, int]) -> bytes:
    """Writes a SETTINGS frame."""
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *value) for value in values))


def block(fields: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Writes a header block, every field literally."""
    return b"".join(b"\x10" + _text(name) + _text(value) for name, value in fields)


def call_fields(path: bytes, metadata: Iterable[tuple[bytes, bytes]] = ()) -> Fields:
    """Lists the header fields of a gRPC call."""
    return (
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        *metadata,
    )


def message(data: bytes, *, compressed: int = 0) -> bytes:
    """Writes a gRPC message as it stands in DATA frames."""
    return struct.pack(">BI", compressed, len(data)) + data


def call(stream: int, fields: Iterable[tuple[bytes, bytes]], body: bytes | None) -> bytes:
    """Writes a whole call; without a body its request is kept back."""
    head = block(fields)
    first, *more = [head[at : at + _LARGEST_FRAME] for at in range(0, max(len(head), 1), _LARGEST_FRAME)]
    written = [frame(HEADERS, 0 if more else END_HEADERS, stream, first)]
    for number, part in enumerate(more, start=1):
        written.append(frame(CONTINUATION, END_HEADERS if number == len(more) else 0, stream, part))
    if body is not None:
        parts = [body[at : at + _LARGEST_FRAME] for at in range(0, max(len(body), 1), _LARGEST_FRAME)]
        for number, part in enumerate(parts, start=1):
            written.append(frame(DATA, END_STREAM if number == len(parts) else 0, stream, part))
    return b"".join(written)


class Connection:
    """A connection, with the preface and settings sent unless told otherwise.

    Attributes:
        socket: the socket.
    """

    def __init__(self, target: str, *, opening: bytes | None = None, seconds: float = 10.0) -> None:
        host, _, port = target.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = -1
        self._held = bytearray()
        self.socket.sendall(PREFACE + settings(*_OURS) if opening is None else opening)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    @property
    def last_stream(self) -> int:
        """The number of the stream that was numbered last."""
        return self._stream

    def next_stream(self) -> int:
        """Numbers the next stream."""
        self._stream += 2
        return self._stream

    def send(self, data: bytes) -> None:
        """Sends bytes as they are.

        Raises:
            OSError: the server has closed the connection, or reads nothing for too long.
        """
        self.socket.sendall(data)

    def ask(self, path: bytes, body: bytes | None, metadata: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
        """Makes a call of one message and waits for its answer."""
        stream = self.next_stream()
        self.send(call(stream, call_fields(path, metadata), None if body is None else message(body)))
        return self.answer(stream)

    def answer(self, stream: int, *, seconds: float = 10.0) -> Answer:
        """Waits for the answer to the call on a stream, minding the connection's manners meanwhile.

        Raises:
            TimeoutError: it does not come.
        """
        fields: Fields = ()
        body = b""
        deadline = time.monotonic() + seconds
        while (got := self.read(deadline - time.monotonic())) is not None:
            if got.kind == GOAWAY:
                return Answer(fields, body, "goaway", struct.unpack_from(">I", got.payload, 4)[0])
            if got.stream != stream:
                continue
            if got.kind == RST_STREAM:
                return Answer(fields, body, "reset", struct.unpack(">I", got.payload)[0])
            if got.kind == DATA:
                body += got.payload
                if got.payload:
                    self.send(frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", len(got.payload))))
            elif got.kind == HEADERS:
                fields += _read_block(got.payload)
            if got.kind in {DATA, HEADERS} and got.flags & END_STREAM:
                return Answer(fields, body, "trailers")
        return Answer(fields, body, "closed")

    def first_message(self, stream: int, *, seconds: float = 10.0) -> bytes | Answer:
        """Waits for the first message on a stream, which fits in a frame; or for the answer without one.

        Raises:
            TimeoutError: neither comes.
        """
        fields: Fields = ()
        deadline = time.monotonic() + seconds
        while (got := self.read(deadline - time.monotonic())) is not None:
            if got.stream != stream:
                continue
            if got.kind == DATA and got.payload:
                return got.payload[5:]
            if got.kind == HEADERS:
                fields += _read_block(got.payload)
            if got.kind == RST_STREAM or got.flags & END_STREAM:
                return Answer(fields, b"", "trailers" if got.kind == HEADERS else "reset")
        return Answer(fields, b"", "closed")

    def read(self, seconds: float) -> Frame | None:
        """Reads a frame, and acknowledges it where it wants that; None when the server has closed the connection.

        Raises:
            TimeoutError: none comes.
        """
        deadline = time.monotonic() + seconds
        while len(self._held) < _HEAD or len(self._held) < _HEAD + int.from_bytes(self._held[:3], "big"):
            if not select.select([self.socket], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("no frame came")
            try:
                data = self.socket.recv(65_536)
            except ConnectionError:
                data = b""
            if not data:
                return None
            self._held += data
        length = int.from_bytes(self._held[:3], "big")
        kind, flags, stream = struct.unpack_from(">BBI", self._held, 3)
        got = Frame(kind, flags, stream & 0x7FFFFFFF, bytes(self._held[_HEAD : _HEAD + length]))
        del self._held[: _HEAD + length]
        if kind in {SETTINGS, PING} and not flags & ACK:
            self.send(frame(kind, ACK, 0, got.payload if kind == PING else b""))
        return got

    def closed_within(self, seconds: float) -> bool:
        """Tells whether the server closes the connection in so many seconds, reading on until it does."""
        deadline = time.monotonic() + seconds
        try:
            while self.read(deadline - time.monotonic()) is not None:
                pass
        except TimeoutError:
            return False
        except OSError:  # it went while a frame was acknowledged
            return True
        return True


def _text(data: bytes) -> bytes:
    return _number(len(data), 7) + data


def _number(value: int, bits: int) -> bytes:
    most = (1 << bits) - 1
    if value < most:
        return bytes((value,))
    written = bytearray((most,))
    value -= most
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)


def _read_block(data: bytes) -> Fields:
    fields: list[tuple[bytes, bytes]] = []
    at = 0
    while at < len(data):
        first = data[at]
        if first & 0x80:
            index, at = _read_number(data, at, 7)
            fields.append((_STATIC_NAMES[index - 1], _STATIC_VALUES.get(index, b"")))
            continue
        if first & 0xE0 == 0x20:  # the size of the dynamic table
            _, at = _read_number(data, at, 5)
            continue
        index, at = _read_number(data, at, 6 if first & 0x40 else 4)
        if index:
            name = _STATIC_NAMES[index - 1]
        else:
            name, at = _read_text(data, at)
        value, at = _read_text(data, at)
        fields.append((name, value))
    return tuple(fields)


def _read_text(data: bytes, at: int) -> tuple[bytes, int]:
    if data[at] & 0x80:
        raise ValueError("the server used Huffman's code, which this client does not read")
    length, at = _read_number(data, at, 7)
    return data[at : at + length], at + length


def _read_number(data: bytes, at: int, bits: int) -> tuple[int, int]:
    most = (1 << bits) - 1
    value = data[at] & most
    at += 1
    if value == most:
        shift = 0
        while True:
            value += (data[at] & 0x7F) << shift
            shift += 7
            at += 1
            if not data[at - 1] & 0x80:
                break
    return value, at
