"""The public API: identical for sync and asyncio, free of secrets in reprs, without side effects on import."""

import inspect
import subprocess
import sys

import pytest

import sodafountain
import sodafountain.aio
from sodafountain._calls import Call
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import GAME_ID, HOST_TOKEN, SEAT_TOKENS, SPECTATOR_TOKEN, ScriptedService

SYNC_CLASSES = {name: getattr(sodafountain, name) for name in sodafountain.aio.__all__ if name != "connect"}


def public_methods(kind: type) -> dict[str, inspect.Signature]:
    """Return the public methods of a class, coroutines included, with their signatures."""
    return {
        name: inspect.signature(member).replace(return_annotation=inspect.Signature.empty)
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }


def test_every_public_name_exists() -> None:
    for module in (sodafountain, sodafountain.aio):
        assert [name for name in module.__all__ if not hasattr(module, name)] == []


@pytest.mark.parametrize("name", SYNC_CLASSES)
def test_the_asyncio_classes_have_the_methods_of_the_sync_classes(name: str) -> None:
    assert public_methods(getattr(sodafountain.aio, name)) == public_methods(SYNC_CLASSES[name])


def test_both_connect_functions_have_the_same_parameters() -> None:
    connect, aio_connect = inspect.signature(sodafountain.connect), inspect.signature(sodafountain.aio.connect)
    assert connect.parameters == aio_connect.parameters


@pytest.mark.parametrize("module", [sodafountain, sodafountain.aio])
def test_every_public_name_has_a_docstring(module: object) -> None:
    for name in module.__all__:  # type: ignore[attr-defined] # both modules define it
        member = getattr(module, name)
        parts = dict(inspect.getmembers(member)) if inspect.isclass(member) else {}
        public = {part: each for part, each in parts.items() if not part.startswith("_") and hasattr(each, "__doc__")}
        assert member.__doc__, name
        assert [part for part, each in public.items() if not each.__doc__ and part != "args"] == [], name


def test_no_repr_contains_a_secret(connect: Connect, service: ScriptedService) -> None:
    client = connect(service.target, api_key="secret-key")
    game = client.new_game(SodaJerkOptions(), 3)
    objects = [client, game, game.host, *game.seats, client.seat(GAME_ID, "secret"), client.spectator(GAME_ID)]
    reprs = [repr(each) for each in objects]
    for secret in (HOST_TOKEN, *SEAT_TOKENS, SPECTATOR_TOKEN, "secret-key", "secret"):
        assert secret not in " ".join(reprs)
    assert reprs == [
        f"<Client of {service.target}>",
        f"<Game {GAME_ID}>",
        f"<Host of game {GAME_ID}>",
        f"<Seat 0 of game {GAME_ID}>",
        f"<Seat 1 of game {GAME_ID}>",
        f"<Seat 2 of game {GAME_ID}>",
        f"<Seat ? of game {GAME_ID}>",
        f"<Spectator of game {GAME_ID}>",
    ]


def test_the_repr_of_a_call_contains_no_secret() -> None:
    call = Call(
        rpc="ApplyMove",
        request=pb.ApplyMoveRequest(request_id="secret"),
        metadata=(("authorization", "Bearer secret"),),
        timeout=5,
        request_id="secret",
    )
    assert repr(call) == "Call(rpc='ApplyMove', timeout=5)"


def test_the_import_starts_no_thread_and_needs_no_engine_or_service() -> None:
    program = (
        "import sys, threading, sodafountain, sodafountain.aio\n"
        "assert threading.active_count() == 1\n"
        "assert not {'engine', 'service'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=30)


def test_creating_handles_makes_no_call(client: Client, service: ScriptedService) -> None:
    client.seat(GAME_ID, "t")
    client.host(GAME_ID, "t")
    client.spectator(GAME_ID)
    assert service.received == []
