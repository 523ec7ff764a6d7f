"""Prometheus metrics: exact counts over all processes, bounded labels, and no secrets."""

import os
import re
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_pb2 import Options
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions
from tests.support import forging
from tests.support.game_clients import new_game
from tests.support.service import Service, channel_to, running, two_services

LABELS = {
    "method": {method.name for method in pb.DESCRIPTOR.services_by_name["GameService"].methods},
    "game": {"soda_jerk", "soda_smugglers", "juices"},
    "operation": {
        "reserve",
        "create",
        "read",
        "read_for_request",
        "read_all",
        "read_log",
        "commit",
        "confirm",
        "delete",
    },
}
ID = "6f1c4d0e-27d4-4f2a-9c0b-0d6f5c1b8a11"


def scraped(service: Service) -> str:
    """Scrape the metrics and return the text."""
    (line,) = [line for line in service.logs() if line["event"] == "metrics"]
    with urllib.request.urlopen(line["url"], timeout=10) as response:
        text: str = response.read().decode()
    return text


def counts(service: Service) -> Callable[..., float]:
    """Return a function that looks up a metric by name and labels; 0 if it does not exist."""
    found = {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(scraped(service))
        for sample in family.samples
    }
    return lambda name, **labels: found.get((f"sodafountain_{name}", frozenset(labels.items())), 0.0)


class Played(NamedTuple):
    """A service after a game: the number of moves, and values that must not appear."""

    service: Service
    moves: int
    secrets: tuple[str, ...]


def workers(service: Service) -> list[int]:
    """Return the process ids of the workers that serve."""
    return [line["pid"] for line in service.logs() if line["event"] == "serving"]


@contextmanager
def counting(folder: Path, *flags: str, env: dict[str, str] | None = None) -> Iterator[tuple[Service, GameServiceStub]]:
    """Run a service with metrics."""
    with (
        running(folder, f"--data-dir={folder / 'data'}", "--metrics-port=0", *flags, env=env) as service,
        channel_to(service.target) as channel,
    ):
        yield service, GameServiceStub(channel)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """A service after a game that was played, watched, and called with errors."""
    with counting(tmp_path_factory.mktemp("metrics")) as (service, stub):
        options = Options(soda_jerk=SodaJerkOptions(first_seat=0))
        creation = pb.NewGameRequest(options=options, seat_count=2, request_id=ID)
        created = stub.NewGame(creation)
        assert stub.NewGame(creation).state.game_id == created.state.game_id
        as_host = (("authorization", f"Bearer {created.host_token}"),)
        game, state, number = created.state.game_id, created.state, 0
        while state.awaiting_seats:
            seat = state.awaiting_seats[0]
            legal = stub.LegalMoves(pb.LegalMovesRequest(game_id=game, seat=seat), metadata=as_host)
            request = pb.ApplyMoveRequest(game_id=game, seat=seat, move=legal.moves[0].move)
            if number == 0:
                request.request_id = ID
                stub.ApplyMove(request, metadata=as_host)
            state = stub.ApplyMove(request, metadata=as_host).state
            number += 1
        assert [message.WhichOneof("item") for message in stub.WatchGame(pb.WatchGameRequest(game_id=game))]
        for secret in ("forged-token", "another"):
            with pytest.raises(grpc.RpcError):
                stub.GetGame(pb.GetGameRequest(game_id=game), metadata=(("authorization", f"Bearer {secret}"),))
        with pytest.raises(grpc.RpcError):
            stub.GetGame(pb.GetGameRequest(game_id="made-up-by-a-caller"))
        with pytest.raises(grpc.RpcError):
            stub.GetGame(pb.GetGameRequest(game_id="b" * 26))
        yield Played(service, number, (game, created.host_token, ID, "forged-token", "made-up", "b" * 26))


def test_calls_are_counted_by_method_and_outcome(played: Played) -> None:
    count, moves = counts(played.service), played.moves

    assert count("rpc_seconds_count", method="NewGame", outcome="OK") == 2
    assert count("rpc_seconds_count", method="LegalMoves", outcome="OK") == moves
    assert count("rpc_seconds_count", method="ApplyMove", outcome="OK") == moves + 1
    assert count("rpc_seconds_count", method="GetGame", outcome="TOKEN_INVALID") == 2
    assert count("rpc_seconds_count", method="GetGame", outcome="MALFORMED") == 1
    assert count("rpc_seconds_count", method="GetGame", outcome="GAME_NOT_FOUND") == 1
    assert 0 < count("rpc_seconds_sum", method="ApplyMove", outcome="OK") < 60


def test_games_and_moves_are_counted_once(played: Played) -> None:
    count, moves = counts(played.service), played.moves

    assert count("games_created_total", game="soda_jerk") == 1
    assert count("games_finished_total", game="soda_jerk") == 1
    assert count("moves_total", game="soda_jerk") == moves
    assert count("repeated_requests_total") == 1
    assert count("lost_races_total") == 0


def test_watchers_are_counted(played: Played) -> None:
    count = counts(played.service)

    assert count("watchers") == 0
    assert count("streams_total", outcome="FINISHED") == 1


def test_store_calls_are_counted(played: Played) -> None:
    count, moves = counts(played.service), played.moves

    assert count("store_seconds_count", operation="create", outcome="ok") == 2, "a repeat calls the store too"
    assert count("store_seconds_count", operation="commit", outcome="ok") >= moves
    assert count("cache_total", outcome="hit") >= 2 * moves


def test_no_label_contains_a_value_of_callers(played: Played) -> None:
    text = scraped(played.service)

    assert [secret for secret in played.secrets if secret in text] == []
    for label, known in LABELS.items():
        assert set(re.findall(rf'{label}="([^"]*)"', text)) <= known
    assert set(re.findall(r'([a-z_]+)="', text)) <= {
        *LABELS,
        "outcome",
        "le",
        "implementation",
        "major",
        "minor",
        "patchlevel",
        "version",
    }


def test_a_watcher_is_counted_while_it_watches(tmp_path: Path) -> None:
    with counting(tmp_path) as (service, stub):
        created = stub.NewGame(pb.NewGameRequest(options=Options(soda_jerk=SodaJerkOptions()), seat_count=2))
        stream = stub.WatchGame(pb.WatchGameRequest(game_id=created.state.game_id))
        next(stream)

        assert counts(service)("watchers") == 1

        stub.DeleteGame(
            pb.DeleteGameRequest(game_id=created.state.game_id),
            metadata=(("authorization", f"Bearer {created.host_token}"),),
        )
        assert [message.WhichOneof("item") for message in stream] == ["end"]


def test_counts_of_workers_are_added_and_survive_a_killed_worker(tmp_path: Path) -> None:
    with counting(tmp_path, "--workers=2") as (service, _):

        def list_kinds() -> None:
            with channel_to(service.target) as channel:
                GameServiceStub(channel).ListGameKinds(pb.ListGameKindsRequest(), wait_for_ready=True, timeout=20)

        for number in range(1, 9):
            list_kinds()
            assert counts(service)("rpc_seconds_count", method="ListGameKinds", outcome="OK") == number

        os.kill(workers(service)[0], signal.SIGKILL)
        deadline = time.monotonic() + 30
        while len(workers(service)) < 3:
            assert time.monotonic() < deadline, "the worker was not replaced"
            time.sleep(0.05)
        list_kinds()
        assert counts(service)("rpc_seconds_count", method="ListGameKinds", outcome="OK") == 9


@pytest.mark.one_store
def test_lost_races_and_cache_misses_are_counted(store_url: str, tmp_path: Path) -> None:
    with (
        two_services(tmp_path, store_url, "--metrics-port=0") as (first_service, second_service),
        channel_to(first_service.target) as first_channel,
        channel_to(second_service.target) as second_channel,
    ):
        game = new_game(GameServiceStub(first_channel), 3, Options(soda_smugglers=SodaSmugglersOptions()))
        game_at_second = game.at(GameServiceStub(second_channel))
        first, second = game.created.state.awaiting_seats
        move = game.seats[first].legal().moves[0].move
        assert counts(first_service)("cache_total", outcome="miss") == 0

        game_at_second.seats[second].apply(game_at_second.seats[second].legal().moves[0].move)
        assert counts(second_service)("cache_total", outcome="miss") == 1

        game.seats[first].apply(move)
        assert counts(first_service)("lost_races_total") == 1
        assert counts(second_service)("lost_races_total") == 0
        assert counts(first_service)("rpc_seconds_count", method="ApplyMove", outcome="OK") == 1

        game_at_second.seats[second].state()
        assert counts(second_service)("cache_total", outcome="miss") == 2


def test_store_failures_are_counted_by_their_outcome(tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}
    with counting(tmp_path, f"--store-url=unix://{tmp_path}/absent", env=env) as (service, stub):
        with pytest.raises(grpc.RpcError):
            stub.GetGame(pb.GetGameRequest(game_id="b" * 26))

        assert counts(service)("store_seconds_count", operation="read", outcome="away") == 1
        assert counts(service)("rpc_seconds_count", method="GetGame", outcome="STORE_UNAVAILABLE") == 1
