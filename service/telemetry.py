"""Logs: one JSON object a line, or, on a terminal, something to read.

Events have fixed names; what varies are fields, and those are ids and numbers, never objects. A token, a request id,
a seed or a game's state never becomes a field, and neither does an exception's text that could quote one.
"""

import logging
import sys
import traceback
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
import structlog

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("auto", "json", "console")


def configure(*, level: str, fmt: str) -> None:
    """Sets up the logs of this process, on standard error. `auto` is `console` on a terminal and `json` elsewhere."""
    number = getattr(logging, level.upper())
    console = fmt == "console" or (fmt == "auto" and sys.stderr.isatty())
    if console:
        processors: list[structlog.typing.Processor] = [
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="%H:%M:%S", utc=False),
            structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty()),
        ]
        factory: Any = structlog.PrintLoggerFactory(sys.stderr)
    else:
        processors = [_json]
        factory = structlog.BytesLoggerFactory(sys.stderr.buffer)
    structlog.configure(
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_ToStructlog()], level=max(number, logging.WARNING), force=True)


def frames(error: BaseException) -> list[str]:
    """Tells where an exception came by, without its text and its variables: those may hold hidden information."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


_encoder = msgspec.json.Encoder(enc_hook=repr)


def _json(_logger: Any, level: str, event: structlog.typing.EventDict) -> bytes:
    """Writes an event with its level and time: one step instead of three, since every call logs a line."""
    return _encoder.encode({"timestamp": datetime.now(UTC), "level": level, **event})


class _ToStructlog(logging.Handler):
    """Brings what libraries log into the same form. Their words may quote a request, so only their place is told."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno, "library", logger=record.name, place=f"{record.module}:{record.lineno}"
        )
