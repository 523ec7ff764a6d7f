"""An API key has no more games at the same time than its operator allows."""

import random
import uuid
from functools import partial

from redis import Redis

from service.store.keys import game_keys, owner_keys
from tests.service.quotas.apps import DAY, App, apps, expire, full, new_apps
from tests.service.store.games import HOUR
from tests.service.store.servers import Server
from tests.support.here import stub_of_service
from tests.support.players import new_game, play, refusal
from tests.support.quotas import counted, pass_time


def test_as_many_games_as_the_quota_allows_are_made_and_the_next_is_refused(app: App, raw: Redis) -> None:
    app.new_game(), app.new_game()

    assert "This API key may have 2 games at the same time" in full(app.new_game).sentence
    assert counted(raw, app.owner) == (2, 0)


def test_one_apps_games_take_no_other_apps_room_and_are_not_told_to_it(store_url: str) -> None:
    with apps(store_url, number=2, max_live_games=1) as (app, other):
        app.new_game()

        other.new_game()
        assert full(app.new_game).sentence == full(other.new_game).sentence


def test_a_key_that_opens_nothing_is_refused_for_that_and_counts_nowhere(app: App, raw: Redis) -> None:
    stranger = App(app.stub, "", "nobody-knows-this-key")
    app.new_game(), app.new_game()
    before = counted(raw, ""), counted(raw, app.owner)

    assert refusal(stranger.new_game).reason == "API_KEY_INVALID"

    assert (counted(raw, ""), counted(raw, app.owner)) == before


def test_without_api_keys_the_quota_holds_for_all_callers_together(store: Server) -> None:
    with stub_of_service(store.url, max_live_games=1) as stub:
        new_game(stub)

        assert "All callers together may have 1 game at the same time" in full(partial(new_game, stub)).sentence


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


def test_a_game_that_a_later_release_keeps_otherwise_is_deleted(app: App, raw: Redis) -> None:
    game = app.new_game()
    raw.hset(game_keys(game.game_id).game, mapping={"v": "2", "meta": "another form"})

    game.host.delete()

    assert refusal(game.spectator.state).reason == "GAME_NOT_FOUND"


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
        live = owner_keys(app.owner).live
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
