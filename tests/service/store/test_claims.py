"""Claims of games for their owners never exceed the quota."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from redis import Redis

from service.store import Claimed, ClaimResult, LiveExceeded, Quota, RateExceeded, Store, Unverified, Verified, connect
from service.store.keys import owner_keys
from tests.service.store.games import HOUR, MINUTE, SOON, new_game, new_id
from tests.support.quotas import age_counts, counted_games, new_owner
from tests.support.store_servers import Server, eventually

HOLD = 20_000
"""The time for a creation, in milliseconds."""
LIVE = Quota(live=2, created=None, window_ms=HOUR)
CREATED = Quota(live=None, created=2, window_ms=HOUR)
BOTH = Quota(live=2, created=3, window_ms=HOUR)


@pytest.fixture
def a_minute_between_verifications(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a game due at most once a minute, so that a slow test receives it only once."""
    monkeypatch.setattr("service.store.quotas._MIN_INTERVAL_MS", MINUTE)


def claim(
    store: Store,
    owner: str,
    game: str | None = None,
    quota: Quota = LIVE,
    verified: Sequence[Verified] = (),
    hold_ms: int = HOLD,
) -> ClaimResult:
    return store.quotas.claim(owner, game or new_id(), quota, hold_ms=hold_ms, verified=verified, timeout=SOON)


def fill(store: Store, owner: str) -> list[str]:
    """Claim the two games of the quota `LIVE`."""
    games = [new_id(), new_id()]
    assert [claim(store, owner, game) for game in games] == [Claimed(), Claimed()]
    return games


def due(store: Store, raw: Redis, owner: str) -> list[Unverified]:
    """Make the games old enough to be checked, and return them."""
    age_counts(raw, owner, HOLD)
    full = claim(store, owner)
    assert isinstance(full, LiveExceeded)
    return full.unverified


# --- Live games -------------------------------------------------------------------------------------------------------


def test_claims_succeed_up_to_the_quota_and_new_games_are_not_due(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())

    assert claim(store, owner) == LiveExceeded([])
    assert counted_games(raw, owner) == (2, 0)


def test_a_repeated_claim_counts_once_and_succeeds_despite_the_quota(store: Store, raw: Redis) -> None:
    game, other = fill(store, owner := new_owner())

    assert claim(store, owner, game) == claim(store, owner, other) == Claimed()
    assert counted_games(raw, owner) == (2, 0)


def test_a_release_makes_room_for_one_game(store: Store) -> None:
    game, _ = fill(store, owner := new_owner())

    store.quotas.release(owner, game, timeout=SOON)

    assert claim(store, owner) == Claimed()
    assert claim(store, owner) == LiveExceeded([])


def test_a_release_of_an_uncounted_game_changes_nothing(store: Store) -> None:
    fill(store, owner := new_owner())

    store.quotas.release(owner, new_id(), timeout=SOON)

    assert claim(store, owner) == LiveExceeded([])


def test_owners_are_counted_separately(store: Store) -> None:
    fill(store, new_owner())

    assert claim(store, new_owner()) == Claimed()


def test_games_are_due_when_their_creation_must_have_ended(store: Store, raw: Redis) -> None:
    games = fill(store, owner := new_owner())
    age_counts(raw, owner, HOLD - 5000)
    assert claim(store, owner) == LiveExceeded([])

    age_counts(raw, owner, 5000)

    full = claim(store, owner)
    assert isinstance(full, LiveExceeded)
    assert sorted(due.game_id for due in full.unverified) == sorted(games)


@pytest.mark.usefixtures("a_minute_between_verifications")
def test_a_due_game_is_named_to_one_caller_at_a_time(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())
    named = due(store, raw, owner)
    named_at = now(raw)
    assert len(named) == 2
    assert claim(store, owner) == LiveExceeded([])
    eventually(lambda: now(raw) > named_at)  # scores are in milliseconds, and the next must differ

    age_counts(raw, owner, MINUTE)  # the first caller has not reported a result

    again = claim(store, owner)
    assert isinstance(again, LiveExceeded)
    assert {game.game_id for game in again.unverified} == {game.game_id for game in named}
    assert claim(store, owner, verified=[Verified(*game, expires_at=None) for game in named]) == LiveExceeded([])


def test_each_call_gets_a_few_due_games_and_the_next_call_others(store: Store, raw: Redis) -> None:
    owner, quota = new_owner(), Quota(live=20, created=None, window_ms=HOUR)
    for _ in range(20):
        claim(store, owner, quota=quota)
    age_counts(raw, owner, HOLD)

    first = claim(store, owner, quota=quota)
    assert isinstance(first, LiveExceeded)
    lives = [Verified(*game, expires_at=now(raw) + HOUR) for game in first.unverified]
    assert claim(store, owner, quota=quota, verified=lives) == LiveExceeded([])
    second = claim(store, owner, quota=quota)

    assert isinstance(second, LiveExceeded)
    assert (len(first.unverified), len(second.unverified)) == (16, 4)
    assert not {game.game_id for game in first.unverified} & {game.game_id for game in second.unverified}


def test_a_repeat_with_a_shorter_deadline_does_not_shorten_the_first_claim(store: Store, raw: Redis) -> None:
    game, _ = fill(store, owner := new_owner())
    assert claim(store, owner, game, hold_ms=1000) == Claimed()

    age_counts(raw, owner, HOLD - 5000)

    assert claim(store, owner) == LiveExceeded([])


@pytest.mark.usefixtures("a_minute_between_verifications")
def test_games_are_due_after_the_clock_was_set_back(store: Store, raw: Redis) -> None:
    games = fill(store, owner := new_owner())

    age_counts(raw, owner, -2 * HOUR)

    full = claim(store, owner)
    assert isinstance(full, LiveExceeded)
    assert sorted(due.game_id for due in full.unverified) == sorted(games)
    assert claim(store, owner) == LiveExceeded([])


def test_a_repeat_after_the_clock_was_set_back_has_its_own_deadline(store: Store, raw: Redis) -> None:
    game, _ = fill(store, owner := new_owner())
    age_counts(raw, owner, -2 * HOUR)

    claim(store, owner, game)

    assert 0 < raw.zscore(owner_keys(owner).live, game) - now(raw) <= HOLD  # type: ignore[operator] # it is there


def test_a_finished_game_makes_room_for_one(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())
    first, second = due(store, raw, owner)

    verified = [Verified(*first, expires_at=None), Verified(*second, expires_at=now(raw) + HOUR)]

    assert claim(store, owner, verified=verified) == Claimed()
    assert claim(store, owner) == LiveExceeded([])


@pytest.mark.parametrize(
    ("remaining_ms", "expected_ms"), [(-HOUR, 1000), (500, 1000), (30_000, 30_000), (MINUTE, MINUTE), (HOUR, MINUTE)]
)
def test_a_live_game_is_due_again_at_its_expiry_within_a_second_and_a_minute(
    store: Store, raw: Redis, remaining_ms: int, expected_ms: int
) -> None:
    fill(store, owner := new_owner())
    due_games = due(store, raw, owner)
    before = now(raw)
    verified = [Verified(*game, expires_at=before + remaining_ms) for game in due_games]

    assert claim(store, owner, verified=verified) == LiveExceeded([])

    after = now(raw)
    scored: Any = raw.zrange(owner_keys(owner).live, 0, -1, withscores=True)
    moments = [moment for _, moment in scored]
    assert len(moments) == 2
    assert all(before + expected_ms <= moment <= after + expected_ms for moment in moments)


def test_a_check_does_not_remove_a_creation_that_is_repeated_meanwhile(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())
    repeated, other = due(store, raw, owner)
    assert claim(store, owner, repeated.game_id) == Claimed()

    verified = [Verified(*repeated, expires_at=None), Verified(*other, expires_at=now(raw) + HOUR)]

    assert claim(store, owner, verified=verified) == LiveExceeded([])


def test_a_check_does_not_count_a_game_that_is_released_meanwhile(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())
    released, other = due(store, raw, owner)
    store.quotas.release(owner, released.game_id, timeout=SOON)

    verified = [Verified(*game, expires_at=now(raw) + HOUR) for game in (released, other)]

    assert claim(store, owner, verified=verified) == Claimed()
    assert claim(store, owner) == LiveExceeded([])


def test_a_lowered_quota_has_no_room_until_enough_games_are_over(store: Store) -> None:
    game, other = fill(store, owner := new_owner())
    lower = Quota(live=1, created=None, window_ms=HOUR)

    assert claim(store, owner, quota=lower) == LiveExceeded([])
    store.quotas.release(owner, game, timeout=SOON)
    assert claim(store, owner, quota=lower) == LiveExceeded([])
    store.quotas.release(owner, other, timeout=SOON)
    assert claim(store, owner, quota=lower) == Claimed()


def test_live_counts_do_not_expire(store: Store, raw: Redis) -> None:
    game, other = fill(store, owner := new_owner())
    key = owner_keys(owner).live

    assert raw.pttl(key) == -1
    store.quotas.release(owner, game, timeout=SOON)
    store.quotas.release(owner, other, timeout=SOON)
    assert not raw.exists(key)


# --- New games --------------------------------------------------------------------------------------------------------


def test_claims_succeed_up_to_the_quota_and_again_when_the_first_leaves_the_window(store: Store, raw: Redis) -> None:
    owner = new_owner()
    claim(store, owner, quota=CREATED)
    age_counts(raw, owner, 600_000)
    claim(store, owner, quota=CREATED)

    spent = claim(store, owner, quota=CREATED)

    assert isinstance(spent, RateExceeded)
    assert HOUR - 610_000 < spent.wait_ms <= HOUR - 600_000
    age_counts(raw, owner, spent.wait_ms)
    assert claim(store, owner, quota=CREATED) == Claimed()
    assert isinstance(claim(store, owner, quota=CREATED), RateExceeded)


def test_a_repeated_creation_counts_once(store: Store, raw: Redis) -> None:
    owner, game = new_owner(), new_id()

    assert [claim(store, owner, game, CREATED) for _ in range(3)] == [Claimed()] * 3
    assert counted_games(raw, owner) == (0, 1)
    claim(store, owner, quota=CREATED)
    assert claim(store, owner, game, CREATED) == Claimed()


def test_a_repeated_claim_counts_from_then_on(store: Store, raw: Redis) -> None:
    owner, games = new_owner(), [new_id(), new_id()]
    for game in games:
        claim(store, owner, game, CREATED)
    age_counts(raw, owner, HOUR - 60_000)
    assert [claim(store, owner, game, CREATED) for game in games] == [Claimed()] * 2

    age_counts(raw, owner, 120_000)

    assert isinstance(claim(store, owner, quota=CREATED), RateExceeded)


def test_the_wait_is_at_most_the_window_after_the_clock_was_set_back(store: Store, raw: Redis) -> None:
    owner = new_owner()
    for _ in range(2):
        claim(store, owner, quota=CREATED)

    age_counts(raw, owner, -2 * HOUR)

    spent = claim(store, owner, quota=CREATED)
    assert isinstance(spent, RateExceeded)
    assert HOUR - 10_000 < spent.wait_ms <= HOUR


@pytest.mark.parametrize("created", [2, 3], ids=["spent", "room"])
def test_created_games_are_remembered_for_a_window_that_was_extended(store: Store, raw: Redis, created: int) -> None:
    owner = new_owner()
    for _ in range(2):
        claim(store, owner, quota=CREATED._replace(window_ms=60_000))

    claim(store, owner, quota=CREATED._replace(created=created))

    assert HOUR - 10_000 < raw.pttl(owner_keys(owner).created) <= HOUR


def test_a_released_game_still_counts_as_created(store: Store, raw: Redis) -> None:
    owner, game = new_owner(), new_id()
    claim(store, owner, game, BOTH)

    store.quotas.release(owner, game, timeout=SOON)

    assert counted_games(raw, owner) == (0, 1)


def test_a_lowered_window_quota_reports_the_wait(store: Store, raw: Redis) -> None:
    owner = new_owner()
    for _ in range(3):
        claim(store, owner, quota=BOTH._replace(live=9))
        age_counts(raw, owner, 600_000)

    spent = claim(store, owner, quota=CREATED._replace(created=1))

    assert isinstance(spent, RateExceeded)
    assert HOUR - 610_000 < spent.wait_ms <= HOUR - 600_000


def test_counts_expire_with_the_window(store: Store, raw: Redis) -> None:
    claim(store, owner := new_owner(), quota=CREATED)

    assert HOUR - 10_000 < raw.pttl(owner_keys(owner).created) <= HOUR


def test_a_game_rejected_by_one_quota_does_not_count_for_the_other(store: Store, raw: Redis) -> None:
    full, spent = new_owner(), new_owner()
    for _ in range(2):
        claim(store, full, quota=BOTH)
        claim(store, spent, quota=CREATED)

    assert claim(store, full, quota=BOTH) == LiveExceeded([])
    assert isinstance(claim(store, spent, quota=BOTH._replace(created=2)), RateExceeded)
    assert (counted_games(raw, full), counted_games(raw, spent)) == ((2, 2), (0, 2))


# --- Concurrency ------------------------------------------------------------------------------------------------------


def test_concurrent_claims_fill_the_quota_exactly(store_url: str, raw: Redis) -> None:
    owner, quota = new_owner(), Quota(live=5, created=7, window_ms=HOUR)
    stores, barrier = [connect(store_url) for _ in range(2)], threading.Barrier(16)

    def one(number: int) -> ClaimResult:
        barrier.wait(SOON)
        return claim(stores[number % 2], owner, quota=quota)

    with ThreadPoolExecutor(16) as threads:
        outcomes = list(threads.map(one, range(16)))

    assert sorted(map(str, outcomes)) == ["Claimed()"] * 5 + ["LiveExceeded(unverified=[])"] * 11
    assert counted_games(raw, owner) == (5, 5)
    for store in stores:
        store.close()


# --- Server failures --------------------------------------------------------------------------------------------------


def test_counts_survive_a_restart_of_the_server(own: Store, valkey: Server) -> None:
    with valkey.client() as raw:
        raw.config_set("appendfsync", "always")
    fill(own, owner := new_owner())

    valkey.kill()
    valkey.start()

    assert claim(own, owner) == LiveExceeded([])


def test_a_server_that_lost_the_counts_accepts_claims(store: Store, raw: Redis) -> None:
    fill(store, owner := new_owner())

    raw.delete(*owner_keys(owner))

    assert claim(store, owner) == Claimed()


# --- Ids in use -------------------------------------------------------------------------------------------------------


def test_the_id_of_a_deleted_game_stays_in_use(store: Store) -> None:
    game = new_game(store)

    assert store.quotas.exists(game, timeout=SOON)
    store.games.delete(game, tombstone_ttl_ms=HOUR, timeout=SOON)
    assert store.quotas.exists(game, timeout=SOON)
    assert not store.quotas.exists(new_id(), timeout=SOON)


def now(raw: Redis) -> int:
    seconds, microseconds = raw.time()
    return int(seconds * 1000 + microseconds // 1000)
