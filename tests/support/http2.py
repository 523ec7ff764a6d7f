"""A raw HTTP/2 client that can send any frame, including invalid ones.

hyperframe reads and writes the frames of RFC 9113, and hpack the header blocks of RFC 7541. Header blocks that are sent
never use the dynamic table: they can be prepared once and sent on any connection. The server is asked not to use it
either: header blocks of other streams can be skipped.
"""

import select
import socket
import struct
import time
from collections.abc import Iterable
from functools import lru_cache
from types import TracebackType
from typing import Final, NamedTuple, Self

from hpack import Decoder, Encoder, NeverIndexedHeaderTuple
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    ExtensionFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

CANCEL: Final = 8
"""The error code of a reset by the caller."""
HEADER_TABLE_SIZE, INITIAL_WINDOW_SIZE, MAX_HEADER_LIST_SIZE = (
    SettingsFrame.HEADER_TABLE_SIZE,
    SettingsFrame.INITIAL_WINDOW_SIZE,
    SettingsFrame.MAX_HEADER_LIST_SIZE,
)
_TRUE_BINARY: Final = 0xFE03
"""gRPC's own setting: values of binary metadata are sent as they are, not in base64."""
_SETTINGS: Final = ((HEADER_TABLE_SIZE, 0), (MAX_HEADER_LIST_SIZE, 1 << 20), (_TRUE_BINARY, 1))
_FRAME_HEADER: Final = 9
_MAX_FRAME: Final = 16_384

Fields = tuple[tuple[bytes, bytes], ...]


class Answer(NamedTuple):
    """The answer of a server to a call.

    Attributes:
        fields: all headers and trailers.
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
        """The gRPC status; None if none was received."""
        return next((int(value) for name, value in self.fields if name == b"grpc-status"), None)


def raw_frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """Encode a frame without any check: the type, flags, stream and payload may contradict each other."""
    frame = ExtensionFrame(kind, stream, flags)
    frame.parse_body(memoryview(payload))
    return frame.serialize()


def settings(*values: tuple[int, int]) -> bytes:
    """Encode a SETTINGS frame. hyperframe itself cannot write settings above 255."""
    return raw_frame(SettingsFrame.type, 0, 0, b"".join(struct.pack(">HI", *value) for value in values))


def ping(data: bytes = bytes(8), *, ack: bool = False) -> bytes:
    """Encode a PING frame."""
    return PingFrame(0, data, flags=["ACK"] if ack else []).serialize()


def reset(stream: int) -> bytes:
    """Encode an RST_STREAM frame that cancels a call."""
    return RstStreamFrame(stream, CANCEL).serialize()


def window_update(stream: int, increment: int) -> bytes:
    """Encode a WINDOW_UPDATE frame."""
    return WindowUpdateFrame(stream, increment).serialize()


def data(stream: int, payload: bytes, *, end: bool = False) -> bytes:
    """Encode a DATA frame."""
    return DataFrame(stream, payload, flags=["END_STREAM"] if end else []).serialize()


@lru_cache
def block(fields: Fields) -> bytes:
    """Encode a header block that leaves the dynamic table unchanged."""
    return Encoder().encode([NeverIndexedHeaderTuple(*field) for field in fields], huffman=False)


def call_fields(path: bytes, metadata: Iterable[tuple[bytes, bytes]] = ()) -> Fields:
    """Return the header fields of a gRPC call."""
    return (
        (b":method", b"POST"),
        (b":scheme", b"http"),
        (b":path", path),
        (b":authority", b"localhost"),
        (b"te", b"trailers"),
        (b"content-type", b"application/grpc"),
        *metadata,
    )


def message(body: bytes, *, compressed: int = 0) -> bytes:
    """Encode a gRPC message as the payload of DATA frames."""
    return struct.pack(">BI", compressed, len(body)) + body


def call(stream: int, fields: Iterable[tuple[bytes, bytes]], body: bytes | None) -> bytes:
    """Encode a whole call. Without a body, the request is not sent and the stream stays open."""
    first, *more = _parts(block(tuple(fields)))
    frames: list[Frame] = [HeadersFrame(stream, first), *(ContinuationFrame(stream, part) for part in more)]
    frames[-1].flags.add("END_HEADERS")
    if body is not None:
        frames += [DataFrame(stream, part) for part in _parts(body)]
        frames[-1].flags.add("END_STREAM")
    return b"".join(frame.serialize() for frame in frames)


def _parts(payload: bytes) -> list[bytes]:
    return [payload[at : at + _MAX_FRAME] for at in range(0, max(len(payload), 1), _MAX_FRAME)]


class Connection:
    """A connection. It sends the preface and its settings when it is opened, or `opening` instead.

    Attributes:
        socket: the socket.
    """

    def __init__(self, target: str, *, opening: bytes | None = None, seconds: float = 10.0) -> None:
        host, _, port = target.rpartition(":")
        self.socket = socket.create_connection((host, int(port)), timeout=seconds)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._stream = -1
        self._buffer = bytearray()
        self._decoder = Decoder(max_header_list_size=1 << 20)
        self.socket.sendall(PREFACE + settings(*_SETTINGS) if opening is None else opening)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    @property
    def last_stream(self) -> int:
        """The number of the newest stream."""
        return self._stream

    def next_stream(self) -> int:
        """Return the number of the next stream."""
        self._stream += 2
        return self._stream

    def send(self, payload: bytes) -> None:
        """Send bytes as they are.

        Raises:
            OSError: the server has closed the connection, or reads nothing for too long.
        """
        self.socket.sendall(payload)

    def unary(self, path: bytes, body: bytes | None, metadata: Iterable[tuple[bytes, bytes]] = ()) -> Answer:
        """Make a call with one message and wait for its answer."""
        stream = self.next_stream()
        self.send(call(stream, call_fields(path, metadata), None if body is None else message(body)))
        return self.answer(stream)

    def answer(self, stream: int, *, seconds: float = 10.0) -> Answer:
        """Wait for the answer to the call on a stream. Acknowledge other frames meanwhile.

        Raises:
            TimeoutError: the answer is not complete in time.
        """
        fields: Fields = ()
        body = b""
        deadline = time.monotonic() + seconds
        while (frame := self.read(deadline - time.monotonic())) is not None:
            if isinstance(frame, GoAwayFrame):
                return Answer(fields, body, "goaway", frame.error_code)
            if frame.stream_id != stream:
                continue
            if isinstance(frame, RstStreamFrame):
                return Answer(fields, body, "reset", frame.error_code)
            if isinstance(frame, DataFrame):
                body += frame.data
                if frame.data:
                    self.send(window_update(0, len(frame.data)))
            elif isinstance(frame, HeadersFrame):
                fields += self._fields(frame)
            if "END_STREAM" in frame.flags:
                return Answer(fields, body, "trailers")
        return Answer(fields, body, "closed")

    def first_message(self, stream: int, *, seconds: float = 10.0) -> bytes | Answer:
        """Wait for the first message on a stream, which must fit in one frame. Return the answer if it has no message.

        Raises:
            TimeoutError: neither is received in time.
        """
        fields: Fields = ()
        deadline = time.monotonic() + seconds
        while (frame := self.read(deadline - time.monotonic())) is not None:
            if frame.stream_id != stream:
                continue
            if isinstance(frame, DataFrame) and frame.data:
                return frame.data[5:]
            if isinstance(frame, HeadersFrame):
                fields += self._fields(frame)
            if isinstance(frame, RstStreamFrame) or "END_STREAM" in frame.flags:
                return Answer(fields, b"", "trailers" if isinstance(frame, HeadersFrame) else "reset")
        return Answer(fields, b"", "closed")

    def read(self, seconds: float) -> Frame | None:
        """Read a frame and acknowledge SETTINGS and PING. Return None if the server has closed the connection.

        Raises:
            TimeoutError: no frame is received in time.
        """
        deadline = time.monotonic() + seconds
        while len(self._buffer) < _FRAME_HEADER or len(self._buffer) < self._frame_size():
            if not select.select([self.socket], [], [], max(deadline - time.monotonic(), 0))[0]:
                raise TimeoutError("no frame was received")
            try:
                received = self.socket.recv(65_536)
            except ConnectionError:
                received = b""
            if not received:
                return None
            self._buffer += received
        raw = memoryview(bytes(self._buffer[: self._frame_size()]))
        del self._buffer[: len(raw)]
        frame, _ = Frame.parse_frame_header(raw[:_FRAME_HEADER])
        frame.parse_body(raw[_FRAME_HEADER:])
        if isinstance(frame, PingFrame) and "ACK" not in frame.flags:
            self.send(ping(frame.opaque_data, ack=True))
        elif isinstance(frame, SettingsFrame) and "ACK" not in frame.flags:
            self.send(SettingsFrame(0, flags=["ACK"]).serialize())
        return frame

    def closed_within(self, seconds: float) -> bool:
        """Read until the server closes the connection. Return False if it does not in time."""
        deadline = time.monotonic() + seconds
        try:
            while self.read(deadline - time.monotonic()) is not None:
                pass
        except TimeoutError:
            return False
        except OSError:  # the connection was closed while a frame was acknowledged
            return True
        return True

    def _frame_size(self) -> int:
        return _FRAME_HEADER + int.from_bytes(self._buffer[:3], "big")

    def _fields(self, frame: HeadersFrame) -> Fields:
        return tuple((bytes(name), bytes(value)) for name, value in self._decoder.decode(frame.data, raw=True))
