"""Run a temporary service for a program: its own process, port and store, all removed afterwards."""

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


class ServiceError(Exception):
    """The service failed. The message says how, and contains the log of the service."""


@contextmanager
def own_service(*flags: str) -> Iterator[str]:
    """Run a service for the length of the block and yield its address.

    Args:
        flags: additional flags of `sodafountain serve`.

    Raises:
        ServiceError: the service does not start, or exits with an error.
    """
    with tempfile.TemporaryDirectory(prefix="soda-") as folder:
        port_file, log = Path(folder, "port"), Path(folder, "log")
        command = [*SERVICE, "serve", "--port=0", f"--port-file={port_file}", f"--data-dir={folder}/data"]
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: S603 (the command is not user input)
                [*command, "--allow-fixed-seed", "--log-level=warning", *flags],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=environment_without_settings(),
                # Ctrl-C reaches the program only, which then stops the service.
                start_new_session=True,
            )
        try:
            yield f"localhost:{wait_for_port(process, port_file, log)}"
        finally:
            process.terminate()
            try:
                status = process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
        if status != 0:
            raise ServiceError(f"The service ended with status {status}.\n{log.read_text()}")


def wait_for_port(process: "subprocess.Popen[bytes]", port_file: Path, log: Path) -> int:
    """Wait until the service has written its port file; return the port."""
    deadline = time.monotonic() + START_SECONDS
    while not port_file.exists():
        if process.poll() is not None:
            raise ServiceError(f"The service did not start.\n{log.read_text()}")
        if time.monotonic() > deadline:
            raise ServiceError(f"The service did not start within {START_SECONDS} seconds.\n{log.read_text()}")
        time.sleep(0.02)
    return int(port_file.read_text())


def verify_game(target: str, game_id: str, commitment: bytes) -> str:
    """Replay a finished game from its history with `sodafountain verify`; return the output.

    Args:
        target: the address of the service.
        game_id: the id of the game.
        commitment: the commitment that was noted at the creation of the game.

    Raises:
        ServiceError: the verification failed.
    """
    command = [*SERVICE, "verify", "--target", target, "--commitment", commitment.hex(), game_id]
    result = subprocess.run(  # noqa: S603 (as above)
        command, capture_output=True, text=True, timeout=60, check=False, env=environment_without_settings()
    )
    if result.returncode != 0:
        raise ServiceError(f"The game could not be verified.\n{result.stdout}{result.stderr}")
    return result.stdout.strip()


def environment_without_settings() -> dict[str, str]:
    """Return the environment of this process without the settings of a service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SODAFOUNTAIN_")}
