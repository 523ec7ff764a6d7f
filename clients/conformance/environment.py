"""The environment of scenarios: a real service, recorders in front of it, and a gateway for HTTP transports."""

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
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from clients.conformance.recorder import Recorder, RecordingServer
from clients.conformance.scenarios import Json, Scenario
from clients.own_service import environment_without_settings, own_service

_START_SECONDS: Final = 20.0
_OTHER_HOST: Final = "0.0.0.0"  # noqa: S104 - only during two scenarios
"""Connects to this host, but is not a loopback address."""


@dataclass(frozen=True)
class Certificates:
    """Server certificates of two authorities, of which clients trust one.

    Attributes:
        trusted: the file of the trusted authority's certificate.
        client: the files of the key and certificate chain of a client, from the trusted authority.
        keys: by authority, `trusted` or `untrusted`, the files of the server's key and certificate chain.
    """

    trusted: Path
    client: tuple[Path, Path]
    keys: dict[str, tuple[Path, Path]]

    @classmethod
    def create(cls, folder: Path) -> "Certificates":
        """Create new authorities and certificates in a folder."""
        keys: dict[str, tuple[Path, Path]] = {}
        trusted = folder / "authority.pem"
        client = folder / "client.key", folder / "client.pem"
        for name in ("trusted", "untrusted"):
            authority = trustme.CA()
            if name == "trusted":
                authority.cert_pem.write_to_path(str(trusted))
                _write(authority.issue_cert("client.example"), *client)
            keys[name] = (folder / f"{name}.key", folder / f"{name}.pem")
            _write(authority.issue_cert("localhost", "127.0.0.1"), *keys[name])
        return cls(trusted, client, keys)


class ScenarioEnvironment:
    """A service, and the recorders and gateway in front of it.

    Attributes:
        target: the address of the service itself.
    """

    def __init__(self, folder: Path, closers: ExitStack) -> None:
        self._folder = folder
        self._closers = closers
        self.target = closers.enter_context(own_service())
        self._service = closers.enter_context(grpc.insecure_channel(self.target))
        self._certificates = Certificates.create(folder)
        self._gateway: tuple[RecordingServer, str] | None = None

    def recorder(self, scenario: Scenario) -> Recorder:
        """Create a recorder that injects the faults of a scenario."""
        return Recorder(self._service, scenario.faults)

    def address(self, scenario: Scenario, recorder: Recorder, transport: str) -> Json:
        """Start the server of a scenario; return the connection parameters of its client."""
        connect = dict(scenario.connect)
        if scenario.tls:
            connect["tls"] = str(self._certificates.trusted)
        if scenario.tls == "mutual":
            key, chain = self._certificates.client
            connect |= {"certificate": str(chain), "key": str(key)}
        connect["target"] = self._target(scenario, recorder, transport)
        return connect

    def _target(self, scenario: Scenario, recorder: Recorder, transport: str) -> str:
        web = transport != "grpc"
        match scenario.at:
            case "service" if web:
                return f"http://{self._through_gateway(recorder)}"
            case "other host" if web:
                return f"http://{_OTHER_HOST}:{self._through_gateway(recorder).rpartition(':')[2]}"
            case "other host":
                server = RecordingServer(self._service)
                server.recorder = recorder
                return f"{_OTHER_HOST}:{self._closers.enter_context(server.serving(host=_OTHER_HOST))}"
            case "service":
                server = RecordingServer(self._service)
                server.recorder = recorder
                is_mutual = scenario.tls == "mutual"
                keys = self._certificates.keys.get("trusted" if is_mutual else scenario.tls)
                clients = self._certificates.trusted if is_mutual else None
                host = "localhost" if scenario.tls else "127.0.0.1"
                return f"{host}:{self._closers.enter_context(server.serving(tls=keys, clients=clients))}"
            case "closed port":
                address = f"127.0.0.1:{self._closers.enter_context(_closed_port())}"
                return f"http://{address}" if web else address
            case "other service":
                return f"127.0.0.1:{self._closers.enter_context(_other_service())}"
            case address:
                return address

    def _through_gateway(self, recorder: Recorder) -> str:
        """Return the address of the only gateway; its calls go to the recorder of the newest scenario."""
        if self._gateway is None:
            server = RecordingServer(self._service)
            port = self._closers.enter_context(server.serving())
            self._gateway = server, self._closers.enter_context(_gateway_to(f"127.0.0.1:{port}", self._folder))
        server, address = self._gateway
        server.recorder = recorder
        return address


def _write(certificate: trustme.LeafCert, key: Path, chain: Path) -> None:
    # Java reads only this format.
    key.write_bytes(
        load_pem_private_key(certificate.private_key_pem.bytes(), None).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
    )
    for blob in certificate.cert_chain_pems:
        blob.write_to_path(str(chain), append=True)


@contextmanager
def scenario_environment(folder: Path) -> Iterator[ScenarioEnvironment]:
    """Run an environment for the duration of the block."""
    with ExitStack() as closers:
        yield ScenarioEnvironment(folder, closers)


@contextmanager
def _closed_port() -> Iterator[int]:
    """Reserve a port without listening on it."""
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        yield reserved.getsockname()[1]


@contextmanager
def _other_service() -> Iterator[int]:
    """Run a gRPC server without the game service."""
    server = grpc.server(futures.ThreadPoolExecutor(1))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


@contextmanager
def _gateway_to(service: str, folder: Path) -> Iterator[str]:
    """Run Envoy with the project's own configuration; yield its address."""
    with _closed_port() as port, _closed_port() as admin:
        pass
    files, address = folder / "gateway", f"127.0.0.1:{port}"
    command = [sys.executable, "-m", "service", "gateway", str(files), f"--service={service}"]
    subprocess.run(  # noqa: S603 - our own command
        [*command, f"--port={port}", f"--admin=127.0.0.1:{admin}"],
        check=True,
        stdout=subprocess.DEVNULL,
        env=environment_without_settings(),
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
        while not _is_serving(address):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the gateway did not start:\n{(folder / 'envoy.log').read_text()}")
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait()


def _is_serving(address: str) -> bool:
    connection = http.client.HTTPConnection(address, timeout=1.0)
    try:
        connection.request("GET", "/v1/gameKinds")
        return connection.getresponse().status == http.HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
