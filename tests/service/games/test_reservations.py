"""Reservations: one game id for each request. A call that a quota rejects stores nothing and needs few store calls."""

import uuid
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.games import Deadline, Quotas
from service.games.errors import QuotaExceeded
from service.games.reservations import Reservations
from service.observability.metrics import Metrics
from service.store import Claimed, ClaimResult, Quota, Store, client, connect
from service.store.keys import owner_keys, reservation_key
from service.store.scripts import CANCEL
from tests.service.store.games import HOUR, MINUTE, SOON, create, new_id, new_request
from tests.support import game_clients
from tests.support.game_clients import SECONDS, expect_error
from tests.support.in_process import in_process_stub
from tests.support.proxy import Proxy
from tests.support.quotas import counted_games, new_owner, store_calls
from tests.support.store_servers import Server

ONE = Quota(live=1, created=None, window_ms=HOUR)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A store of the test's own."""
    with Server(tmp_path / "store") as server:
        yield server


def deadline() -> Deadline:
    return Deadline(SOON)


def reservations(store: Store, quotas: Quotas) -> Reservations:
    return Reservations(store.reservations, quotas, provisional_ms=31_000)


@pytest.mark.parametrize("quota", [{"max_live_games": 1}, {"max_new_games": 1}], ids=["live games", "new games"])
def test_rejected_calls_leave_nothing_in_the_store(server: Server, quota: dict[str, Any]) -> None:
    with in_process_stub(server.url, **quota) as stub, server.client() as raw:
        game_clients.new_game(stub)
        before = sorted(raw.keys())

        for _ in range(3):
            assert expect_error(partial(game_clients.new_game, stub)).reason == "LIMIT"

        assert sorted(raw.keys()) == before


@pytest.mark.parametrize("request_id", ["", str(uuid.uuid4())], ids=["no request id", "a request id"])
def test_the_log_line_of_a_rejected_call_has_a_game_id(server: Server, request_id: str) -> None:
    with in_process_stub(server.url, max_live_games=1) as stub:
        game_clients.new_game(stub)

        with capture_logs() as logs:
            expect_error(lambda: game_clients.new_game(stub, request_id=request_id))

    [line] = [line for line in logs if line["event"] == "rpc"]
    assert len(line["game_id"]) == 26


def test_with_a_quota_too_a_request_is_remembered_for_a_day(server: Server) -> None:
    with in_process_stub(server.url, max_live_games=1) as stub, server.client() as raw:
        game_clients.new_game(stub)

        [key] = raw.keys("sodafountain:request:*")
        assert raw.pttl(key) > 23 * HOUR


def test_a_rejected_call_needs_the_same_few_store_calls_for_any_number_of_games(server: Server) -> None:
    metrics = Metrics()
    store = connect(server.url)
    with in_process_stub(server.url, metrics=metrics, max_live_games=50) as stub:
        live = [new_id() for _ in range(50)]
        for game in live:
            create(store, game)
        with server.client() as raw:
            raw.zadd(owner_keys("").live, dict.fromkeys(live, 0))

        assert expect_error(partial(game_clients.new_game, stub)).reason == "LIMIT"

    store.close()
    assert store_calls(metrics) == {"reserve": 1, "claim": 2, "liveness": 16, "cancel": 1}


def test_a_rejected_call_is_answered_soon_if_dropping_its_reservation_hangs(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        client, "FIRST_REPLY_SECONDS", SECONDS
    )  # a call without its own limit takes all of the caller's time
    with (
        capture_logs() as logs,
        Proxy(server.port) as network,
        in_process_stub(network.url, max_live_games=1) as stub,
        network.losing(CANCEL.sha.encode()),
    ):
        game_clients.new_game(stub)

        assert expect_error(partial(game_clients.new_game, stub)).reason == "LIMIT"
    *_, error = [line["ms"] for line in logs if line.get("method") == "NewGame"]
    assert 200 < error < 1000 * SECONDS / 2


@pytest.mark.parametrize(
    ("quota", "name"),
    [({"max_live_games": 1}, "live games"), ({"max_new_games": 1}, "new games")],
    ids=["live games", "new games"],
)
def test_the_log_names_the_owner_that_reached_its_quota_and_not_the_api_key(
    store_url: str, quota: dict[str, Any], name: str
) -> None:
    owner, key = new_owner(), str(uuid.uuid4())
    with capture_logs() as logs, in_process_stub(store_url, api_keys={owner: key}, **quota) as stub:
        make = partial(game_clients.new_game, stub, metadata=(("x-api-key", key),))
        make()
        assert expect_error(make).reason == "LIMIT"

    [line] = [line for line in logs if line["event"] == "quota_reached"]
    assert (line["api_key"], line["quota"]) == (owner, name)
    assert line["call_id"] in {line["call_id"] for line in logs if line.get("reason") == "LIMIT"}
    assert key not in str(logs)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """The store."""
    store = connect(store_url)
    yield store
    store.close()


def interrupt(monkeypatch: pytest.MonkeyPatch, store: Store, happens: Callable[[], None]) -> None:
    """Call a function right after the next claim."""
    claim = store.quotas.claim

    def interrupted(*arguments: Any, **named: Any) -> ClaimResult:
        monkeypatch.setattr(store.quotas, "claim", claim)
        outcome = claim(*arguments, **named)
        happens()
        return outcome

    monkeypatch.setattr(store.quotas, "claim", interrupted)


def test_a_call_whose_reservation_was_dropped_uses_the_current_one(
    store: Store, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, request, other = new_owner(), new_request(), new_id()
    given_up: list[str] = []

    def give_up() -> None:
        given_up.append(raw.getdel(reservation_key(request)).decode())
        store.reservations.reserve(request, other, ttl_ms=HOUR, timeout=SOON)

    interrupt(monkeypatch, store, give_up)

    named = reservations(store, Quotas(store.quotas, ONE)).reserve(owner, request, HOUR, deadline())

    assert named == other != given_up[0]
    assert raw.zrange(owner_keys(owner).live, 0, -1) == [other.encode()]


def test_a_rejected_call_does_not_drop_the_reservation_of_a_successful_repeat(
    store: Store, raw: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, request, before = new_owner(), new_request(), new_id()
    quotas = Quotas(store.quotas, ONE)
    repeats: list[str] = []

    def repeat() -> None:
        store.quotas.release(owner, before, timeout=SOON)  # makes room
        repeats.append(reservations(store, quotas).reserve(owner, request, HOUR, deadline()))
        create(store, repeats[0])

    assert store.quotas.claim(owner, before, ONE, hold_ms=MINUTE, timeout=SOON) == Claimed()
    interrupt(monkeypatch, store, repeat)

    with pytest.raises(QuotaExceeded):
        reservations(store, quotas).reserve(owner, request, HOUR, deadline())

    assert reservations(store, quotas).reserve(owner, request, HOUR, deadline()) == repeats[0]
    assert counted_games(raw, owner) == (1, 0)


def test_a_request_of_a_short_lived_game_is_answered_as_usual(store_url: str, raw: Any) -> None:
    owner, key = new_owner(), str(uuid.uuid4())
    settings: dict[str, Any] = {"api_keys": {owner: key}, "idle_ms": 20_000, "max_live_games": 1}
    with in_process_stub(store_url, **settings) as stub:
        make = partial(game_clients.new_game, stub, metadata=(("x-api-key", key),), request_id=str(uuid.uuid4()))

        assert make().game_id == make().game_id
        assert counted_games(raw, owner) == (1, 0)
