"""The quota of live games of an API key."""

import random
import uuid
from functools import partial
from typing import Any

from redis import Redis

from service.store.keys import game_keys, owner_keys
from tests.service.games.quotas.tenants import DAY, Tenant, expect_full, expire, new_tenants, tenants
from tests.service.store.games import HOUR
from tests.support.game_clients import expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.quotas import age_counts, counted_games
from tests.support.store_servers import Server


def test_a_game_above_the_quota_is_rejected(tenant: Tenant, raw: Redis) -> None:
    tenant.new_game(), tenant.new_game()

    assert "This API key may have 2 games at the same time" in expect_full(tenant.new_game).message
    assert counted_games(raw, tenant.owner) == (2, 0)


def test_tenants_have_separate_quotas_and_equal_errors(store_url: str) -> None:
    with tenants(store_url, number=2, max_live_games=1) as (tenant, other):
        tenant.new_game()

        other.new_game()
        assert expect_full(tenant.new_game).message == expect_full(other.new_game).message


def test_an_invalid_api_key_is_rejected_as_invalid_and_not_counted(tenant: Tenant, raw: Redis) -> None:
    stranger = Tenant(tenant.stub, "", "an-unknown-api-key")
    tenant.new_game(), tenant.new_game()
    before = counted_games(raw, ""), counted_games(raw, tenant.owner)

    assert expect_error(stranger.new_game).reason == "API_KEY_INVALID"

    assert (counted_games(raw, ""), counted_games(raw, tenant.owner)) == before


def test_without_api_keys_all_callers_share_the_quota(store: Server) -> None:
    with in_process_stub(store.url, max_live_games=1) as stub:
        new_game(stub)

        assert "All callers together may have 1 game at the same time" in expect_full(partial(new_game, stub)).message


def test_an_invalid_game_is_not_counted(tenant: Tenant, raw: Redis) -> None:
    assert expect_error(partial(new_game, tenant.stub, 9, metadata=(("x-api-key", tenant.key),))).reason == "MALFORMED"

    assert counted_games(raw, tenant.owner) == (0, 0)


def test_a_finished_game_is_released(tenant: Tenant) -> None:
    game, _ = tenant.new_game(), tenant.new_game()

    play(game, random.Random(1))

    tenant.new_game()
    expect_full(tenant.new_game)


def test_a_deleted_game_is_released(tenant: Tenant, store_url: str) -> None:
    game, _ = tenant.new_game(), tenant.new_game()

    with in_process_stub(store_url, max_live_games=2) as other_service:  # its cache does not have the game
        game.at(other_service).host.delete()

    tenant.new_game()
    expect_full(tenant.new_game)


def test_a_game_in_a_later_format_can_be_deleted(tenant: Tenant, raw: Any) -> None:
    game = tenant.new_game()
    raw.lset(game_keys(game.game_id).game, 1, b"\x63in a later format")

    game.host.delete()

    assert expect_error(game.spectator.state).reason == "GAME_NOT_FOUND"


def test_deleting_a_finished_game_releases_it_only_once(tenant: Tenant) -> None:
    game, _ = tenant.new_game(), tenant.new_game()
    play(game, random.Random(1))
    tenant.new_game()

    game.host.delete()

    expect_full(tenant.new_game)


def test_an_expired_game_is_released(tenant: Tenant, raw: Redis) -> None:
    game, _ = tenant.new_game(), tenant.new_game()
    expire(raw, game)
    expect_full(tenant.new_game)  # its creation may still be in progress

    age_counts(raw, tenant.owner, HOUR)

    tenant.new_game()
    expect_full(tenant.new_game)


def test_live_games_stay_counted_however_long_they_live(tenant: Tenant, raw: Redis) -> None:
    games = [tenant.new_game(), tenant.new_game()]
    for _ in range(3):
        for game in games:
            play(game, random.Random(1), moves=1)
        age_counts(raw, tenant.owner, 30 * DAY)

        expect_full(tenant.new_game)

    assert counted_games(raw, tenant.owner) == (2, 0)


def test_each_call_checks_a_few_of_many_games_until_one_is_over(store_url: str, raw: Redis) -> None:
    with tenants(store_url, max_live_games=40) as (tenant,):
        games = [tenant.new_game() for _ in range(40)]
        last = max(games, key=lambda game: game.game_id)  # games of the same age are ordered by id
        expire(raw, last)
        live = owner_keys(tenant.owner).live
        raw.zadd(live, dict.fromkeys((game.game_id for game in games), 0))

        expect_full(tenant.new_game), expect_full(tenant.new_game)
        tenant.new_game()

        expect_full(tenant.new_game)
        assert raw.zscore(live, last.game_id) is None


def test_a_game_created_without_a_quota_is_not_counted(store_url: str, raw: Redis) -> None:
    key = new_tenants(1)
    with in_process_stub(store_url, api_keys=dict(key)) as before:
        old = [Tenant(before, *key[0]).new_game() for _ in range(3)]
    with in_process_stub(store_url, api_keys=dict(key), max_live_games=1) as stub:
        Tenant(stub, *key[0]).new_game()

        play(old[0].at(stub), random.Random(1))
        old[1].at(stub).host.delete()
        assert old[2].at(stub).spectator.state().version == 1
        expect_full(Tenant(stub, *key[0]).new_game)


def test_a_repeated_request_is_answered_when_the_quota_is_reached(tenant: Tenant) -> None:
    make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
    created = make().created
    tenant.new_game()

    assert make().created == created


def test_a_repeated_request_counts_once(tenant: Tenant, raw: Redis) -> None:
    make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
    make(), make(), make()

    assert counted_games(raw, tenant.owner) == (1, 0)
    tenant.new_game()
    expect_full(tenant.new_game)


def test_a_repeated_request_of_a_finished_game_is_not_counted(tenant: Tenant, raw: Redis) -> None:
    make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
    game = make()
    play(game, random.Random(1))
    tenant.new_game(), tenant.new_game()

    assert make().created.host_token == game.created.host_token
    assert counted_games(raw, tenant.owner) == (2, 0)


def test_a_repeated_request_of_a_deleted_game_is_not_found_despite_the_quota(tenant: Tenant) -> None:
    make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
    make().host.delete()
    tenant.new_game(), tenant.new_game()

    assert expect_error(make).reason == "GAME_NOT_FOUND"


def test_a_rejected_request_creates_its_game_once_the_quota_allows_it(tenant: Tenant) -> None:
    game, _ = tenant.new_game(), tenant.new_game()
    make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
    expect_full(make)
    game.host.delete()

    assert make().created == make().created
    expect_full(tenant.new_game)
