"""Logs: one JSON object a line, or, on a terminal, something to read.

Events have fixed names; what varies are fields, and those are ids and numbers, never objects. A token, a request id,
a seed or a game's state never becomes a field, and neither does an exception's text that could quote one.
"""

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import IO, Any, BinaryIO, Final, TextIO, cast

import msgspec
import structlog

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("auto", "json", "console")


def configure(*, level: str, fmt: str) -> None:
    """Sets up the logs of this process, on standard error. `auto` is `console` on a terminal and `json` elsewhere."""
    number = getattr(logging, level.upper())
    terminal = sys.stderr is not None and sys.stderr.isatty()
    console = sys.stderr is not None and (fmt == "console" or (fmt == "auto" and terminal))
    if console:
        processors: list[structlog.typing.Processor] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(colors=terminal),
        ]
        factory: Any = structlog.WriteLoggerFactory(cast("TextIO", _Sink(sys.stderr)))
    else:
        processors = [_json]
        # Unbuffered: a line goes out whole or not at all, and none is left over that could not be written.
        raw = None if sys.stderr is None else getattr(sys.stderr.buffer, "raw", sys.stderr.buffer)
        factory = structlog.BytesLoggerFactory(cast("BinaryIO", _Sink(raw)))
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_ToStructlog()], level=max(number, logging.WARNING), force=True)
    logging.getLogger("grpc._cython.cygrpc").addFilter(_is_worth_telling)


def frames(error: BaseException) -> list[str]:
    """Tells where an exception came by, without its text and its variables: those may hold hidden information."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


_encoder = msgspec.json.Encoder(enc_hook=repr)


def _json(_logger: Any, level: str, event: structlog.typing.EventDict) -> bytes:
    """Writes an event with its level and time: one step instead of three, since every call logs a line."""
    return _encoder.encode({"timestamp": datetime.now(UTC), "level": level, **event})


class _Sink:
    """Where lines go. One that cannot be written is dropped and counted: no log may take a call or a thread with it."""

    def __init__(self, file: IO[Any] | None) -> None:
        self._file = file
        self._dropped = 0

    def write(self, line: str | bytes) -> None:
        """Writes a line, or drops it; the next that can be written is preceded by how many were dropped."""
        if self._file is None:
            return
        try:
            if self._dropped:
                notice = _json(None, "error", {"event": "log_lines_dropped", "lines": self._dropped}) + b"\n"
                self._file.write(notice if isinstance(line, bytes) else notice.decode())
                self._dropped = 0
            self._file.write(line)
        except (OSError, ValueError):  # a full disk, a closed pipe, a closed file
            self._dropped += 1

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._file is not None:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self._dropped += 1


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Passes over what any caller can make gRPC complain of, as an error: metadata that is no text."""
    return not str(record.msg).startswith("Invalid encoding")


class _ToStructlog(logging.Handler):
    """Brings what libraries log into the same form. Their words may quote a request, so only their place is told."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno, "library", logger=record.name, place=f"{record.module}:{record.lineno}"
        )
