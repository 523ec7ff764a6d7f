"""Every stream ends with a reason."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

from sodafountain.v1 import game_service_pb2 as pb
from tests.service.watching.conftest import Own, Processes, TwoServices
from tests.support import http2
from tests.support.game_clients import Game, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.service import Service
from tests.support.store_servers import eventually
from tests.support.watching import Watch, check_complete, ends_of

WATCH = b"/sodafountain.v1.GameService/WatchGame"


def test_a_finished_game_is_sent_once_and_the_stream_ends(pair: TwoServices) -> None:
    game = new_game(pair.first)
    play(game, random.Random(1))

    messages = Watch(game.seats[0]).rest()

    assert messages[0].snapshot == game.seats[0].state()
    assert [message.WhichOneof("item") for message in messages] == ["snapshot", "end"]
    assert ends_of(messages) == ["FINISHED"]


def test_a_deleted_game_ends_its_streams_immediately_at_every_process(own: Own) -> None:
    """The other process has a heartbeat of one hour."""
    game = new_game(own.first)
    watches = [Watch(game.spectator), Watch(game.seats[1]), Watch(game.spectator.at(own.second))]
    for watch in watches:
        watch.next()

    game.host.delete()

    for watch in watches:
        assert ends_of(watch.rest()) == ["DELETED"]
        assert watch.code() == grpc.StatusCode.OK


@pytest.mark.parametrize("heartbeat_seconds", [0.3, 3600.0])
def test_an_expired_game_ends_its_streams_soon(store_url: str, heartbeat_seconds: float) -> None:
    with in_process_stub(store_url, idle_ms=1500, heartbeat_seconds=heartbeat_seconds) as stub:
        game = new_game(stub)
        watches = [Watch(caller) for caller in (game.spectator, *game.seats)]

        ends = [ends_of(watch.rest()) for watch in watches]

        late = time.time() - game.created.state.expire_time.ToNanoseconds() / 1e9
        assert ends == [["EXPIRED"]] * 4
        assert 0 <= late < 5


def test_a_stopping_server_ends_its_streams_and_does_not_wait_for_them(processes: Processes) -> None:
    game = new_game(processes.first)
    watches = [Watch(caller) for caller in [game.spectator, *game.seats] * 10]
    for watch in watches:
        watch.next()
    started = time.monotonic()

    code = processes.one.stop()

    assert code == 0
    assert time.monotonic() - started < 5  # less than the ten seconds of a drain
    for watch in watches:
        assert ends_of(watch.rest()) == ["DRAINING"]
    play(game.at(processes.second), random.Random(3), moves=2)
    after = Watch(game.spectator.at(processes.second), resume_token=watches[0].resume_token)
    after.next()
    assert check_complete([*watches[0].messages, *after.messages]) == 3


class StalledReader:
    """A watcher that reads nothing: its window is zero."""

    def __init__(self, service: Service, game: Game) -> None:
        opening = http2.PREFACE + http2.settings((http2.INITIAL_WINDOW_SIZE, 0))
        self.connection = http2.Connection(service.target, opening=opening)
        self.stream = self.connection.next_stream()
        request = pb.WatchGameRequest(game_id=game.game_id).SerializeToString()
        self.connection.send(http2.call(self.stream, http2.call_fields(WATCH), http2.message(request)))

    def answer(self) -> http2.Answer:
        """Wait for the end of the stream."""
        return self.connection.answer(self.stream)

    def close(self) -> None:
        """Close the connection."""
        self.connection.socket.close()


@pytest.fixture
def stalled_reader(pair: TwoServices) -> Iterator[Any]:
    """Return a function that creates watchers which read nothing."""
    readers: list[StalledReader] = []

    def make(game: Game) -> StalledReader:
        readers.append(StalledReader(pair.one, game))
        return readers[-1]

    yield make
    for one in readers:
        one.close()


def stalled(service: Service, game: Game) -> int:
    """Return the number of watchers of a game that were cut off as too slow, by the service's log."""
    return sum(line.get("reason") == "STALLED" and line["game_id"] == game.game_id for line in service.logs())


def test_a_watcher_that_never_reads_is_cut_off_within_two_seconds(pair: TwoServices, stalled_reader: Any) -> None:
    game = new_game(pair.first)
    started = time.monotonic()
    one = stalled_reader(game)

    answer = one.answer()

    assert (answer.status, answer.body) == (grpc.StatusCode.CANCELLED.value[0], b"")
    assert 1 < time.monotonic() - started < 3  # the limit is two seconds; a slow machine takes longer
    eventually(lambda: stalled(pair.one, game) == 1)


def test_watchers_that_never_read_delay_no_other(pair: TwoServices, stalled_reader: Any) -> None:
    """A hundred watchers do not read, ten times the number of sending threads. Another receives each move meanwhile."""
    game = new_game(pair.first)
    readers = [stalled_reader(game) for _ in range(100)]
    reader = Watch(game.spectator)
    reader.next()
    cut_before = []

    for version in range(2, 12):
        play(game, random.Random(version), moves=1)
        reader.until_version(version)
        cut_before.append(stalled(pair.one, game))

    assert cut_before[0] < 100, "the slow watchers were cut off before the first move: this shows nothing"
    assert {one.answer().status for one in readers} == {grpc.StatusCode.CANCELLED.value[0]}
    check_complete(reader.messages)


def test_a_watcher_that_resumes_reading_in_time_gets_the_reason_stalled(pair: TwoServices, stalled_reader: Any) -> None:
    game = new_game(pair.first)
    one = stalled_reader(game)
    with ThreadPoolExecutor(1) as thread:
        answer = thread.submit(one.answer)
        time.sleep(1.3)  # longer than the stall limit, and shorter than the cut-off
        one.connection.send(http2.window_update(one.stream, 1 << 20))

    body = answer.result().body
    messages = []
    while body:
        size = int.from_bytes(body[1:5], "big")
        messages.append(pb.WatchGameResponse.FromString(body[5 : 5 + size]))
        body = body[5 + size :]
    assert answer.result().status == grpc.StatusCode.OK.value[0]
    assert [message.WhichOneof("item") for message in messages] == ["snapshot", "end"]
    assert ends_of(messages) == ["STALLED"]
    assert messages[0].resume_token == messages[1].resume_token
