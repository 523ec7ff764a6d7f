"""A service for as long as a program runs: its own process, port and store, gone without a trace afterwards."""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SERVICE = (sys.executable, "-m", "service")
START_SECONDS = 30
STOP_SECONDS = 30


class ServiceTrouble(Exception):
    """The service did not do what is needed; the message says what, and what the service itself said."""


@contextmanager
def own_service(*flags: str) -> Iterator[str]:
    """Runs a service; gives its address.

    Args:
        flags: more flags of `sodafountain serve`.

    Raises:
        ServiceTrouble: it does not start, or does not stop cleanly.
    """
    with tempfile.TemporaryDirectory(prefix="soda-") as folder:
        port_file, log = Path(folder, "port"), Path(folder, "log")
        command = [*SERVICE, "serve", "--port=0", f"--port-file={port_file}", f"--data-dir={folder}/data"]
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 (a command of our own making)
                [*command, "--allow-fixed-seed", "--log-level=warning", *flags],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=plain_environment(),
                # Ctrl-C is for the program, which then stops the service.
                start_new_session=True,
            )
        try:
            yield f"localhost:{port_when_serving(process, port_file, log)}"
        finally:
            process.terminate()
            try:
                status = process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        if status != 0:
            raise ServiceTrouble(f"The service ended with status {status}.\n{log.read_text()}")


def port_when_serving(process: "subprocess.Popen[bytes]", port_file: Path, log: Path) -> int:
    """Waits until the service has written its port."""
    deadline = time.monotonic() + START_SECONDS
    while not port_file.exists():
        if process.poll() is not None:
            raise ServiceTrouble(f"The service did not start.\n{log.read_text()}")
        if time.monotonic() > deadline:
            raise ServiceTrouble(f"The service does not serve after {START_SECONDS} seconds.\n{log.read_text()}")
        time.sleep(0.02)
    return int(port_file.read_text())


def verified(target: str, game_id: str) -> str:
    """Replays a finished game from its history, in another process; gives its verdict when that is good.

    Raises:
        ServiceTrouble: the verdict is not good.
    """
    command = [*SERVICE, "verify", "--target", target, game_id]
    done = subprocess.run(  # noqa: S603 (as above)
        command, capture_output=True, text=True, timeout=60, check=False, env=plain_environment()
    )
    if done.returncode != 0:
        raise ServiceTrouble(f"The game could not be verified.\n{done.stdout}{done.stderr}")
    return done.stdout.strip()


def plain_environment() -> dict[str, str]:
    """This process's environment without settings of a service: this one has its own."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SODAFOUNTAIN_")}
