"""The libraries: how each one is built, installed as by its users, and driven."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

Command: TypeAlias = Sequence[str]

ROOT: Final = Path(__file__).parents[2]
BUILD: Final = ROOT / "build" / "clients"
"""The folder in which packages are built and installed for their drivers."""


@dataclass(frozen=True, kw_only=True)
class Library:
    """A client library.

    Attributes:
        transports: the supported transports: `grpc`, `grpc-web` or `rest`.
        build: the commands that build the package and install it for its driver, run in the project's root.
        driver: the command of the driver; the path of the plan is appended.
        bot: the command of the example bot, which plays a game of any kind; flags are appended.
        agent: the prefix of its user agent over gRPC; empty if it has none.
    """

    transports: Sequence[str] = ("grpc",)
    build: Sequence[Command] = ()
    driver: Command
    bot: Command = ()
    agent: str = ""


_PYTHON: Final = BUILD / "python"
_SOURCE: Final = "clients/python"
_PIP: Final = ("--quiet", "--disable-pip-version-check")
_WHEEL: Final[Sequence[Command]] = (
    (sys.executable, "-m", "pip", "wheel", *_PIP, "--no-deps", "--no-build-isolation", f"-w{_PYTHON}/dist", _SOURCE),
    (sys.executable, "-m", "venv", "--clear", f"{_PYTHON}/venv"),
    (f"{_PYTHON}/venv/bin/pip", "install", *_PIP, f"--find-links={_PYTHON}/dist", "sodafountain==0.1.0"),
)

# Optimized for a fast start.
_JAVA: Final = ("java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
_MVN: Final = ("mvn", "-B", "-q", "-ntp")
_JARS: Final = "clients/java/conformance/target/lib/*"

# Without paths in its output, the compiler reuses its cache for the source tree and for the package.
_GO: Final = ("env", "GOFLAGS=-trimpath", "go")
_NPM: Final = ("npm", "--silent", "--prefix", "clients/typescript")

# The slowest builds come first.
LIBRARIES: Final[Mapping[str, Library]] = {
    "typescript": Library(
        transports=("grpc", "grpc-web"),
        build=(
            ("make", "--silent", "clients/typescript/node_modules/.package-lock.json"),
            (*_NPM, "run", "check"),
            (*_NPM, "run", "pack"),
            (*_NPM, "test"),
            (*_NPM, "run", "driver"),
        ),
        driver=("node", "clients/typescript/conformance/build/conformance/driver.js"),
        bot=("node", "clients/typescript/conformance/build/examples/bot.js"),
        agent="sodafountain-typescript/",
    ),
    "go": Library(
        build=(
            ("clients/go/tools/check.sh",),
            (*_GO, "-C", "clients/go", "test", "./..."),
            (*_GO, "-C", "clients/go/tools", "run", "./pack", "..", f"{BUILD}/go/proxy"),
            ("clients/go/conformance/install.sh", f"{BUILD}/go/proxy", f"{BUILD}/go/driver"),
        ),
        driver=(f"{BUILD}/go/driver/driver",),
        bot=(f"{BUILD}/go/driver/bot",),
        agent="sodafountain-go/",
    ),
    "java": Library(
        build=(
            # Checks the style, compiles, tests, and installs into the local repository.
            (*_MVN, "-f", "clients/java", "spotless:check", "install"),
            (*_MVN, "-f", "clients/java/conformance", "process-classes"),
            (*_MVN, "-f", "clients/java/examples", "compile"),
        ),
        driver=(*_JAVA, "-cp", f"clients/java/conformance/target/classes:{_JARS}", "conformance.Driver"),
        bot=(*_JAVA, "-cp", f"clients/java/examples/target/classes:{_JARS}", "Bot"),
        agent="sodafountain-java/",
    ),
    "python": Library(
        build=_WHEEL,
        driver=(f"{_PYTHON}/venv/bin/python", "-P", f"{_SOURCE}/conformance/driver.py", "sync"),
        bot=(f"{_PYTHON}/venv/bin/python", "-P", f"{_SOURCE}/examples/bot.py"),
        agent="sodafountain-python/",
    ),
    "python-asyncio": Library(
        build=_WHEEL,
        driver=(f"{_PYTHON}/venv/bin/python", "-P", f"{_SOURCE}/conformance/driver.py", "asyncio"),
        agent="sodafountain-python/",
    ),
    "curl": Library(transports=("rest",), driver=(sys.executable, "-m", "clients.conformance.curl")),
}
