"""Quotas: an API key has no more games at once, and makes no more in a span of time, than its operator allows."""

import random
import signal
import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
from google.rpc.error_details_pb2 import RetryInfo
from google.rpc.status_pb2 import Status
from redis import Redis

import sodafountain
from service.metrics import Metrics
from service.server import bind
from service.settings import Settings
from service.store import Quota, Store, connect
from service.store.layout import CREATE, keys_of, keys_of_owner
from service.tokens import parse_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.service.store.servers import Server, eventually
from tests.support.forging import KEYS
from tests.support.here import stub_of_service
from tests.support.players import Game, Refused, new_game, play, refusal
from tests.support.proxy import Proxy
from tests.support.quotas import counted, new_owner, pass_time
from tests.support.service import channel_to, running

DAY: Final = 86_400_000
HOUR: Final = 3_600_000
TOGETHER: Final = 16
ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": KEYS}


class App(NamedTuple):
    """An app with an API key of its own that makes games of Soda Jerk."""

    stub: GameServiceStub
    owner: str
    key: str

    def new_game(self, **fields: Any) -> Game:
        return new_game(self.stub, 2, metadata=(("x-api-key", self.key),), **fields)

    def at(self, stub: GameServiceStub) -> "App":
        """The same app at another service."""
        return App(stub, self.owner, self.key)


def new_apps(number: int) -> list[tuple[str, str]]:
    return [(new_owner(), str(uuid.uuid4())) for _ in range(number)]


@contextmanager
def apps(store_url: str, number: int = 1, **settings: Any) -> Iterator[list[App]]:
    """Runs a service for the length of the block; provides apps that may make games there."""
    keys = new_apps(number)
    with stub_of_service(store_url, api_keys=dict(keys), **settings) as stub:
        yield [App(stub, *key) for key in keys]


@pytest.fixture
def app(store_url: str) -> Iterator[App]:
    """An app that may have two games at once."""
    with apps(store_url, max_live_games=2) as (app,):
        yield app


@pytest.fixture
def raw(store_url: str) -> Iterator[Redis]:
    """A look behind the service's back."""
    with Redis.from_url(store_url) as redis:
        yield redis


def full(call: Callable[[], object]) -> Refused:
    """Makes a call that is refused since there is no room for another game."""
    refused = refusal(call)
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert "try again when one is finished, deleted or expired" in refused.sentence
    assert not refused.retry
    return refused


def delay_of(refused: Refused) -> float:
    """Reads when to try again, in seconds."""
    info = RetryInfo()
    for detail in Status.FromString(refused.raw).details:
        if detail.Unpack(info):
            return float(info.retry_delay.seconds + info.retry_delay.nanos / 1e9)
    raise AssertionError("it does not say when to try again")


# --- Live games -------------------------------------------------------------------------------------------------------


def test_as_many_games_as_the_quota_allows_are_made_and_the_next_is_refused(app: App, raw: Redis) -> None:
    app.new_game(), app.new_game()

    assert "This API key may have 2 games at once" in full(app.new_game).sentence
    assert counted(raw, app.owner) == (2, 0)


def test_one_apps_games_take_no_other_apps_room_and_are_not_told_to_it(store_url: str) -> None:
    with apps(store_url, number=2, max_live_games=1) as (app, other):
        app.new_game()

        other.new_game()
        assert full(app.new_game).sentence == full(other.new_game).sentence


def test_a_key_that_opens_nothing_is_refused_for_that_and_counts_nowhere(app: App) -> None:
    stranger = App(app.stub, "", "nobody-knows-this-key")
    app.new_game(), app.new_game()

    assert refusal(stranger.new_game).reason == "API_KEY_INVALID"


def test_without_api_keys_the_quota_holds_for_all_callers_together(store: Server) -> None:
    with stub_of_service(store.url, max_live_games=1) as stub:
        new_game(stub)

        assert "All callers together may have 1 game at once" in full(partial(new_game, stub)).sentence


def test_a_game_that_cannot_be_made_takes_no_room(app: App, raw: Redis) -> None:
    assert refusal(partial(new_game, app.stub, 9, metadata=(("x-api-key", app.key),))).reason == "MALFORMED"

    assert counted(raw, app.owner) == (0, 0)


def test_a_finished_game_makes_room_for_one(app: App) -> None:
    game, _ = app.new_game(), app.new_game()

    play(game, random.Random(1))

    app.new_game()
    full(app.new_game)


def test_a_deleted_game_makes_room_for_one(app: App, store_url: str) -> None:
    game, _ = app.new_game(), app.new_game()

    with stub_of_service(store_url, max_live_games=2) as elsewhere:  # where nothing is remembered of the game
        game.at(elsewhere).host.delete()

    app.new_game()
    full(app.new_game)


def test_a_finished_game_that_is_deleted_makes_no_more_room(app: App) -> None:
    game, _ = app.new_game(), app.new_game()
    play(game, random.Random(1))
    app.new_game()

    game.host.delete()

    full(app.new_game)


def test_an_expired_game_makes_room_for_one(app: App, raw: Redis) -> None:
    game, _ = app.new_game(), app.new_game()
    expire(raw, game)
    full(app.new_game)  # it may still be being created, for all that anybody knows

    pass_time(raw, app.owner, HOUR)

    app.new_game()
    full(app.new_game)


def test_games_that_live_stay_counted_however_long_they_do(app: App, raw: Redis) -> None:
    games = [app.new_game(), app.new_game()]
    for _ in range(3):
        for game in games:
            play(game, random.Random(1), moves=1)
        pass_time(raw, app.owner, 30 * DAY)

        full(app.new_game)

    assert counted(raw, app.owner) == (2, 0)


def test_of_many_games_each_call_looks_at_a_few_until_one_is_over(store_url: str, raw: Redis) -> None:
    with apps(store_url, max_live_games=40) as (app,):
        games = [app.new_game() for _ in range(40)]
        last = max(games, key=lambda game: game.game_id)  # games of the same age come in this order
        expire(raw, last)
        live = keys_of_owner(app.owner).live
        raw.zadd(live, dict.fromkeys((game.game_id for game in games), 0))

        full(app.new_game), full(app.new_game)
        app.new_game()

        full(app.new_game)
        assert raw.zscore(live, last.game_id) is None


def test_a_game_made_without_a_quota_is_not_counted_and_ends_as_ever(store_url: str, raw: Redis) -> None:
    key = new_apps(1)
    with stub_of_service(store_url, api_keys=dict(key)) as before:
        old = [App(before, *key[0]).new_game() for _ in range(3)]
    with stub_of_service(store_url, api_keys=dict(key), max_live_games=1) as stub:
        App(stub, *key[0]).new_game()

        play(old[0].at(stub), random.Random(1))
        old[1].at(stub).host.delete()
        assert old[2].at(stub).spectator.state().version == 1
        full(App(stub, *key[0]).new_game)


# --- The same request again -------------------------------------------------------------------------------------------


def test_a_repeated_request_is_answered_as_before_when_there_is_no_room(app: App) -> None:
    make = partial(app.new_game, request_id=str(uuid.uuid4()))
    made = make().made
    app.new_game()

    assert make().made == made


def test_a_repeated_request_counts_once(app: App, raw: Redis) -> None:
    make = partial(app.new_game, request_id=str(uuid.uuid4()))
    make(), make(), make()

    assert counted(raw, app.owner) == (1, 0)
    app.new_game()
    full(app.new_game)


def test_a_repeated_request_whose_game_is_over_counts_no_more(app: App, raw: Redis) -> None:
    make = partial(app.new_game, request_id=str(uuid.uuid4()))
    game = make()
    play(game, random.Random(1))
    app.new_game(), app.new_game()

    assert make().made.host_token == game.made.host_token
    assert counted(raw, app.owner) == (2, 0)


def test_a_repeated_request_whose_game_was_deleted_is_told_so_when_there_is_no_room(app: App) -> None:
    make = partial(app.new_game, request_id=str(uuid.uuid4()))
    make().host.delete()
    app.new_game(), app.new_game()

    assert refusal(make).reason == "GAME_NOT_FOUND"


def test_a_request_that_was_refused_makes_its_game_when_there_is_room(app: App) -> None:
    game, _ = app.new_game(), app.new_game()
    make = partial(app.new_game, request_id=str(uuid.uuid4()))
    full(make)
    game.host.delete()

    assert make().made == make().made
    full(app.new_game)


# --- Processes that end in between ------------------------------------------------------------------------------------


def test_a_creation_that_a_process_did_not_end_takes_room_no_longer_than_it_may_be_under_way(
    app: App, raw: Redis, behind: Store
) -> None:
    for _ in range(2):
        behind.claim(app.owner, "a" * 26, Quota(2, None, HOUR), hold_ms=10_000, timeout=10.0)
        app.new_game()
        full(app.new_game)

        pass_time(raw, app.owner, 10_000)
        app.new_game()
        full(app.new_game)

        raw.delete(keys_of_owner(app.owner).live)


def test_a_game_whose_end_a_process_did_not_count_makes_room_within_a_minute(app: App, raw: Redis) -> None:
    finished, deleted = app.new_game(), app.new_game()
    live = keys_of_owner(app.owner).live
    before: Any = raw.zrange(live, 0, -1, withscores=True)
    play(finished, random.Random(1))
    deleted.host.delete()
    raw.zadd(live, dict(before))
    full(app.new_game)

    pass_time(raw, app.owner, 60_000)

    app.new_game(), app.new_game()
    full(app.new_game)


@pytest.fixture
def behind(store_url: str) -> Iterator[Store]:
    """The store as a process sees it that ends before it has finished."""
    store = connect(store_url)
    yield store
    store.close()


# --- New games in a span of time --------------------------------------------------------------------------------------


def test_as_many_games_as_the_window_allows_are_made_and_the_next_is_told_when_to_try_again(
    store_url: str, raw: Redis
) -> None:
    with apps(store_url, max_new_games=2, new_games_window_ms=2 * HOUR) as (app,):
        app.new_game().host.delete()
        pass_time(raw, app.owner, HOUR)
        play(app.new_game(), random.Random(1))

        refused = refusal(app.new_game)

        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
        assert refused.sentence.startswith("This API key may make 2 games in 2h and has made them: try again in ")
        assert 3500 < delay_of(refused) <= 3600
        pass_time(raw, app.owner, HOUR)
        app.new_game()
        assert refusal(app.new_game).reason == "LIMIT"


def test_a_repeated_request_is_answered_and_counts_once_in_the_window(store_url: str, raw: Redis) -> None:
    with apps(store_url, max_new_games=2) as (app,):
        make = partial(app.new_game, request_id=str(uuid.uuid4()))
        made = make().made
        app.new_game()

        assert make().made == made
        assert counted(raw, app.owner) == (0, 2)


def test_both_quotas_hold_beside_each_other(store_url: str) -> None:
    with apps(store_url, max_live_games=1, max_new_games=2) as (app,):
        game = app.new_game()
        full(app.new_game)
        game.host.delete()
        app.new_game()

        assert 3500 < delay_of(refusal(app.new_game)) <= 3600


def test_a_client_library_asks_once_and_passes_on_when_to_try_again(store: Server, tmp_path: Path) -> None:
    with running(tmp_path / "service", "--store-url", store.url, "--max-new-games=1", env=ENV) as service:
        with sodafountain.connect(service.target) as client:
            client.new_game(SodaJerkOptions(), seats=2)
            with pytest.raises(sodafountain.LimitExceeded) as refused:
                client.new_game(SodaJerkOptions(), seats=2)
        calls = [(line["method"], line.get("reason")) for line in service.logs() if line["event"] == "rpc"]

    assert calls == [("NewGame", None), ("NewGame", "LIMIT")]
    assert refused.value.retry_delay is not None
    assert 3500 < refused.value.retry_delay <= 3600


# --- Many at once -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def two(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[App, ...]]:
    """An app that may have five games at once, at two processes."""
    owner, key = new_owner(), str(uuid.uuid4())
    folder = tmp_path_factory.mktemp("quotas")
    flags = ("--store-url", store_url, "--max-live-games=5")
    env = ENV | {"SODAFOUNTAIN_API_KEYS": f"{owner}:{key}"}
    with ExitStack() as open_:
        targets = [open_.enter_context(running(folder / name, *flags, env=env)).target for name in ("one", "two")]
        channels = [open_.enter_context(channel_to(target)) for target in targets]
        yield tuple(App(GameServiceStub(channel), owner, key) for channel in channels)


@pytest.fixture
def no_games(two: tuple[App, ...], raw: Redis) -> None:
    """Nothing that an earlier test made is counted."""
    raw.delete(*keys_of_owner(two[0].owner))


def all_at_once(two: tuple[App, ...], number: int, **fields: Any) -> list[Game | Refused]:
    """Asks for so many games at one instant, every other one at either process."""
    barrier = threading.Barrier(number, timeout=30.0)

    def one(turn: int) -> Game | Refused:
        barrier.wait()
        try:
            return two[turn % 2].new_game(**fields)
        except grpc.RpcError as error:
            return refusal(partial(_raise, error))

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(one, range(number)))


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.usefixtures("no_games")
def test_of_many_games_asked_for_at_one_instant_at_two_processes_as_many_are_made_as_there_is_room_for(
    two: tuple[App, ...], raw: Redis
) -> None:
    made: list[Game] = []
    for room in (5, 1, 2):
        answers = all_at_once(two, TOGETHER)

        games = [answer for answer in answers if isinstance(answer, Game)]
        assert len(games) == room
        assert {answer.reason for answer in answers if isinstance(answer, Refused)} == {"LIMIT"}
        made += games
        for _ in range(1 if room == 5 else 2):
            made.pop().at(two[room % 2].stub).host.delete()


@pytest.mark.usefixtures("no_games")
def test_one_game_asked_for_many_times_at_one_instant_at_two_processes_counts_once(
    two: tuple[App, ...], raw: Redis
) -> None:
    for count in range(1, 6):
        answers = all_at_once(two, TOGETHER, request_id=str(uuid.uuid4()))

        assert len({answer.made.host_token for answer in answers if isinstance(answer, Game)}) == 1
        assert not any(isinstance(answer, Refused) for answer in answers)
        assert counted(raw, two[0].owner) == (count, 0)


@pytest.mark.usefixtures("no_games")
def test_many_who_look_at_once_for_games_that_are_over_make_no_more_room_than_there_is(
    two: tuple[App, ...], raw: Redis
) -> None:
    for game in (games := [two[0].new_game() for _ in range(5)])[:3]:
        expire(raw, game)
    pass_time(raw, two[0].owner, HOUR)

    answers = all_at_once(two, TOGETHER)

    # Those that came while another looked were refused: they come again.
    made = [answer for answer in answers if isinstance(answer, Game)]
    assert 1 <= len(made) <= 3
    made += [two[0].new_game() for _ in range(3 - len(made))]
    full(two[1].new_game)
    assert all(game.spectator.state().version == 1 for game in games[3:])


# --- Processes that are killed ----------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store of the test's own."""
    with Server(tmp_path / "store", "--appendfsync", "always") as server:
        yield server


@contextmanager
def killed_before(command: bytes, store: Server, folder: Path) -> Iterator[GameServiceStub]:
    """Runs a service that may have one game and is killed before the first such command of its reaches the store."""
    with (
        Proxy(store.port) as network,
        running(folder, "--store-url", network.url, "--max-live-games=1", env=ENV) as service,
        channel_to(service.target) as channel,
    ):
        network.cut_before(command, service.kill)
        yield GameServiceStub(channel)
        assert service.process.wait(10.0) == -signal.SIGKILL


def test_a_game_whose_process_was_killed_before_it_was_created_is_made_by_the_same_request_and_counts_once(
    store: Server, tmp_path: Path
) -> None:
    request_id = str(uuid.uuid4())
    with killed_before(CREATE.sha.encode(), store, tmp_path / "killed") as stub, pytest.raises(grpc.RpcError):
        new_game(stub, request_id=request_id)
    with store.client() as raw, stub_of_service(store.url, max_live_games=1) as other:
        assert counted(raw, "") == (1, 0)
        full(partial(new_game, other))

        new_game(other, request_id=request_id)

        assert counted(raw, "") == (1, 0)
        pass_time(raw, "", HOUR)
        full(partial(new_game, other))


def test_a_game_whose_process_was_killed_before_it_was_created_makes_room(store: Server, tmp_path: Path) -> None:
    with killed_before(CREATE.sha.encode(), store, tmp_path / "killed") as stub, pytest.raises(grpc.RpcError):
        new_game(stub)
    with store.client() as raw, stub_of_service(store.url, max_live_games=1) as other:
        pass_time(raw, "", 12_000)  # its call had ten seconds

        new_game(other)


def test_a_game_whose_process_was_killed_right_after_its_last_move_makes_room(store: Server, tmp_path: Path) -> None:
    with killed_before(b"$4\r\nZREM\r\n", store, tmp_path / "killed") as stub:
        game = new_game(stub)
        with pytest.raises(grpc.RpcError):
            play(game, random.Random(1))
    with store.client() as raw, stub_of_service(store.url, max_live_games=1, keys=KEYS) as other:
        assert game.at(other).spectator.score().final
        full(partial(new_game, other))

        pass_time(raw, "", 60_000)

        new_game(other)


# --- What it costs ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("quota", "more"),
    [
        ({}, {}),
        ({"max_live_games": 9}, {"claim": 1, "reserve": 2}),
        ({"max_new_games": 9}, {"claim": 1, "reserve": 2}),
    ],
    ids=["none", "live games", "new games"],
)
def test_making_a_game_takes_two_questions_more_where_there_is_a_quota_and_a_move_takes_none(
    store: Server, quota: dict[str, Any], more: dict[str, int]
) -> None:
    metrics = Metrics()
    settings = Settings(port=0, store_url=store.url, token_keys=parse_keys(KEYS), **quota)
    with bind(settings, metrics=metrics) as server, channel_to(f"127.0.0.1:{server.port}") as channel:
        game = new_game(GameServiceStub(channel))
        assert asked(metrics) == {"reserve": 1, "create": 1, **more}

        play(game, random.Random(1), moves=1)

        assert asked(metrics) == {"reserve": 1, "create": 1, "read": 2, "commit": 1, **more}
        with store.client() as raw:
            assert bool(raw.exists(*keys_of_owner(""))) == bool(quota)


def asked(metrics: Metrics) -> dict[str, int]:
    """Tells which questions were asked of the store, and how often."""
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return {
        sample.labels["operation"]: int(sample.value)
        for sample in samples
        if sample.name == "sodafountain_store_seconds_count"
    }


# --- Stores that are away ---------------------------------------------------------------------------------------------


def test_games_end_where_the_count_cannot_be_changed(app: App, raw: Redis) -> None:
    finished, deleted = app.new_game(), app.new_game()
    live = keys_of_owner(app.owner).live
    raw.delete(live)
    raw.set(live, "no set")

    play(finished, random.Random(1))
    deleted.host.delete()

    assert finished.spectator.score().final
    assert refusal(deleted.spectator.state).reason == "GAME_NOT_FOUND"


def test_a_store_that_has_gone_makes_no_game_and_counts_on_when_it_is_back(store: Server) -> None:
    with stub_of_service(store.url, max_live_games=1) as stub:
        new_game(stub)
        store.kill()
        assert refusal(partial(new_game, stub)).reason == "STORE_UNAVAILABLE"

        store.start()

        eventually(lambda: refusal(partial(new_game, stub)).reason == "LIMIT")


def expire(raw: Any, game: Game) -> None:
    """Lets a game expire."""
    keys = keys_of(game.game_id)
    for key in (keys.game, keys.log, keys.requests):
        raw.pexpire(key, 1)
    eventually(lambda: not raw.exists(keys.game))
