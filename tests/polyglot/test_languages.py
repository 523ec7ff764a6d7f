"""Code that other languages generate from the published protos compiles, and makes a move."""

import re
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sodafountain.v1.game_service_pb2 import GetGameRequest
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import Flavor
from tests.polyglot.workshop import Workshop, require
from tests.support.service import Service, channel_to, running

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]

WorkIn = Callable[[str], Workshop]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that programs of all languages call."""
    folder = tmp_path_factory.mktemp("service")
    with running(folder, f"--data-dir={folder / 'data'}") as service:
        yield service


@pytest.fixture
def work_in(tmp_path: Path) -> WorkIn:
    """A function that returns the folder of a language."""
    return lambda language: Workshop(tmp_path, language)


def check_move(service: Service, printed: str) -> None:
    """Check that the service has the move of which a program printed the game, the version and the tap."""
    found = re.search(r"([a-z0-9]{26}) (\d+) (FLAVOR_[A-Z]+)", printed)
    assert found, printed
    game_id, version, flavor = found.groups()
    with channel_to(service.target) as channel:
        state = GameServiceStub(channel).GetGame(GetGameRequest(game_id=game_id), timeout=10).state
    assert state.version == int(version) == 2
    taps = [tap.flavor for tap in state.view.soda_jerk.taps if tap.cards]
    assert taps == [Flavor.Value(flavor)]


def test_cpp_compiles_and_makes_a_move(work_in: WorkIn, service: Service) -> None:
    work = work_in("cpp")
    plugin = require("grpc_cpp_plugin")
    work.protoc("--cpp_out=generated", "--grpc_out=generated", f"--plugin=protoc-gen-grpc={plugin}")
    sources = sorted(str(file.relative_to(work.folder)) for file in work.folder.rglob("*.cc"))
    libraries = work.run("pkg-config", "--libs", "grpc++", "protobuf").split()
    work.run("g++", "-std=c++17", "-Wall", "-Igenerated", *sources, *libraries, "-o", "move")
    check_move(service, work.run(str(work.folder / "move"), service.target))


def test_rust_compiles_and_makes_a_move(work_in: WorkIn, service: Service) -> None:
    work = work_in("rust")
    require("protoc")
    check_move(service, work.run("cargo", "run", "--locked", "--quiet", "--", service.target))


def test_java_and_kotlin_compile_and_kotlin_makes_a_move(work_in: WorkIn, service: Service) -> None:
    work = work_in("kotlin")
    maven = ("mvn", "--batch-mode", "--quiet")
    work.run(*maven, "compile")
    check_move(service, work.run(*maven, "exec:java", f"-Dexec.args={service.target}"))


def test_ruby_reads_every_field_and_makes_a_move(work_in: WorkIn, service: Service) -> None:
    work = work_in("ruby")
    plugin = require("grpc_ruby_plugin")
    work.protoc("--ruby_out=generated", "--grpc_out=generated", f"--plugin=protoc-gen-grpc={plugin}")
    work.run("ruby", "-W", "-Igenerated", "load.rb", "generated")
    check_move(service, work.run("ruby", "-Igenerated", "move.rb", service.target))


def test_php_loads_every_class_and_makes_a_move(work_in: WorkIn, service: Service) -> None:
    work = work_in("php")
    work.protoc("--php_out=generated")
    work.run("php", "load.php")
    check_move(service, work.run("php", "move.php", service.target))


def test_go_compiles(work_in: WorkIn) -> None:
    work = work_in("go")
    plugins = [work.run("go", "tool", "-n", tool) for tool in ("protoc-gen-go", "protoc-gen-go-grpc")]
    module = "module=sodafountain.internal/sodafountain"
    work.protoc(
        *(f"--plugin={plugin}" for plugin in plugins),
        *("--go_out=generated", f"--go_opt={module}"),
        *("--go-grpc_out=generated", f"--go-grpc_opt={module}"),
        imported=False,
    )
    work.run("go", "vet", "./...")


def test_typescript_compiles(work_in: WorkIn) -> None:
    work = work_in("typescript")
    work.run("npm", "ci", "--silent")
    plugin = "node_modules/.bin/protoc-gen-ts_proto"
    options = "outputServices=grpc-js,esModuleInterop=true"
    work.protoc(f"--plugin={plugin}", f"--ts_proto_opt={options}", "--ts_proto_out=generated", imported=False)
    work.run("npm", "exec", "--", "tsc")


def test_python_imports_what_it_generates(work_in: WorkIn) -> None:
    work = work_in("python")
    outputs = ("--python_out=generated", "--pyi_out=generated", "--grpc_python_out=generated")
    work.run("python", "-m", "grpc_tools.protoc", "-I", "../protos", "-I", "../third_party", *outputs, *work.protos)
    # Without `site`, so that the client library in the environment is not found instead.
    path = ["generated", sysconfig.get_path("purelib")]
    imports = f"import sys; sys.path += {path}; import sodafountain.v1.game_service_pb2_grpc as module"
    printed = work.run("python", "-I", "-S", "-c", f"{imports}; print(module.__file__)")
    assert (work.folder / printed).is_relative_to(work.folder / "generated")


def test_csharp_is_generated_and_parses(work_in: WorkIn) -> None:
    work = work_in("csharp")
    work.protoc("--csharp_out=generated", imported=False)
    files = sorted(f"generated/{file.name}" for file in (work.folder / "generated").glob("*.cs"))
    assert len(files) == len(work.protos)
    for file in files:
        work.run("mcs", "--parse", file)


def test_objective_c_is_generated(work_in: WorkIn) -> None:
    work = work_in("objective-c")
    work.protoc("--objc_out=generated", imported=False)
    assert len(list(work.folder.rglob("*.m"))) == len(work.protos)
