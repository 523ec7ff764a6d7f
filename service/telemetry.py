"""Logs: one JSON object a line, or, on a terminal, something to read.

Events have fixed names; what varies are fields, and those are ids and numbers, never objects. A token, a request id,
a seed or a game's state never becomes a field, and neither does an exception's text that could quote one.
"""

import logging
import sys
import traceback
from typing import Any, Final

import msgspec
import structlog

LEVELS: Final = ("debug", "info", "warning", "error")
FORMATS: Final = ("auto", "json", "console")


def configure(*, level: str, fmt: str) -> None:
    """Sets up the logs of this process, on standard error. `auto` is `console` on a terminal and `json` elsewhere."""
    number = getattr(logging, level.upper())
    console = fmt == "console" or (fmt == "auto" and sys.stderr.isatty())
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="%H:%M:%S" if console else "iso", utc=not console),
    ]
    if console:
        shown: list[structlog.typing.Processor] = [structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())]
        factory: Any = structlog.PrintLoggerFactory(sys.stderr)
    else:
        shown = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(serializer=_json)]
        factory = structlog.BytesLoggerFactory(sys.stderr.buffer)
    structlog.configure(
        processors=[*shared, *shown],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=factory,
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(handlers=[_ToStructlog()], level=max(number, logging.WARNING), force=True)


def frames(error: BaseException) -> list[str]:
    """Tells where an exception came by, without its text and its variables: those may hold hidden information."""
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]


def _json(event: Any, **_: Any) -> bytes:
    return msgspec.json.encode(event, enc_hook=repr)


class _ToStructlog(logging.Handler):
    """Brings what libraries log into the same form. Their words may quote a request, so only their place is told."""

    def emit(self, record: logging.LogRecord) -> None:
        structlog.get_logger().log(
            record.levelno, "library", logger=record.name, place=f"{record.module}:{record.lineno}"
        )
