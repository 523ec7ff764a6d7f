"""A signal ends a service cleanly, no matter which thread receives it."""

import ctypes
import signal
from pathlib import Path

import pytest

from tests.support.service import START_SECONDS, running


# tests/faults/test_stopped_services.py sends SIGTERM to two workers.
@pytest.mark.parametrize(("sign", "workers"), [(signal.SIGTERM, 1), (signal.SIGINT, 1), (signal.SIGINT, 2)])
def test_a_signal_ends_the_service_cleanly(sign: signal.Signals, workers: int, tmp_path: Path) -> None:
    with running(tmp_path, f"--data-dir={tmp_path / 'data'}", f"--workers={workers}") as service:
        service.process.send_signal(sign)

        assert service.process.wait(START_SECONDS) == 0
    assert "Traceback" not in service.log_file.read_text()


def test_a_signal_to_another_thread_ends_the_service(tmp_path: Path) -> None:
    with running(tmp_path, f"--data-dir={tmp_path / 'data'}") as service:
        pid = service.process.pid
        others = [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir() if thread.name != str(pid)]

        ctypes.CDLL(None).tgkill(pid, others[0], signal.SIGTERM)

        assert service.process.wait(START_SECONDS) == 0
