"""Watchers receive every change even if notifications are lost."""

import random
import uuid

from tests.service.watching.conftest import Own, Processes
from tests.support.game_clients import Game, GameClient, new_game, play
from tests.support.retrying_client import RetryingClient
from tests.support.store_servers import eventually
from tests.support.watching import Watch, check_complete


def test_a_disconnected_subscriber_reconnects_and_catches_up(own: Own) -> None:
    """The second service has a heartbeat of one hour: it reads the store because it has subscribed again."""
    game = new_game(own.first)
    watches = [Watch(game.spectator), Watch(game.spectator.at(own.second))]
    for watch in watches:
        watch.next()
    with own.store.client() as client:
        eventually(lambda: client.execute_command("PUBSUB", "NUMSUB", channel(game.game_id))[1] == 2)

        for version in range(2, 6):
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
            play(game, random.Random(version), moves=1)

            for watch in watches:
                watch.until_version(version)
    for watch in watches:
        assert check_complete(watch.messages) == 5


def test_a_restarted_store_is_subscribed_to_again(own: Own) -> None:
    game = new_game(own.first)
    watches = [Watch(game.spectator), Watch(game.spectator.at(own.second))]
    for watch in watches:
        watch.next()

    own.store.kill()
    own.store.start()
    move(own.target, game, times=3)

    for watch in watches:
        watch.until_version(4)
        assert check_complete(watch.messages) == 4


def test_without_notifications_a_heartbeat_finds_the_changes(processes: Processes) -> None:
    with processes.store.client() as client:
        client.execute_command("ACL", "SETUSER", "default", "resetchannels")
        client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    game = new_game(processes.first)
    watch = Watch(game.spectator)
    watch.next()

    for version in range(2, 5):
        play(game, random.Random(version), moves=1)
        watch.until_version(version)

    assert check_complete(watch.messages) == 4
    assert any(line["event"] == "notifications_refused" for line in processes.one.logs())


def test_watchers_wait_while_the_store_is_down_and_catch_up_afterwards(processes: Processes) -> None:
    game = new_game(processes.first)
    watch = Watch(game.spectator, timeout=30)
    watch.next()

    processes.store.kill()
    eventually(lambda: any(line["event"] == "notifications_disconnected" for line in processes.one.logs()))
    processes.store.start()
    move(processes.one.target, game)

    watch.until_version(2)
    assert check_complete(watch.messages) == 2


def move(target: str, game: Game, *, times: int = 1) -> None:
    """Make moves through connections that may be broken."""
    with RetryingClient([target]) as client:
        for _ in range(times):
            seat = game.seats[client.call(GameClient.state, game.spectator).awaiting_seats[0]]
            offered = client.call(GameClient.legal, seat)
            client.call(GameClient.apply, seat, offered.moves[0].move, request_id=str(uuid.uuid4()))


def channel(game_id: str) -> str:
    """Return the channel of a game's notifications."""
    return f"sodafountain:{{{game_id}}}:hint"
