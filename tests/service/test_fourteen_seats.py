"""Fourteen seats act at one instant, through two processes, and all succeed; etags of the others stay good."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.juices_pb2 import JUICES_MODE_ADVANCED, JuicesOptions, JuicesView
from tests.support.players import Caller, Game, new_game
from tests.support.service import channel_to, two_services

SEATS = 14
ADVANCED = game_pb2.Options(juices=JuicesOptions(mode=JUICES_MODE_ADVANCED))


@pytest.fixture(scope="module")
def stubs(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[GameServiceStub, ...]]:
    folder: Path = tmp_path_factory.mktemp("two")
    with (
        two_services(folder, store_url) as (one, two),
        channel_to(one.target) as first,
        channel_to(two.target) as second,
    ):
        yield GameServiceStub(first), GameServiceStub(second)


def all_at_once(calls: list[Callable[[], pb.ApplyMoveResponse]]) -> list[pb.ApplyMoveResponse]:
    """Makes all calls at the same moment."""
    barrier = threading.Barrier(len(calls))

    def make(call: Callable[[], pb.ApplyMoveResponse]) -> pb.ApplyMoveResponse:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(make, calls))


def everybody_moves(game: Game, stubs: tuple[GameServiceStub, ...]) -> list[pb.ApplyMoveResponse]:
    """Every seat asks what it may do, and then all do it at the same moment, half of them at either process."""
    offers = [seat.legal() for seat in game.seats]
    move = [
        partial(
            Caller.apply,
            seat.at(stubs[number % 2]),
            offer.moves[number % len(offer.moves)].move,
            etag=offer.etag,
            request_id=str(uuid.uuid4()),
            timeout=30.0,
        )
        for number, (seat, offer) in enumerate(zip(game.seats, offers, strict=True))
    ]
    return all_at_once(list(move))


def test_fourteen_clients_choose_and_then_place_at_one_instant(stubs: tuple[GameServiceStub, ...]) -> None:
    game = new_game(stubs[0], SEATS, ADVANCED)

    for first, asked in ((2, JuicesView.ASK_KEEP), (16, JuicesView.ASK_PLACE), (30, JuicesView.ASK_PLACE)):
        seats = game.spectator.state().view.juices.seats
        assert [seat.asked for seat in seats] == [asked] * SEATS
        answers = everybody_moves(game, stubs)
        assert sorted(answer.committed_version for answer in answers) == list(range(first, first + SEATS))


def test_no_choice_is_heard_before_the_last_one(stubs: tuple[GameServiceStub, ...]) -> None:
    """A seat that watches sees that others have chosen, and nothing of what."""
    game = new_game(stubs[0], 3, ADVANCED)
    for seat in game.seats[:2]:
        offered = seat.legal()
        seat.apply(offered.moves[0].move, etag=offered.etag)
        seen = game.seats[2].state(include_legal_moves=True)
        for other in seen.view.juices.seats[:2]:
            assert not other.hand
            assert not other.HasField("keeps")
        assert len(seen.legal_moves) == 2
    state = game.seats[2].state()
    assert list(state.awaiting_seats) == [2]
