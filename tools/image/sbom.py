"""Write the software bill of materials (SBOM) of the container image to stdout, as CycloneDX JSON.

The build of the image runs this in the file system of the image. It lists the packages of the operating system (of dpkg
or apk), the installed Python packages, and the Python interpreter if it is not a package of the operating system.
"""

import re
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from typing import Final

from cyclonedx.model import Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

_SITES: Final = (
    "opt/sodafountain/lib/python3*/site-packages",
    "usr/local/lib/python3*/site-packages",
    "usr/local/lib/python3*/dist-packages",
    "usr/lib/python3/dist-packages",
)
"""The directories of Python packages: of the service, of the official Python images, and of Debian."""

_ABSENT: Final = {"not-installed", "config-files"}
"""The states of packages in the database of dpkg whose files are not on the disk."""


def packages(root: Path) -> list[Component]:
    """Return the packages below a root directory, each once, in a fixed order."""
    found = [*_of_dpkg(root), *_of_apk(root), *_of_python(root), *_interpreters(root)]
    unique = {str(component.purl): component for component in found}
    return [unique[purl] for purl in sorted(unique)]


def bill(root: Path) -> Bom:
    """Return the SBOM of the image below a root directory. A property says what it lacks."""
    components = packages(root)
    version = next((item.version for item in components if item.name == "sodafountain-service"), None)
    bom = Bom(components=components)
    image = Component(name="sodafountain", version=version, type=ComponentType.CONTAINER, bom_ref="image")
    bom.metadata.component = image
    bom.register_dependency(image, components)
    if not any(component.purl and component.purl.type in {"deb", "apk"} for component in components):
        missing = "the packages of the operating system: the image has no database of dpkg or apk"
        bom.metadata.properties.add(Property(name="sodafountain:missing", value=missing))
    return bom


# --- The operating system ---------------------------------------------------------------------------------------------


def _of_dpkg(root: Path) -> Iterator[Component]:
    """Yield the packages of dpkg, and of images without dpkg that keep its database in `status.d`."""
    release = _os_release(root)
    database = root / "var/lib/dpkg"
    files = [database / "status", *sorted(database.glob("status.d/*"))]
    for file in files:
        if not file.is_file() or file.suffix == ".md5sums":
            continue
        for paragraph in re.split(r"\n{2,}", file.read_text(errors="replace").strip()):
            # A line that starts with a space continues the previous field, none of which is read here.
            fields = dict(line.split(": ", 1) for line in paragraph.splitlines() if re.match(r"[A-Za-z-]+: ", line))
            if "Package" not in fields or fields.get("Status", "").rpartition(" ")[2] in _ABSENT:
                continue
            name, version = fields["Package"], fields["Version"]
            source = re.fullmatch(r"(\S+)(?: \((\S+)\))?", fields.get("Source", name))
            origin = (source[1], source[2] or version) if source else (name, version)
            yield _os_package("deb", name, version, origin, fields.get("Architecture", ""), release)


def _of_apk(root: Path) -> Iterator[Component]:
    database = root / "lib/apk/db/installed"
    if not database.is_file():
        return
    for paragraph in database.read_text(errors="replace").strip().split("\n\n"):
        fields = dict(line.split(":", 1) for line in paragraph.splitlines() if line[1:2] == ":")
        name, version = fields["P"], fields["V"]
        origin = (fields.get("o", name), version)
        yield _os_package("apk", name, version, origin, fields.get("A", ""), _os_release(root))


def _os_package(
    kind: str, name: str, version: str, origin: tuple[str, str], architecture: str, release: dict[str, str]
) -> Component:
    """Return a package of the operating system. Advisories are about its source package, `upstream`."""
    distro = release.get("ID", "linux")
    qualifiers = {"arch": architecture, "distro": f"{distro}-{release.get('VERSION_ID', '')}"}
    if origin != (name, version):
        qualifiers["upstream"] = "@".join(origin)
    return _component(name, version, PackageURL(kind, distro, name, version, qualifiers))


def _os_release(root: Path) -> dict[str, str]:
    for file in (root / "etc/os-release", root / "usr/lib/os-release"):
        if file.is_file():
            lines = (line.partition("=") for line in file.read_text().splitlines())
            return {name: value.strip("\"'") for name, _, value in lines}
    return {}


# --- Python -----------------------------------------------------------------------------------------------------------


def _of_python(root: Path) -> Iterator[Component]:
    sites = [str(path) for pattern in _SITES for path in sorted(root.glob(pattern))]
    for distribution in distributions(path=sites):
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"]).lower()
        yield _component(name, distribution.version, PackageURL("pypi", None, name, distribution.version))


def _interpreters(root: Path) -> Iterator[Component]:
    """Yield the interpreter of the official Python images, which no package manager knows."""
    for header in root.glob("usr/local/include/python3*/patchlevel.h"):
        if found := re.search(r'^#define PY_VERSION\s+"(.+)"', header.read_text(), re.MULTILINE):
            cpe = f"cpe:2.3:a:python:python:{found[1]}:*:*:*:*:*:*:*"
            yield _component("python", found[1], PackageURL("generic", None, "python", found[1]), cpe)


def _component(name: str, version: str, purl: PackageURL, cpe: str | None = None) -> Component:
    return Component(name=name, version=version, purl=purl, bom_ref=str(purl), cpe=cpe)


if __name__ == "__main__":
    sys.stdout.write(JsonV1Dot6(bill(Path("/"))).output_as_string(indent=2) + "\n")
