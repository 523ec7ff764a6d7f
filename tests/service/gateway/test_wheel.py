"""The wheel contains everything that the gateway needs."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from service.gateway import CONFIG_NAME
from tests.service.gateway.test_config import validate

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built and unpacked into an empty folder."""
    folder: Path = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder / "site")
    return folder / "site"


def test_an_installed_wheel_writes_a_configuration(installed: Path, tmp_path: Path) -> None:
    env = os.environ | {"PYTHONPATH": str(installed)}
    where = "import service; print(service.__file__)"
    command = ["-m", "service", "gateway", str(tmp_path / "made"), "--service", "soda:50051"]

    for words in (["-c", where], command):
        result = subprocess.run(
            [sys.executable, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False, timeout=60
        )
        assert result.returncode == 0, result.stderr
        if words != command:
            assert result.stdout.startswith(str(installed)), "another service than the wheel's was found"
    validate(tmp_path / "made" / CONFIG_NAME)
