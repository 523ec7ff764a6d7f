"""The SBOM lists the packages in a file system, each once, with its version and its source package."""

import json
from pathlib import Path

from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tools.image.sbom import bill, packages

DPKG = """\
Package: libssl3
Status: install ok installed
Architecture: amd64
Source: openssl
Version: 3.0.17-1~deb12u2
Description: library
 Version: this line continues the description

Package: libattr1
Status: install ok unpacked
Architecture: amd64
Source: attr (1:2.5.1-4)
Version: 1:2.5.1-4+b1

Package: removed
Status: deinstall ok config-files
Architecture: amd64
Version: 1.0

Package: dash
Status: install ok installed
Architecture: amd64
Version: 0.5.12-2
"""

APK = """\
C:Q1abc=
P:libcrypto3
V:3.5.4-r0
A:x86_64
o:openssl

P:musl
V:1.2.5-r20
A:x86_64
"""


def write(root: Path, name: str, text: str) -> None:
    """Write a file below a root directory."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def purls(root: Path) -> list[str]:
    """Return the package URLs of the packages below a root directory."""
    return [str(component.purl) for component in packages(root)]


def test_packages_of_dpkg_have_their_release_and_source(tmp_path: Path) -> None:
    write(tmp_path, "etc/os-release", 'ID=debian\nVERSION_ID="12"\n')
    write(tmp_path, "var/lib/dpkg/status", DPKG)

    assert purls(tmp_path) == [
        "pkg:deb/debian/dash@0.5.12-2?arch=amd64&distro=debian-12",
        "pkg:deb/debian/libattr1@1:2.5.1-4%2Bb1?arch=amd64&distro=debian-12&upstream=attr%401:2.5.1-4",
        "pkg:deb/debian/libssl3@3.0.17-1~deb12u2?arch=amd64&distro=debian-12&upstream=openssl%403.0.17-1~deb12u2",
    ]


def test_packages_of_an_image_without_dpkg_are_listed(tmp_path: Path) -> None:
    write(tmp_path, "usr/lib/os-release", "ID=debian\nVERSION_ID=13\n")
    write(tmp_path, "var/lib/dpkg/status.d/tzdata", "Package: tzdata\nVersion: 2026a-0\nArchitecture: all\n")
    write(tmp_path, "var/lib/dpkg/status.d/tzdata.md5sums", "Package: none\nVersion: 1\n")

    assert purls(tmp_path) == ["pkg:deb/debian/tzdata@2026a-0?arch=all&distro=debian-13"]


def test_packages_of_apk_have_their_release_and_source(tmp_path: Path) -> None:
    write(tmp_path, "etc/os-release", "ID=alpine\nVERSION_ID=3.22.1\n")
    write(tmp_path, "lib/apk/db/installed", APK)

    assert purls(tmp_path) == [
        "pkg:apk/alpine/libcrypto3@3.5.4-r0?arch=x86_64&distro=alpine-3.22.1&upstream=openssl%403.5.4-r0",
        "pkg:apk/alpine/musl@1.2.5-r20?arch=x86_64&distro=alpine-3.22.1",
    ]


def test_python_packages_and_an_interpreter_without_a_package_are_listed(tmp_path: Path) -> None:
    for site, name in (("opt/sodafountain/lib/python3.13", "Foo_Bar"), ("usr/local/lib/python3.13", "baz")):
        metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n"
        write(tmp_path, f"{site}/site-packages/{name}-1.2.dist-info/METADATA", metadata)
    write(tmp_path, "usr/local/include/python3.13/patchlevel.h", '#define PY_VERSION      "3.13.9"\n')

    assert purls(tmp_path) == ["pkg:generic/python@3.13.9", "pkg:pypi/baz@1.2", "pkg:pypi/foo-bar@1.2"]
    assert packages(tmp_path)[0].cpe == "cpe:2.3:a:python:python:3.13.9:*:*:*:*:*:*:*"


def test_the_sbom_is_valid_and_says_what_it_lacks(tmp_path: Path) -> None:
    def properties() -> list[str]:
        text = JsonV1Dot6(bill(tmp_path)).output_as_string()
        assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
        return [item["name"] for item in json.loads(text)["metadata"].get("properties", ())]

    assert properties() == ["sodafountain:missing"]
    write(tmp_path, "var/lib/dpkg/status", DPKG)
    assert properties() == []
