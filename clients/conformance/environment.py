"""What scenarios happen in: a real service, its recorder in front of it, a gateway where the way to it is HTTP."""

import http.client
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent import futures
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc
import trustme

from clients.conformance.recorder import Desk, Recorder
from clients.conformance.scenarios import Json, Scenario
from clients.own_service import own_service, plain_environment

_START_SECONDS: Final = 20.0


@dataclass(frozen=True)
class Authorities:
    """Who signs the certificates of servers: one whom clients are told to trust, and one whom nobody trusts.

    Attributes:
        trusted: the file of the certificate of the one to trust.
        keys: of each server, the files of its key and its certificate chain.
    """

    trusted: Path
    keys: dict[str, tuple[Path, Path]]

    @classmethod
    def made_in(cls, folder: Path) -> "Authorities":
        """Makes them anew."""
        keys: dict[str, tuple[Path, Path]] = {}
        trusted = folder / "authority.pem"
        for name in ("trusted", "untrusted"):
            authority = trustme.CA()
            if name == "trusted":
                authority.cert_pem.write_to_path(str(trusted))
            server = authority.issue_cert("localhost", "127.0.0.1")
            keys[name] = (folder / f"{name}.key", folder / f"{name}.pem")
            server.private_key_pem.write_to_path(str(keys[name][0]))
            for blob in server.cert_chain_pems:
                blob.write_to_path(str(keys[name][1]), append=True)
        return cls(trusted, keys)


class World:
    """A service, and as many addresses in front of it as scenarios need.

    Attributes:
        target: the address of the service itself.
    """

    def __init__(self, folder: Path, closers: ExitStack) -> None:
        self._folder = folder
        self._closers = closers
        self.target = closers.enter_context(own_service())
        self._service = closers.enter_context(grpc.insecure_channel(self.target))
        self._authorities = Authorities.made_in(folder)
        self._gateway: tuple[Desk, str] | None = None

    def recorder(self, scenario: Scenario) -> Recorder:
        """A recorder that makes the scenario's trouble."""
        return Recorder(self._service, scenario.troubles)

    def address(self, scenario: Scenario, recorder: Recorder, transport: str) -> Json:
        """Opens the address at which a client is to call; returns how it connects."""
        connect = dict(scenario.connect)
        if scenario.tls:
            connect["tls"] = str(self._authorities.trusted)
        connect["target"] = self._target(scenario, recorder, transport)
        return connect

    def _target(self, scenario: Scenario, recorder: Recorder, transport: str) -> str:
        web = transport != "grpc"
        match scenario.at:
            case "service" if web:
                return f"http://{self._through_gateway(recorder)}"
            case "service":
                desk = Desk(self._service)
                desk.recorder = recorder
                keys = self._authorities.keys.get(scenario.tls)
                host = "localhost" if scenario.tls else "127.0.0.1"
                return f"{host}:{self._closers.enter_context(desk.serving(tls=keys))}"
            case "nobody":
                place = f"127.0.0.1:{self._closers.enter_context(_kept_port())}"
                return f"http://{place}" if web else place
            case "stranger":
                return f"127.0.0.1:{self._closers.enter_context(_stranger())}"
            case address:
                return address

    def _through_gateway(self, recorder: Recorder) -> str:
        """The gateway's address; there is one, whose calls go to the recorder of the newest scenario."""
        if self._gateway is None:
            desk = Desk(self._service)
            port = self._closers.enter_context(desk.serving())
            self._gateway = desk, self._closers.enter_context(_gateway_to(f"127.0.0.1:{port}", self._folder))
        desk, address = self._gateway
        desk.recorder = recorder
        return address


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """Makes a world for the length of the block."""
    with ExitStack() as closers:
        yield World(folder, closers)


@contextmanager
def _kept_port() -> Iterator[int]:
    """Keeps a port on which nobody listens."""
    with socket.socket() as keeper:
        keeper.bind(("127.0.0.1", 0))
        yield keeper.getsockname()[1]


@contextmanager
def _stranger() -> Iterator[int]:
    """Runs a gRPC server that knows no games."""
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


@contextmanager
def _gateway_to(service: str, folder: Path) -> Iterator[str]:
    """Runs Envoy with the project's own configuration; provides its address."""
    with _kept_port() as port, _kept_port() as admin:
        pass
    files, address = folder / "gateway", f"127.0.0.1:{port}"
    command = [sys.executable, "-m", "service", "gateway", str(files), f"--service={service}"]
    subprocess.run(  # noqa: S603 - a command of our own making
        [*command, f"--port={port}", f"--admin=127.0.0.1:{admin}"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=plain_environment(),
    )
    envoy = Path(sys.executable).with_name("envoy")
    with (folder / "envoy.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603 - as above
            [envoy, "-c", str(files / "envoy.yaml"), "--concurrency", "1", "--use-dynamic-base-id"],
            stderr=log,
            env=dict(os.environ),
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not _answers(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the gateway did not start:\n{(folder / 'envoy.log').read_text()}")
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


def _answers(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=1.0)
    try:
        connection.request("GET", "/v1/gameKinds")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
