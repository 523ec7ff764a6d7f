"""Fourteen seats act simultaneously through two processes: each move is committed once, in time, and stays secret."""

import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import Any

import grpc
import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI
from tests.support.game_clients import Game, GameClient, new_game
from tests.support.long_cases import long_case
from tests.support.move_log import MoveLog, check_history, full_history
from tests.support.moves import flip
from tests.support.raw_calls import call_raw
from tests.support.retrying_client import RetryingClient
from tests.support.service import Service, channel_to, two_services
from tests.support.simultaneous_game import NUMBERS, SEATS
from tests.support.simultaneous_game_service import SimultaneousGameService
from tests.support.store_servers import Server
from tests.support.transcripts import response_of, without_ids

ROUNDS = 80
PLAYERS = SEATS[-1]
DEADLINE = 5.0


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """Two processes that serve the simultaneous game."""
    folder: Path = tmp_path_factory.mktemp("simultaneous")
    with (
        Server(folder / "store") as store,
        two_services(folder, store.url, f"--rounds={ROUNDS}", kind=SimultaneousGameService) as services,
    ):
        yield services


def pick(number: int) -> game_pb2.Move:
    return flip(FLAVOR_KIWI, number)


class ConcurrentGame:
    """A game and fourteen players that act at the same moment, each on a connection of its own."""

    def __init__(self, services: tuple[Service, Service], game: Game) -> None:
        self._services = services
        self._game = game
        self._barrier = threading.Barrier(PLAYERS, timeout=60.0)
        self.move_logs = [MoveLog() for _ in game.seats]
        self.errors: list[str] = []

    def play(self) -> None:
        """Play the game to its end."""
        with ThreadPoolExecutor(PLAYERS) as threads:
            for player in [threads.submit(self._play_seat, seat) for seat in range(PLAYERS)]:
                player.result()

    def _play_seat(self, seat: int) -> None:
        rng = random.Random(seat)
        try:
            with RetryingClient([self._services[seat % 2].target]) as client:
                for number in range(ROUNDS):
                    self._play_round(client, seat, number, rng.choice(NUMBERS))
                self.errors += client.errors
        except BaseException:
            self._barrier.abort()
            raise

    def _play_round(self, client: RetryingClient, seat: int, number: int, choice: int) -> None:
        caller = self._game.seats[seat]
        before = client.call(GameClient.state, caller)
        assert before.version == 1 + PLAYERS * number, "a read after all writes of the round before does not see them"
        assert before.awaiting_seats == list(range(PLAYERS))
        self._barrier.wait()
        answer = self.move_logs[seat].apply(client, caller, seat, pick(choice), before.etag, timeout=DEADLINE)
        self._check_visibility(answer, number, seat, choice)
        self._barrier.wait()

    @staticmethod
    def _check_visibility(answer: pb.ApplyMoveResponse, number: int, seat: int, choice: int) -> None:
        picked, *revealed = (event.detail.soda_jerk for event in answer.events)
        assert (picked.flipped.card.seat, picked.flipped.card.position) == (seat, choice)
        all_have_picked = answer.committed_version == 1 + PLAYERS * (number + 1)
        assert [event.round_ended.round for event in revealed] == ([number + 1] if all_have_picked else [])
        view = answer.state.view.soda_jerk
        in_this_round = view.round == number + 1
        assert view.flips_in_a_row == (choice if in_this_round else 0)
        assert view.finished_rounds[0].round == view.round - 1
        assert in_this_round == (answer.state.version < 1 + PLAYERS * (number + 1))


@pytest.mark.parametrize("games", [1, long_case(25)])
def test_fourteen_simultaneous_moves_all_succeed_in_every_round(games: int, services: tuple[Service, Service]) -> None:
    for number in range(games):
        with RetryingClient([services[number % 2].target]) as client:
            game = new_game(client.stub, PLAYERS)
            concurrent_game = ConcurrentGame(services, game)
            concurrent_game.play()
            moves = list(chain.from_iterable(move_log.moves for move_log in concurrent_game.move_logs))

            assert not concurrent_game.errors
            assert len(moves) == PLAYERS * ROUNDS
            assert not any(move.repeated for move in moves)
            check_history(full_history(client, game.spectator), moves)


def test_a_choice_is_hidden_until_all_seats_have_chosen(services: tuple[Service, Service]) -> None:
    with channel_to(services[0].target) as channel:
        low, high = (received_by_others(channel, choice) for choice in (NUMBERS[0], NUMBERS[-1]))

    assert len(low) == len(high) > PLAYERS**2
    for one, other in zip(low, high, strict=True):
        assert one == other


def received_by_others(channel: grpc.Channel, choice: int) -> list[tuple[Any, ...]]:
    """Let the first seat choose, then all others except the last; return what the others receive meanwhile."""
    game = new_game(GameServiceStub(channel), PLAYERS)
    others = (*game.seats[1:], game.spectator)
    game.seats[0].apply(pick(choice))
    received = []
    for chooser in game.seats[1:-1]:
        received.append(call_blank(channel, chooser, "ApplyMove", move=pick(5)))
        for viewer in others:
            received += [
                call_blank(channel, viewer, method) for method in ("GetGame", "LegalMoves", "Score", "GetHistory")
            ]
    return received


def call_blank(channel: grpc.Channel, caller: GameClient, method: str, **fields: Any) -> tuple[Any, ...]:
    """Make a call and return everything received except the fields that differ between any two games."""
    request = getattr(pb, f"{method}Request")(game_id=caller.game_id, **fields)
    received = call_raw(channel, method, request.SerializeToString(), caller.metadata)
    response = response_of(method, received)
    blank = b"" if response is None else without_ids(response).SerializeToString()
    return method, received.code, received.details, received.metadata, blank, len(blank)
