"""The active format of the store: the one that every process writes; see `service.games.formats`."""

import threading
from typing import Final

import structlog

from service.games.formats import NEWEST, OLDEST_WRITTEN
from service.store import StoreAdministration, StoreError

_REFRESH_SECONDS: Final = 5.0
_READ_SECONDS: Final = 2.0

_log = structlog.get_logger()


class FormatNotSupported(Exception):
    """This release cannot write the active format of the store; the text says what to do."""


class ActiveFormat:
    """The active format, read at start and every few seconds. A context manager: reads within the block.

    A process that has not read it yet, because the store is away, writes the oldest format that it can. A store that
    has none, because it is new, gets the newest format; one that has lost its data while this process runs gets the
    format that was active.
    """

    def __init__(self, store: StoreAdministration) -> None:
        self._store = store
        self._initial = NEWEST
        self._number = OLDEST_WRITTEN
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="active-format", daemon=True)

    def __enter__(self) -> "ActiveFormat":
        """Read the active format, unless the store is away, and again from then on.

        Raises:
            FormatNotSupported: this release cannot write it.
        """
        try:
            self._read()
        except StoreError as error:
            _log.warning("format_unknown", problem=str(error))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        self._thread.join()

    def number(self) -> int:
        """Return the format to write."""
        return self._number

    def _read(self) -> None:
        active = self._store.active_format(self._initial, timeout=_READ_SECONDS)
        self._initial = self._number = min(max(active, OLDEST_WRITTEN), NEWEST)
        if active > NEWEST:
            raise FormatNotSupported(
                f"the store has format {active}, and this release writes up to format {NEWEST}: run the release that "
                "raised it, or a later one"
            )
        if active < OLDEST_WRITTEN:
            raise FormatNotSupported(
                f"the store has format {active}, and this release writes {OLDEST_WRITTEN} or later: stop all servers "
                "of the earlier release, and run `sodafountain finalize-upgrade`"
            )

    def _run(self) -> None:
        reported = ""
        while not self._closed.wait(_REFRESH_SECONDS):
            before = self._number
            try:
                self._read()
            except FormatNotSupported as error:
                if str(error) != reported:
                    _log.error("format_not_supported", problem=str(error))
                reported = str(error)
            except StoreError:  # the health service reports it
                continue
            if self._number != before:
                _log.info("format_raised", format=self._number)
