"""The scan of the SBOM reports vulnerable packages, and never passes if it could not check all of them."""

import json
import os
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import CompletedCommand
from tools.image import scan
from tools.image.scan import NOT_SCANNED, VULNERABLE, CannotScan, Package, package_of

ROOT = Path(__file__).parents[2]
OPENSSL = "pkg:deb/debian/libssl3@3.0.17-1?arch=amd64&distro=debian-12&upstream=openssl%403.0.17-1"
JINJA = "pkg:pypi/jinja2@2.10"


@pytest.mark.parametrize(
    ("purl", "package"),
    [
        (JINJA, Package("jinja2", "2.10", "PyPI")),
        (OPENSSL, Package("openssl", "3.0.17-1", "Debian:12")),
        (
            "pkg:deb/debian/libattr1@1:2.5.1-4%2Bb1?arch=amd64&distro=debian-12&upstream=attr%401:2.5.1-4%2Bx",
            Package("attr", "1:2.5.1-4+x", "Debian:12"),
        ),
        ("pkg:deb/debian/libstdc%2B%2B6@12.2.0-14?distro=debian-12", Package("libstdc++6", "12.2.0-14", "Debian:12")),
        (
            "pkg:apk/alpine/musl@1.2.5-r20?arch=x86_64&distro=alpine-3.22.1",
            Package("musl", "1.2.5-r20", "Alpine:v3.22"),
        ),
        ("pkg:generic/python@3.13.9", None),
        ("pkg:deb/debian/dash@0.5", None),
    ],
)
def test_a_package_has_the_name_that_advisories_use(purl: str, package: Package | None) -> None:
    assert package_of(purl) == package


def write_sbom(folder: Path, *purls: str, missing: str = "") -> Path:
    """Write an SBOM; return its path."""
    bill: dict[str, Any] = {"components": [{"name": purl, "purl": purl} for purl in purls]}
    if missing:
        bill["metadata"] = {"properties": [{"name": "sodafountain:missing", "value": missing}]}
    path = folder / "sbom.cdx.json"
    path.write_text(json.dumps(bill))
    return path


def run_scan(sbom: Path, *flags: str, **env: str) -> CompletedCommand:
    """Run the scan as a process."""
    command = [sys.executable, str(ROOT / "tools/image/scan.py"), f"--sbom={sbom}", *flags]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False, env={"PATH": os.environ["PATH"], **env}
    )
    return CompletedCommand(done.returncode, done.stdout, done.stderr)


def fake_scanner(folder: Path, code: int, err: str = "") -> str:
    """Write a scanner that prints an error and exits with a code; return its path."""
    path = folder / "osv-scanner"
    path.write_text(f"#!/bin/sh\necho found\necho '{err}' >&2\nexit {code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize(
    ("code", "err", "status"),
    [
        (0, "", 0),
        (1, "", VULNERABLE),
        (127, "no such host", NOT_SCANNED),
        (128, "no package", NOT_SCANNED),
        (0, "could not load db for Alpine ecosystem", NOT_SCANNED),
        (1, "could not load db for Alpine ecosystem", NOT_SCANNED),
    ],
)
def test_only_a_complete_scan_passes(code: int, err: str, status: int, tmp_path: Path) -> None:
    done = run_scan(write_sbom(tmp_path, JINJA), OSV_SCANNER=fake_scanner(tmp_path, code, err))

    assert done.code == status
    assert ("NOT SCANNED" in done.err) == (status == NOT_SCANNED)
    assert ("No known vulnerability" in done.out) == (status == 0)
    assert (f": {err}\n" in done.err) == (status == NOT_SCANNED)


@pytest.mark.parametrize(
    ("purls", "missing", "reason"),
    [
        ((), "", "lists no package"),
        ((JINJA,), "the packages of the operating system", "lacks the packages of the operating system"),
        ((JINJA, "pkg:deb/other/dash@0.5?distro=other-1"), "", "no advisories for this distribution"),
    ],
)
def test_an_incomplete_sbom_does_not_pass(purls: tuple[str, ...], missing: str, reason: str, tmp_path: Path) -> None:
    done = run_scan(write_sbom(tmp_path, *purls, missing=missing), OSV_SCANNER=fake_scanner(tmp_path, 0))

    assert done.code == NOT_SCANNED
    assert reason in done.err


def test_a_missing_sbom_does_not_pass(tmp_path: Path) -> None:
    assert run_scan(tmp_path / "none").code == NOT_SCANNED


def test_packages_that_are_not_covered_are_named(tmp_path: Path) -> None:
    sbom = write_sbom(tmp_path, JINJA, "pkg:generic/python@3.13.9")

    assert "pkg:generic/python@3.13.9" in run_scan(sbom, OSV_SCANNER=fake_scanner(tmp_path, 0)).out


def test_without_a_scanner_nothing_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "BUILT", tmp_path / "none")
    monkeypatch.setenv("PATH", str(tmp_path))

    for install in (False, True):
        with pytest.raises(CannotScan, match="not installed"):
            scan.find_scanner(install=install)


ENGINE = """\
#!/bin/sh
case $1 in
  create) echo container ;;
  cp) echo "$2" >&2; cp "$SBOM_OF_IMAGE" "$3" ;;
  image) echo 1000000 ;;
esac
"""
"""A container engine that builds nothing."""


@pytest.mark.parametrize(
    ("code", "warning"), [(0, ""), (1, "has packages with known vulnerabilities"), (127, "was not checked for known")]
)
def test_the_build_warns_unless_the_scan_passes(code: int, warning: str, tmp_path: Path) -> None:
    engine = tmp_path / "podman"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    written = tmp_path / "out/sbom.cdx.json"
    env = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "ENGINE": "podman",
        "SBOM": str(written),
        "SBOM_OF_IMAGE": str(write_sbom(tmp_path, JINJA)),
        "OSV_SCANNER": fake_scanner(tmp_path, code),
    }

    done = subprocess.run(
        [ROOT / "tools/image/build.sh"], capture_output=True, text=True, timeout=100, check=False, env=env
    )

    assert done.returncode == 0, done
    assert written.read_text() == (tmp_path / "sbom.cdx.json").read_text()
    assert "container:/opt/sodafountain/sbom.cdx.json\n" in done.stderr
    assert [line for line in done.stderr.splitlines() if line.startswith("WARNING")] == (
        [line for line in done.stderr.splitlines() if warning in line] if warning else []
    )
    assert warning in done.stderr


# --- With OSV-Scanner and a database of our own -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def scanner() -> str:
    """OSV-Scanner; built if necessary, which takes minutes."""
    try:
        return scan.find_scanner(install=True)
    except CannotScan as error:
        pytest.skip(str(error))


def write_database(folder: Path, *vulnerabilities: tuple[str, str, str]) -> str:
    """Write databases of OSV with vulnerable packages: ecosystem, name and the first version without it."""
    for number, (ecosystem, name, fixed) in enumerate(vulnerabilities):
        path = folder / "osv-scanner" / ecosystem.partition(":")[0] / "all.zip"
        path.parent.mkdir(parents=True, exist_ok=True)
        versions = {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": fixed}]}
        entry = {
            "schema_version": "1.6.0",
            "id": f"TEST-{number}",
            "modified": "2026-01-01T00:00:00Z",
            "affected": [{"package": {"ecosystem": ecosystem, "name": name}, "ranges": [versions]}],
        }
        with zipfile.ZipFile(path, "a") as database:
            database.writestr(f"TEST-{number}.json", json.dumps(entry))
    return str(folder)


@pytest.mark.image
@pytest.mark.timeout(900)
def test_known_vulnerabilities_are_found(scanner: str, tmp_path: Path) -> None:
    databases = write_database(
        tmp_path,
        ("PyPI", "jinja2", "2.10.1"),
        ("Debian:12", "openssl", "3.0.17-2"),
        ("Debian:12", "libssl3", "4"),  # the name of the binary package, which advisories do not use
        ("Debian:13", "openssl", "4"),  # of another release
        ("PyPI", "redis", "1.0"),  # older than the installed one
    )
    sbom = write_sbom(tmp_path, JINJA, OPENSSL, "pkg:pypi/redis@8.1.0")
    env = {"OSV_SCANNER": scanner, "OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY": databases}

    done = run_scan(sbom, "--offline", **env)

    assert done.code == VULNERABLE, done
    assert [name for name in (f"TEST-{number}" for number in range(5)) if name in done.out] == ["TEST-0", "TEST-1"]
    fixed = write_sbom(tmp_path, "pkg:pypi/jinja2@2.10.1", OPENSSL.replace("3.0.17-1", "3.0.17-2"))
    assert run_scan(fixed, "--offline", **env).code == 0


@pytest.mark.image
@pytest.mark.timeout(900)
def test_a_missing_database_does_not_pass(scanner: str, tmp_path: Path) -> None:
    databases = write_database(tmp_path, ("PyPI", "jinja2", "1.0"))
    env = {"OSV_SCANNER": scanner, "OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY": databases}

    assert run_scan(write_sbom(tmp_path, JINJA), "--offline", **env).code == 0
    done = run_scan(write_sbom(tmp_path, JINJA, OPENSSL), "--offline", **env)
    assert (done.code, "Debian" in done.err) == (NOT_SCANNED, True), done
