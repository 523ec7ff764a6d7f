"""Logs: one JSON object per line, or a readable line on a terminal.

Event names are fixed; variable parts are fields, which are ids and numbers, never objects. Tokens, request ids, seeds
and states are never logged, and neither are the texts of exceptions that could quote one.
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
    """Configure the logs of this process, on standard error. `auto` is `console` on a terminal and `json` otherwise."""
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
        # Unbuffered: a line is written completely or not at all, and no unwritable line stays in a buffer.
        raw = None if sys.stderr is None else getattr(sys.stderr.buffer, "raw", sys.stderr.buffer)
        factory = structlog.BytesLoggerFactory(cast("BinaryIO", _Sink(raw)))
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_ToStructlog()], level=max(number, logging.WARNING), force=True)
    logging.getLogger("grpc._cython.cygrpc").addFilter(_is_relevant)


def frames(error: BaseException) -> list[str]:
    """Return the frames of an exception, without its text and variables, which may contain hidden information."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


_encoder = msgspec.json.Encoder(enc_hook=repr)


def _json(_logger: Any, level: str, event: structlog.typing.EventDict) -> bytes:
    """Render an event with its level and time. One processor instead of three, since every call logs a line."""
    return _encoder.encode({"timestamp": datetime.now(UTC), "level": level, **event})


class _Sink:
    """The output. A line that cannot be written is dropped and counted, so that logging never fails a call."""

    def __init__(self, file: IO[Any] | None) -> None:
        self._file = file
        self._dropped = 0

    def write(self, line: str | bytes) -> None:
        """Write a line, or drop it. Before the next line that can be written, report how many were dropped."""
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
        """Flush the file."""
        if self._file is not None:
            try:
                self._file.flush()
            except (OSError, ValueError):
                self._dropped += 1


def _is_relevant(record: logging.LogRecord) -> bool:
    """Return False for gRPC's message about metadata that is not text, because any caller can cause it."""
    return not str(record.msg).startswith("Invalid encoding")


class _ToStructlog(logging.Handler):
    """Logs the records of libraries with their place in the code, but without their text, which may quote a request."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno, "library", logger=record.name, place=f"{record.module}:{record.lineno}"
        )
