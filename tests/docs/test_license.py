"""Every package contains the license and the notice of the project."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CLIENTS = ["python", "typescript", "go", "java"]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize("name", ["LICENSE", "NOTICE"])
def test_client_libraries_carry_the_same_license_and_notice(client: str, name: str) -> None:
    assert (ROOT / "clients" / client / name).read_text() == (ROOT / name).read_text()


@pytest.mark.parametrize("folder", [".", "clients/python"])
def test_python_packages_declare_the_license_and_its_files(folder: str) -> None:
    project = tomllib.loads((ROOT / folder / "pyproject.toml").read_text())["project"]

    assert project["license"] == "Apache-2.0"
    assert project["license-files"] == ["LICENSE", "NOTICE"]
