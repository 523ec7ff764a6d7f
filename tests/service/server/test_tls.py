"""TLS: the service and the gateway serve and ask for certificates, and read them again when they change."""

import json
import shutil
import ssl
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from service.gateway import CannotRunGateway, ListenerTls, ServiceTls
from service.server.tls import TlsFiles
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.certificates import Authority
from tests.support.command import error_line, run_in_process
from tests.support.gateways import gateway_to
from tests.support.in_process import in_process_service
from tests.support.ports import free_port
from tests.support.service import channel_to, health, running
from tests.support.store_servers import eventually

SECONDS = 5.0


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path / "authority")


@contextmanager
def secure_channel(target: str, credentials: grpc.ChannelCredentials) -> Iterator[grpc.Channel]:
    port = target.rpartition(":")[2]
    with grpc.secure_channel(f"localhost:{port}", credentials, (("grpc.use_local_subchannel_pool", 1),)) as channel:
        yield channel


def kinds(channel: grpc.Channel) -> int:
    """Return how many kinds of game a service offers."""
    return len(GameServiceStub(channel).ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS).game_kinds)


def answers(target: str, credentials: grpc.ChannelCredentials) -> bool:
    """Return whether a service answers a client."""
    try:
        with secure_channel(target, credentials) as channel:
            return bool(kinds(channel))
    except grpc.RpcError as error:
        assert error.code() is grpc.StatusCode.UNAVAILABLE  # noqa: PT017 - anything else fails the test
        return False


def test_a_service_with_a_certificate_speaks_tls_only(store_url: str, authority: Authority, tmp_path: Path) -> None:
    files = TlsFiles(*authority.issue("server", "localhost"))
    other = Authority(tmp_path / "other")
    with in_process_service(store_url, tls=files) as target:
        assert answers(target, authority.credentials())
        assert not answers(target, other.credentials())
        with channel_to(target) as clear, pytest.raises(grpc.RpcError) as refused:
            kinds(clear)

    assert refused.value.code() is grpc.StatusCode.UNAVAILABLE


def test_mutual_tls_accepts_only_callers_with_a_certificate(
    store_url: str, authority: Authority, tmp_path: Path
) -> None:
    callers = Authority(tmp_path / "callers")
    client, stranger = callers.issue("client", "app"), Authority(tmp_path / "strangers").issue("client", "app")
    files = TlsFiles(*authority.issue("server", "localhost"), callers.file)
    with in_process_service(store_url, tls=files) as target:
        assert answers(target, authority.credentials(client))
        assert not answers(target, authority.credentials(stranger))
        assert not answers(target, authority.credentials())


def test_a_replaced_certificate_is_used_for_new_connections(
    store_url: str, authority: Authority, tmp_path: Path
) -> None:
    pair = authority.issue("server", "localhost")
    newer = Authority(tmp_path / "newer")
    with (
        in_process_service(store_url, tls=TlsFiles(*pair)) as target,
        secure_channel(target, authority.credentials()) as old,
    ):
        kinds(old)
        issued = newer.issue("server", "localhost")
        shutil.copy(issued.certificate, pair.certificate)  # the key does not belong to it
        assert answers(target, authority.credentials())
        shutil.copy(issued.key, pair.key)

        assert answers(target, newer.credentials())
        assert not answers(target, authority.credentials())
        kinds(old)


def test_the_command_serves_tls_and_checks_health(store_url: str, authority: Authority, tmp_path: Path) -> None:
    pair, checks = authority.issue("server", "localhost"), free_port()
    flags = (f"--tls-cert-file={pair.certificate}", f"--tls-key-file={pair.key}", f"--health-port={checks}")
    keys = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}
    with running(tmp_path / "service", "--store-url", store_url, *flags, env=keys) as service:
        target = service.target.replace("127.0.0.1", "localhost")
        assert answers(target, authority.credentials())
        with channel_to(f"127.0.0.1:{checks}") as channel:
            assert health(channel, "") == "SERVING"
            with pytest.raises(grpc.RpcError) as refused:
                kinds(channel)
        assert refused.value.code() is grpc.StatusCode.UNIMPLEMENTED
        assert run_in_process("probe", "--target", target, "--tls-ca", str(authority.file)).out == "SERVING\n"
        assert run_in_process("probe", env={"SODAFOUNTAIN_HEALTH_PORT": str(checks)}).out == "SERVING\n"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("cert",), "TLS requires both --tls-cert-file and --tls-key-file"),
        (("key",), "TLS requires both --tls-cert-file and --tls-key-file"),
        (("client-ca",), "TLS requires both --tls-cert-file and --tls-key-file"),
        (("cert", "other"), "is not valid: KEY_VALUES_MISMATCH"),
        (("cert", "empty"), "is not valid"),
    ],
)
def test_invalid_files_are_refused(authority: Authority, tmp_path: Path, names: tuple[str, ...], expected: str) -> None:
    pair, other = authority.issue("server", "localhost"), authority.issue("other", "localhost")
    empty = tmp_path / "empty"
    empty.touch()
    values = {
        "cert": ("cert", pair.certificate),
        "key": ("key", pair.key),
        "client-ca": ("client-ca", authority.file),
        "other": ("key", other.key),
        "empty": ("key", empty),
    }
    flags = [f"--tls-{flag}-file={path}" for flag, path in (values[name] for name in names)]

    assert expected in error_line("serve", "--port=0", "--data-dir", str(tmp_path / "data"), *flags)


# --- The gateway ------------------------------------------------------------------------------------------------------


def rest(gateway: str, context: ssl.SSLContext) -> int:
    """Return how many kinds of game a gateway lists."""
    port = gateway.rpartition(":")[2]
    with urllib.request.urlopen(f"https://localhost:{port}/v1/gameKinds", context=context, timeout=SECONDS) as response:
        return len(json.loads(response.read())["gameKinds"])


def test_both_directions_of_the_gateway_can_use_mutual_tls(
    store_url: str, authority: Authority, tmp_path: Path
) -> None:
    callers, gateways = Authority(tmp_path / "callers"), Authority(tmp_path / "gateways")
    service = TlsFiles(*authority.issue("service", "games.internal"), gateways.file)
    own, caller = gateways.issue("gateway", "gateway"), callers.issue("caller", "app")
    listener = ListenerTls(*authority.issue("listener", "localhost"), callers.file)
    upstream = ServiceTls(authority.file, "games.internal", *own)
    with (
        in_process_service(store_url, tls=service) as target,
        gateway_to(target, tls=listener, service_tls=upstream) as gateway,
    ):
        context = ssl.create_default_context(cafile=authority.file)
        with pytest.raises(OSError, match=r"certificate required|EOF|reset"):
            rest(gateway, context)
        context.load_cert_chain(*caller)
        eventually(lambda: rest(gateway, context))
        assert answers(gateway, authority.credentials(caller))


@pytest.mark.parametrize("wrong", ["authority", "hostname", "no certificate"])
def test_the_gateway_calls_no_service_that_it_cannot_trust(
    store_url: str, authority: Authority, tmp_path: Path, wrong: str
) -> None:
    other = Authority(tmp_path / "other")
    service = TlsFiles(*authority.issue("service", "games.internal"))
    upstream = ServiceTls(
        other.file if wrong == "authority" else authority.file,
        "other.internal" if wrong == "hostname" else "games.internal",
    )
    if wrong == "no certificate":
        service = service._replace(client_authorities=other.file)
    with (
        in_process_service(store_url, tls=service) as target,
        pytest.raises(CannotRunGateway),
        gateway_to(target, service_tls=upstream),
    ):
        pass


def test_the_gateway_uses_a_replaced_certificate(store_url: str, authority: Authority, tmp_path: Path) -> None:
    newer = Authority(tmp_path / "newer")
    pair = authority.issue("listener", "localhost")
    with in_process_service(store_url) as target, gateway_to(target, tls=ListenerTls(*pair)) as gateway:
        assert rest(gateway, ssl.create_default_context(cafile=authority.file))

        issued = newer.issue("listener", "localhost")
        for new, old in zip((issued.key, issued.certificate), (pair.key, pair.certificate), strict=True):
            new.replace(old)

        eventually(lambda: trusted(gateway, newer))
        assert not trusted(gateway, authority)


def trusted(gateway: str, authority: Authority) -> bool:
    """Return whether a client that trusts an authority can call a gateway."""
    try:
        return bool(rest(gateway, ssl.create_default_context(cafile=authority.file)))
    except OSError as error:
        assert "certificate verify failed" in str(error)  # noqa: PT017 - anything else fails the test
        return False
