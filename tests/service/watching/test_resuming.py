"""An interrupted watch resumes at any process. No message is lost or repeated."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest

from sodafountain.v1 import game_pb2, juices_pb2
from tests.service.transport.errors.fixtures import check
from tests.service.watching.conftest import Own, Processes, TwoServices
from tests.support.game_clients import Game, expect_error, new_game, play
from tests.support.store_servers import Server
from tests.support.watching import Watch, check_complete, ends_of, events_of, state_of

BIG = game_pb2.Options(juices=juices_pb2.JuicesOptions(mode=juices_pb2.JUICES_MODE_BASIC, copies=2))


def test_a_resumed_watch_receives_all_changes_in_one_message(pair: TwoServices) -> None:
    game = new_game(pair.first)
    before = Watch(game.spectator)
    before.next()
    before.cancel()
    play(game, random.Random(1), moves=7)

    after = Watch(game.spectator.at(pair.second), resume_token=before.resume_token)

    first = after.next()
    assert (first.update.first_version, first.update.state.version) == (2, 8)
    assert check_complete([*before.messages, first]) == 8


def test_a_resumed_watch_without_changes_receives_a_heartbeat_immediately(pair: TwoServices) -> None:
    game = new_game(pair.first)
    token = Watch(game.spectator).next().resume_token

    first = Watch(game.spectator.at(pair.second), resume_token=token).next()

    assert first.heartbeat.version == 1
    assert first.resume_token == token


def test_a_watch_resumed_after_the_end_receives_the_rest_and_the_end(pair: TwoServices) -> None:
    game = new_game(pair.first)
    token = Watch(game.spectator).next().resume_token
    play(game, random.Random(2))

    messages = Watch(game.spectator, resume_token=token).rest()
    again = Watch(game.spectator, resume_token=messages[-1].resume_token).rest()

    assert check_complete(messages, after=1) == state_of(messages[0]).version
    assert (ends_of(messages), ends_of(again)) == (["FINISHED"], ["FINISHED"])
    assert not events_of(again)


def test_a_resume_token_is_valid_for_every_viewer(pair: TwoServices) -> None:
    """It contains a position in the game, but no viewer."""
    game = new_game(pair.first)
    token = Watch(game.seats[0]).next().resume_token
    play(game, random.Random(3), moves=2)

    first = Watch(game.seats[1], resume_token=token).next()

    assert first.update.state.viewer_seat == 1


@pytest.mark.parametrize(
    "token", ["x", "w", "w1", "w1-", "1-aa", "w0-aa", "w-1-aa", "w1-aa ", "w1-aa\n", "W1-aa", "w1-" + "a" * 40, "w1-é"]
)
def test_an_invalid_resume_token_is_rejected(pair: TwoServices, token: str) -> None:
    game = new_game(pair.first)

    check(expect_error(Watch(game.spectator, resume_token=token).next), "MALFORMED", "empty", "resume_token")


@pytest.mark.parametrize("token", ["w1-abc", "w2-abc", "w999999999-abc"], ids=["now", "later", "much later"])
def test_a_token_of_an_unknown_version_starts_with_a_snapshot(pair: TwoServices, token: str) -> None:
    game = new_game(pair.first)

    assert Watch(game.spectator, resume_token=token).next().snapshot.version == 1


def test_a_token_with_another_nonce_than_its_version_starts_with_a_snapshot(pair: TwoServices) -> None:
    game = new_game(pair.first)
    play(game, random.Random(4), moves=3)

    assert Watch(game.spectator, resume_token="w2-abc").next().snapshot.version == 4


def test_no_message_is_lost_or_repeated_in_a_hundred_random_reconnects(pair: TwoServices) -> None:
    rng = random.Random(5)
    game = new_game(pair.first, 11, BIG, sealed=True)
    clients = [game.spectator, game.spectator.at(pair.second)]
    messages = [Watch(game.spectator).next()]
    reconnects = 0

    with moves_between(game.at(pair.second)) as allow:
        while not ends_of(messages):
            allow(rng.randrange(4))
            watch = Watch(rng.choice(clients), resume_token=messages[-1].resume_token)
            for _ in range(rng.randint(1, 3)):
                messages.append(watch.next())
                if messages[-1].HasField("end"):
                    break
            watch.cancel()
            reconnects += 1

    expected = [event for entry in game.spectator.history(page_size=1000).entries[1:] for event in entry.events]
    assert reconnects > 100
    assert events_of(messages) == expected
    check_complete(messages)


@contextmanager
def moves_between(game: Game) -> Iterator[Any]:
    """Play a game in a thread: only as many moves as are allowed within the block, and to the end after it."""
    allowed = threading.Semaphore(0)

    def play_allowed_moves() -> None:
        rng = random.Random(6)
        while game.spectator.state().awaiting_seats:
            allowed.acquire()
            play(game, rng, moves=1)

    thread = threading.Thread(target=play_allowed_moves)
    thread.start()

    def allow(moves: int) -> None:
        if moves:
            allowed.release(moves)

    try:
        yield allow
    finally:
        allow(10_000)
        thread.join()


def test_a_watch_of_a_killed_process_continues_at_the_other(processes: Processes) -> None:
    game = new_game(processes.first)
    watch = Watch(game.spectator)
    watch.next()
    play(game.at(processes.second), random.Random(7), moves=5)
    watch.until_version(4)

    processes.one.kill()
    with pytest.raises(grpc.RpcError) as cut:
        watch.rest()
    play(game.at(processes.second), random.Random(8))
    after = Watch(game.spectator.at(processes.second), resume_token=watch.resume_token)
    after.rest()

    assert cut.value.code() == grpc.StatusCode.UNAVAILABLE
    check_complete([*watch.messages, *after.messages])
    assert ends_of(after.messages) == ["FINISHED"]


class TestAFork:
    """After a failover the store may have lost its newest changes and accepted others instead."""

    def test_a_token_of_the_lost_branch_starts_with_a_snapshot(self, own: Own) -> None:
        game = new_game(own.first, 2)
        with changes_undone(own.store, game):
            play(game, random.Random(9), moves=3)
            lost = Watch(game.spectator).next()
        play(game.at(own.second), random.Random(10), moves=4)

        first = Watch(game.spectator.at(own.second), resume_token=lost.resume_token).next()

        assert first.snapshot.version == 5
        assert first.snapshot == game.spectator.at(own.second).state()

    @pytest.mark.parametrize("moves", [1, 2, 5])
    def test_current_watchers_receive_a_new_snapshot(self, own: Own, moves: int) -> None:
        game = new_game(own.first, 2)
        watch = Watch(game.spectator.at(own.second))
        watch.next()
        with changes_undone(own.store, game):
            play(game, random.Random(9), moves=2)
            watch.until_version(3)
        play(game, random.Random(10), moves=moves)

        again = watch.until(lambda message: message.HasField("snapshot"))

        while state_of(again).version < 1 + moves:
            again = watch.next()
        assert state_of(again) == game.spectator.state()

    def test_a_new_watcher_detects_a_fork_of_the_game(self, own: Own) -> None:
        """The second service has a heartbeat of one hour: a new watcher makes it read the store."""
        game = new_game(own.first, 2)
        early = Watch(game.spectator).next()
        watch = Watch(game.spectator.at(own.second))
        watch.next()
        with changes_undone(own.store, game):
            play(game, random.Random(9), moves=2)
            watch.until_version(3)

        newcomer = Watch(game.spectator.at(own.second), resume_token=early.resume_token)

        for one in (watch, newcomer):
            message = one.until(lambda message: message.HasField("snapshot") and message.snapshot.version == 1)
            assert message.snapshot == game.spectator.state()

    @pytest.mark.parametrize("moves", [2, 4])
    def test_a_longer_new_branch_is_detected_by_its_nonces(self, own: Own, moves: int) -> None:
        """The versions do not reveal the fork, because the new branch has at least as many versions as the lost one."""
        game = new_game(own.first, 2)
        with changes_undone(own.store, game):
            play(game, random.Random(10), moves=moves)
            branch = dump(own.store, game)
        watch = Watch(game.spectator)
        watch.next()
        play(game, random.Random(9), moves=2)
        watch.until_version(3)

        restore(own.store, game, branch)

        message = watch.until(lambda message: not message.HasField("heartbeat"))
        assert message.snapshot == game.spectator.state()
        assert message.snapshot.version == 1 + moves


def dump(store: Server, game: Game) -> dict[bytes, bytes]:
    """Return all data of a game in the store."""
    with store.client() as client:
        return {key: client.dump(key) for key in client.keys(f"*{game.game_id}*")}


def restore(store: Server, game: Game, before: dict[bytes, bytes]) -> None:
    """Restore an earlier state of a game in the store, in one transaction."""
    with store.client() as client, client.pipeline() as together:
        for key in client.keys(f"*{game.game_id}*"):
            together.delete(key)
        for key, value in before.items():
            together.restore(key, 3_600_000, value)
        together.execute()


@contextmanager
def changes_undone(store: Server, game: Game) -> Iterator[None]:
    """Undo the changes of a game in the store at the end of the block."""
    before = dump(store, game)
    yield
    restore(store, game, before)
