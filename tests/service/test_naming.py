"""New games are named once for every request; a call that a quota refuses leaves nothing behind and costs little."""

import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from structlog.testing import capture_logs

from engine.codec import encode
from service.call import Call
from service.errors import Refusal
from service.metrics import Metrics
from service.naming import Naming
from service.quotas import Quotas
from service.server import bind
from service.settings import Settings
from service.store import Claim, Claimed, Quota, Store, connect
from service.store.layout import keys_of_owner, reservation_key
from service.tokens import parse_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.store.games import HOUR, SOON, create, new_id, new_request
from tests.service.store.servers import Server
from tests.support import players
from tests.support.forging import KEYS
from tests.support.here import stub_of_service
from tests.support.players import refusal
from tests.support.quotas import counted, new_owner
from tests.support.service import channel_to

ONE = Quota(live=1, made=None, window_ms=HOUR)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A store of the test's own."""
    with Server(tmp_path / "store") as server:
        yield server


def call() -> Call:
    return Call("NewGame", authorization=None, api_key=None, seconds=SOON)


@pytest.mark.parametrize("quota", [{"max_live_games": 1}, {"max_new_games": 1}], ids=["live games", "new games"])
def test_refused_calls_leave_nothing_in_the_store(server: Server, quota: dict[str, Any]) -> None:
    with stub_of_service(server.url, **quota) as stub, server.client() as raw:
        players.new_game(stub)
        before = sorted(raw.keys())

        for _ in range(3):
            assert refusal(partial(players.new_game, stub)).reason == "LIMIT"

        assert sorted(raw.keys()) == before


def test_a_request_remembers_its_game_for_a_day_with_a_quota_too(server: Server) -> None:
    with stub_of_service(server.url, max_live_games=1) as stub, server.client() as raw:
        players.new_game(stub)

        [key] = raw.keys("sodafountain:request:*")
        assert raw.pttl(key) > 23 * HOUR


def test_a_refused_call_costs_the_same_few_questions_however_many_games_are_due(server: Server) -> None:
    metrics = Metrics()
    settings = Settings(port=0, store_url=server.url, token_keys=parse_keys(KEYS), max_live_games=50)
    store = connect(server.url)
    with bind(settings, metrics=metrics) as service, channel_to(f"127.0.0.1:{service.port}") as channel:
        live = [new_id() for _ in range(50)]
        for game in live:
            create(store, game, decisions=encode({0: "1-first"}))
        with server.client() as raw:
            raw.zadd(keys_of_owner("").live, dict.fromkeys(live, 0))

        assert refusal(partial(players.new_game, GameServiceStub(channel))).reason == "LIMIT"

    store.close()
    samples = [sample for family in metrics.registry.collect() for sample in family.samples]
    asked = {
        sample.labels["operation"]: sample.value
        for sample in samples
        if sample.name == "sodafountain_store_seconds_count"
    }
    assert asked == {"reserve": 1, "claim": 2, "look": 16, "drop": 1}


@pytest.mark.parametrize(
    ("quota", "name"),
    [({"max_live_games": 1}, "live games"), ({"max_new_games": 1}, "new games")],
    ids=["live games", "new games"],
)
def test_the_log_names_the_api_key_that_reached_its_quota_and_not_the_key(
    store_url: str, quota: dict[str, Any], name: str
) -> None:
    owner, key = new_owner(), str(uuid.uuid4())
    with capture_logs() as logs, stub_of_service(store_url, api_keys={owner: key}, **quota) as stub:
        make = partial(players.new_game, stub, metadata=(("x-api-key", key),))
        make()
        assert refusal(make).reason == "LIMIT"

    [line] = [line for line in logs if line["event"] == "quota_reached"]
    assert (line["api_key"], line["quota"]) == (owner, name)
    assert line["call_id"] in {line["call_id"] for line in logs if line.get("reason") == "LIMIT"}
    assert key not in str(logs)


class Interrupted(Store):
    """A store at which something happens right after the next claim."""

    def claim(self, *arguments: Any, **named: Any) -> Claim:
        """Claims."""
        outcome = super().claim(*arguments, **named)
        self.happens()
        return outcome

    def happens(self) -> None:
        """Does nothing, until it is replaced."""


@pytest.fixture
def interrupted(store_url: str) -> Iterator[Interrupted]:
    """A store to be interrupted."""
    plain = connect(store_url)
    store = Interrupted(plain._source, durable_replicas=0, durable_timeout=1.0)
    yield store
    store.close()
    plain.close()


def test_a_call_whose_id_is_given_up_meanwhile_takes_the_one_that_holds_now(interrupted: Interrupted, raw: Any) -> None:
    owner, request, other = new_owner(), new_request(), new_id()
    given_up: list[str] = []

    def give_up() -> None:
        if not given_up:
            given_up.append(raw.getdel(reservation_key(request)).decode())
            interrupted.reserve(request, other, ttl_ms=HOUR, timeout=SOON)

    interrupted.happens = give_up  # type: ignore[method-assign]

    named = Naming(interrupted, Quotas(interrupted, ONE)).name(owner, request, HOUR, call())

    assert named == other != given_up[0]
    assert raw.zrange(keys_of_owner(owner).live, 0, -1) == [other.encode()]


def test_a_refused_call_does_not_give_up_the_id_under_which_a_repeat_creates_the_game(
    interrupted: Interrupted, raw: Any
) -> None:
    owner, request, before = new_owner(), new_request(), new_id()
    quotas = Quotas(interrupted, ONE)
    repeats: list[str] = []

    def repeat() -> None:
        interrupted.happens = lambda: None  # type: ignore[method-assign]
        interrupted.release(owner, before, timeout=SOON)  # there is room now
        repeats.append(Naming(interrupted, quotas).name(owner, request, HOUR, call()))
        create(interrupted, repeats[0])

    assert interrupted.claim(owner, before, ONE, hold_ms=1000, timeout=SOON) == Claimed()
    interrupted.happens = repeat  # type: ignore[method-assign]

    assert refusal_of(partial(Naming(interrupted, quotas).name, owner, request, HOUR, call())) == "LIMIT"

    assert Naming(interrupted, quotas).name(owner, request, HOUR, call()) == repeats[0]
    assert counted(raw, owner) == (1, 0)


def test_a_request_of_a_game_that_lives_briefly_is_answered_as_ever(store_url: str, raw: Any) -> None:
    owner, key = new_owner(), str(uuid.uuid4())
    settings: dict[str, Any] = {"api_keys": {owner: key}, "idle_ms": 20_000, "max_live_games": 1}
    with stub_of_service(store_url, **settings) as stub:
        make = partial(players.new_game, stub, metadata=(("x-api-key", key),), request_id=str(uuid.uuid4()))

        assert make().game_id == make().game_id
        assert counted(raw, owner) == (1, 0)


def refusal_of(make: Any) -> str:
    with pytest.raises(Refusal) as refused:
        make()
    return refused.value.reason_name


@pytest.fixture
def raw(store_url: str) -> Iterator[Any]:
    """A look behind the service's back."""
    with Redis.from_url(store_url) as raw:
        yield raw
