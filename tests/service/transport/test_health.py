"""Health and reflection: readiness, liveness and the store are separate, and tools can discover the services."""

import os
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.game_clients import SECONDS, expect_error, new_game
from tests.support.raw_calls import unfinished
from tests.support.retrying_client import reason_of
from tests.support.service import Service, channel_to, health, running
from tests.support.store_servers import Server, eventually

READINESS: Final = ("", "sodafountain.v1.GameService")
ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}


class Watch:
    """A stream of the health of a service."""

    def __init__(self, channel: grpc.Channel, name: str) -> None:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        self._stream = stub.Watch(health_pb2.HealthCheckRequest(service=name), timeout=SECONDS)

    def next(self) -> str:
        """Wait for the next status; return an empty string at the end of the stream."""
        for answer in self._stream:
            return health_pb2.HealthCheckResponse.ServingStatus.Name(answer.status)
        return ""


REFLECTION = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
every_reflection = pytest.mark.parametrize("reflection", REFLECTION)


def describe(channel: grpc.Channel, reflection: str, *requests: reflection_pb2.ServerReflectionRequest) -> list[Any]:
    """Call reflection in one of its versions, whose messages have the same fields."""
    call = channel.stream_stream(
        f"/{reflection}/ServerReflectionInfo",
        reflection_pb2.ServerReflectionRequest.SerializeToString,
        reflection_pb2.ServerReflectionResponse.FromString,
    )
    return list(call(iter(requests), timeout=SECONDS))


@pytest.fixture
def channel(service: Service) -> Iterator[grpc.Channel]:
    """A connection to the shared service."""
    with channel_to(service.target) as opened:
        yield opened


# --- A healthy service ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*READINESS, "liveness"])
def test_a_running_service_is_ready_and_alive(channel: grpc.Channel, name: str) -> None:
    assert health(channel, name) == "SERVING"


def test_the_store_soon_reports_serving(channel: grpc.Channel) -> None:
    eventually(lambda: health(channel, "store") == "SERVING")


@pytest.mark.parametrize("name", ["game", "sodafountain.v1", "Store", "sodafountain.v1.gameservice"])
def test_an_unknown_name_is_not_found(channel: grpc.Channel, name: str) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        health(channel, name)

    assert caught.value.code() == grpc.StatusCode.NOT_FOUND


@every_reflection
def test_reflection_lists_the_services(channel: grpc.Channel, reflection: str) -> None:
    (answer,) = describe(channel, reflection, reflection_pb2.ServerReflectionRequest(list_services=""))

    assert {service.name for service in answer.list_services_response.service} == {
        "sodafountain.v1.GameService",
        "grpc.health.v1.Health",
        *REFLECTION,
    }


@every_reflection
@pytest.mark.parametrize("name", ["sodafountain.v1.GameService", "grpc.health.v1.Health", *REFLECTION])
def test_reflection_describes_every_service_that_it_lists(channel: grpc.Channel, reflection: str, name: str) -> None:
    (answer,) = describe(channel, reflection, reflection_pb2.ServerReflectionRequest(file_containing_symbol=name))

    files = map(FileDescriptorProto.FromString, answer.file_descriptor_response.file_descriptor_proto)
    assert name in {f"{file.package}.{service.name}" for file in files for service in file.service}


def test_reflection_describes_the_contract(channel: grpc.Channel) -> None:
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="sodafountain.v1.GameService")
    (answer,) = describe(channel, REFLECTION[0], request)

    assert pb.DESCRIPTOR.serialized_pb in answer.file_descriptor_response.file_descriptor_proto


@every_reflection
def test_reflection_reports_unknown_symbols(channel: grpc.Channel, reflection: str) -> None:
    (answer,) = describe(channel, reflection, reflection_pb2.ServerReflectionRequest(file_containing_symbol="x.Y"))

    assert answer.error_response.error_code == grpc.StatusCode.NOT_FOUND.value[0]


def test_the_gateway_passes_reflection_on(service: Service, gateway_of: Callable[[str], str]) -> None:
    with channel_to(gateway_of(service.target)) as channel:
        (answer,) = describe(channel, REFLECTION[0], reflection_pb2.ServerReflectionRequest(list_services=""))

    assert len(answer.list_services_response.service) == 4


# --- Open streams -----------------------------------------------------------------------------------------------------


@contextmanager
def held_open(channel: grpc.Channel, streams: int) -> Iterator[None]:
    """Keep reflection streams open without a request."""
    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    with unfinished() as requests:
        calls = [stub.ServerReflectionInfo(requests()) for _ in range(streams)]
        try:
            yield
        finally:
            for call in calls:
                call.cancel()


def test_open_reflection_streams_do_not_block_games(channel: grpc.Channel) -> None:
    with held_open(channel, 50):  # on one connection, whose calls the server accepts in order
        assert new_game(GameServiceStub(channel)).spectator.state().version == 1


def test_open_health_watches_do_not_block_games(channel: grpc.Channel) -> None:
    watches = [Watch(channel, name) for name in (*READINESS, "liveness") * 10]
    assert {watch.next() for watch in watches} == {"SERVING"}

    assert new_game(GameServiceStub(channel)).spectator.state().version == 1


# --- Drain ------------------------------------------------------------------------------------------------------------


@pytest.mark.one_store
def test_a_drain_ends_readiness_and_health_watches(store_url: str, tmp_path: Path) -> None:
    with (
        running(tmp_path, "--store-url", store_url, "--drain=60s", env=ENV) as service,
        channel_to(service.target) as channel,
    ):
        ready, alive = Watch(channel, ""), Watch(channel, "liveness")
        assert (ready.next(), alive.next()) == ("SERVING", "SERVING")

        service.process.terminate()

        assert (ready.next(), ready.next()) == ("NOT_SERVING", "")
        assert alive.next() == ""
        assert service.process.wait(SECONDS) == 0  # much less than the drain limit of a minute


# --- The store fails --------------------------------------------------------------------------------------------------


class Alone(NamedTuple):
    """A service with a store of its own."""

    service: Service
    store: Server
    channel: grpc.Channel

    @property
    def stub(self) -> GameServiceStub:
        return GameServiceStub(self.channel)


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alone]:
    """A service whose store the tests may stop."""
    folder: Path = tmp_path_factory.mktemp("alone")
    with (
        Server(folder / "store") as store,
        running(folder / "service", "--store-url", store.url, env=ENV) as service,
        channel_to(service.target) as channel,
    ):
        yield Alone(service, store, channel)


@contextmanager
def killed(store: Server) -> Iterator[None]:
    """Kill a store during the block."""
    store.kill()
    try:
        yield
    finally:
        store.start()


def test_the_health_of_the_store_reports_a_hanging_store(isolated: Alone) -> None:
    eventually(lambda: health(isolated.channel, "store") == "SERVING")

    with isolated.store.frozen():
        eventually(lambda: health(isolated.channel, "store") == "NOT_SERVING")

    eventually(lambda: health(isolated.channel, "store") == "SERVING")


def test_a_service_without_its_store_is_ready_and_alive(isolated: Alone) -> None:
    game = new_game(isolated.stub)

    with killed(isolated.store):
        eventually(lambda: health(isolated.channel, "store") == "NOT_SERVING")
        assert [health(isolated.channel, name) for name in (*READINESS, "liveness")] == ["SERVING"] * 3
        error = expect_error(lambda: isolated.stub.GetGame(pb.GetGameRequest(game_id=game.game_id), timeout=1))

    assert (error.code.name, error.reason, error.retry) == ("UNAVAILABLE", "STORE_UNAVAILABLE", 0.2)
    eventually(lambda: health(isolated.channel, "store") == "SERVING")
    assert new_game(isolated.stub).spectator.state().version == 1


def test_the_loss_and_return_of_the_store_are_logged_once(isolated: Alone) -> None:
    eventually(lambda: health(isolated.channel, "store") == "SERVING")
    before = len(isolated.service.logs())

    with killed(isolated.store):
        eventually(lambda: health(isolated.channel, "store") == "NOT_SERVING")
    eventually(lambda: health(isolated.channel, "store") == "SERVING")

    events = [line["event"] for line in isolated.service.logs()[before:]]
    assert [event for event in events if event.startswith("store_")] == ["store_away", "store_back"]


def test_a_service_starts_without_its_store_and_connects_later(tmp_path: Path) -> None:
    with Server(tmp_path / "store") as store:
        store.kill()
        with (
            running(tmp_path / "service", "--store-url", store.url, env=ENV) as service,
            channel_to(service.target) as channel,
        ):
            assert health(channel, "") == "SERVING"
            eventually(lambda: health(channel, "store") == "NOT_SERVING")

            store.start()

            eventually(lambda: health(channel, "store") == "SERVING")
            assert new_game(GameServiceStub(channel)).spectator.state().version == 1


@pytest.fixture
def embedded(tmp_path: Path) -> Iterator[Service]:
    """A service with the embedded store."""
    with running(tmp_path / "service", f"--data-dir={tmp_path / 'data'}") as service:
        yield service


def pid_of_the_store(data: Path) -> int:
    """Return the process id of an embedded store."""
    return int((data / "valkey" / "valkey.pid").read_text() or 0)


def test_a_killed_embedded_store_is_restarted(embedded: Service, tmp_path: Path) -> None:
    data = tmp_path / "data"
    killed_store = pid_of_the_store(data)
    with channel_to(embedded.target) as channel:
        os.kill(killed_store, signal.SIGKILL)

        eventually(lambda: pid_of_the_store(data) != killed_store)
        eventually(lambda: creates_a_game(channel))  # health may still show the store that was killed
        eventually(lambda: health(channel, "store") == "SERVING")


def creates_a_game(channel: grpc.Channel) -> bool:
    """Return whether a new game can be created and read; not while the store starts."""
    try:
        return new_game(GameServiceStub(channel)).spectator.state().version == 1
    except grpc.RpcError as error:
        if reason_of(error) in {"STORE_UNAVAILABLE", "UNCONFIRMED"}:
            return False
        raise


def test_an_embedded_store_without_its_directory_is_not_serving(embedded: Service, tmp_path: Path) -> None:
    killed_store = pid_of_the_store(tmp_path / "data")
    with channel_to(embedded.target) as channel:
        shutil.rmtree(tmp_path / "data")
        os.kill(killed_store, signal.SIGKILL)

        eventually(lambda: health(channel, "store") == "NOT_SERVING")
        assert health(channel, "") == "SERVING"


def test_a_watch_of_the_store_reports_every_change(isolated: Alone) -> None:
    eventually(lambda: health(isolated.channel, "store") == "SERVING")
    watch = Watch(isolated.channel, "store")
    assert watch.next() == "SERVING"

    with killed(isolated.store):
        assert watch.next() == "NOT_SERVING"
    assert watch.next() == "SERVING"
