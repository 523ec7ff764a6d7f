#!/usr/bin/env python3
"""Check the software bill of materials (SBOM) of the container image for packages with known vulnerabilities.

OSV-Scanner compares the packages with the advisories of osv.dev, or with a copy of them (`--offline`). Exit status: 0
if it knows no vulnerability, 1 if it knows some, 3 if the packages, or some of them, could not be checked.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import parse_qs, unquote

ROOT: Final = Path(__file__).resolve().parents[2]
SCANNER: Final = "github.com/google/osv-scanner/v2/cmd/osv-scanner@v2.2.2"
BUILT: Final = ROOT / "build/bin/osv-scanner"
VULNERABLE: Final = 1
NOT_SCANNED: Final = 3

_SECONDS: Final = 600


class CannotScan(Exception):
    """The scan cannot run, or not for all packages."""


class Package(NamedTuple):
    """A package by the name and version under which OSV has advisories about it."""

    name: str
    version: str
    ecosystem: str


def main() -> int:
    """Scan an SBOM; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--sbom", type=Path, default=ROOT / "build/sbom.cdx.json", help="the SBOM; `make image` writes it"
    )
    parser.add_argument("--install", action="store_true", help="build OSV-Scanner with Go, unless it is installed")
    parser.add_argument(
        "--offline", action="store_true", help="use the databases in OSV_SCANNER_LOCAL_DB_CACHE_DIRECTORY"
    )
    parser.add_argument(
        "--config", type=Path, help="a configuration of OSV-Scanner, for instance to accept a vulnerability"
    )
    args = parser.parse_args()
    try:
        found, unknown = packages_of(args.sbom)
        for name in unknown:
            _say(f"Not covered, because OSV has no advisories of its kind: {name}")
        return scan(found, find_scanner(install=args.install), offline=args.offline, config=args.config)
    except CannotScan as error:
        sys.stderr.write(f"NOT SCANNED for vulnerabilities: {error}\n")
        return NOT_SCANNED


def packages_of(sbom: Path) -> tuple[list[Package], list[str]]:
    """Return the packages of an SBOM, and the URLs of those about which OSV has no advisories.

    Raises:
        CannotScan: the file is not an SBOM, or lacks packages.
    """
    try:
        bill: dict[str, Any] = json.loads(sbom.read_bytes())
    except (OSError, ValueError) as error:
        raise CannotScan(f"cannot read {sbom}: {error}; `make image` writes it") from None
    for item in bill.get("metadata", {}).get("properties", ()):
        if item["name"] == "sodafountain:missing":
            raise CannotScan(f"the SBOM lacks {item['value']}")
    purls = [str(component.get("purl", component["name"])) for component in bill.get("components", ())]
    if not purls:
        raise CannotScan(f"{sbom} lists no package")
    packages = {purl: package_of(purl) for purl in purls}
    unknown = [purl for purl, package in packages.items() if package is None]
    if missing := [purl for purl in unknown if re.match(r"pkg:(deb|apk|rpm)/", purl)]:
        raise CannotScan(f"OSV has no advisories for this distribution, for instance for {missing[0]}")
    return sorted({package for package in packages.values() if package}), unknown


def package_of(purl: str) -> Package | None:
    """Return the package with a package URL, or None if OSV has no advisories of its kind.

    Advisories about packages of an operating system name the source package and the release.
    """
    if not (match := re.fullmatch(r"pkg:(\w+)/(?:[^?@]*/)?([^/?@]+)@([^?]+)(?:\?(.*))?", purl)):
        return None
    kind, name, version = match[1], unquote(match[2]), unquote(match[3])
    qualifiers = {key: values[0] for key, values in parse_qs((match[4] or "").replace("+", "%2B")).items()}
    if kind == "pypi":
        return Package(name, version, "PyPI")
    if "upstream" in qualifiers:
        name, _, version = qualifiers["upstream"].rpartition("@")
    distro, _, release = qualifiers.get("distro", "").partition("-")
    if (kind, distro) == ("deb", "debian") and release:
        return Package(name, version, f"Debian:{release}")
    if (kind, distro) == ("apk", "alpine") and release:
        return Package(name, version, f"Alpine:v{'.'.join(release.split('.')[:2])}")
    return None


def find_scanner(*, install: bool) -> str:
    """Return the path of OSV-Scanner.

    Raises:
        CannotScan: it is not installed and cannot be built.
    """
    if found := shutil.which(os.environ.get("OSV_SCANNER") or "osv-scanner"):
        return found
    if not BUILT.exists():
        if not install:
            raise CannotScan("OSV-Scanner is not installed; `make image-scan` builds it")
        if not shutil.which("go"):
            raise CannotScan("OSV-Scanner is not installed, and Go, which builds it, is not installed either")
        _say("Building OSV-Scanner (once, about two minutes) …")
        env = os.environ | {"GOBIN": str(BUILT.parent), "GOFLAGS": "-mod=mod"}
        if subprocess.run(["go", "install", SCANNER], env=env, check=False).returncode:  # noqa: S603, S607 - a fixed command
            raise CannotScan("Go cannot build OSV-Scanner")
    return str(BUILT)


def scan(packages: list[Package], scanner: str, *, offline: bool, config: Path | None) -> int:
    """Print the known vulnerabilities of packages; return the exit status.

    Raises:
        CannotScan: the advisories, or some of them, could not be read.
    """
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "packages.json")
        listed.write_text(json.dumps({"results": [{"packages": [{"package": it._asdict()} for it in packages]}]}))
        command = [scanner, "scan", "source", f"--lockfile=osv-scanner:{listed}"]
        command += ["--offline"] if offline else []
        command += [f"--config={config}"] if config else []
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SECONDS)  # noqa: S603
    if done.returncode == VULNERABLE:
        _say(done.stdout)
    # It reports a missing database of one ecosystem in a line, and may then succeed with those of the others.
    if done.returncode not in {0, VULNERABLE} or "could not load db" in done.stdout + done.stderr:
        raise CannotScan(" ".join((done.stderr.strip() or done.stdout.strip()).splitlines()[:1]))
    if done.returncode == 0:
        ecosystems = ", ".join(sorted({package.ecosystem for package in packages}))
        _say(f"No known vulnerability in {len(packages)} packages of {ecosystems}")
    return done.returncode


def _say(text: str) -> None:
    sys.stdout.write(text.rstrip("\n") + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
