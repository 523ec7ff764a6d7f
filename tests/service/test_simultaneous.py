"""Simultaneous decisions: all act at one instant, on two processes, and nobody learns what another did."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from sodafountain.v1 import game_pb2, soda_smugglers_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersMove, SodaSmugglersOptions
from tests.support.ears import parts, response_of, without_names
from tests.support.players import Caller, Game, new_game
from tests.support.raw import Heard, hear
from tests.support.service import Service, channel_to, two_services

REPETITIONS: Final = 200
WAVE: Final = game_pb2.Move(soda_smugglers=SodaSmugglersMove(wave_through=SodaSmugglersMove.WaveThrough()))

Stubs = tuple[GameServiceStub, GameServiceStub]


def smugglers(**fields: Any) -> game_pb2.Options:
    """Writes options of Soda Smugglers."""
    return game_pb2.Options(soda_smugglers=SodaSmugglersOptions(**fields))


# --- All at one instant -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stubs(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stubs]:
    folder: Path = tmp_path_factory.mktemp("simultaneous")
    with (
        two_services(folder, store_url) as (one, two),
        channel_to(one.target) as first,
        channel_to(two.target) as second,
    ):
        yield GameServiceStub(first), GameServiceStub(second)


def test_all_travelers_who_pack_at_one_instant_succeed(stubs: Stubs) -> None:
    repetitions = 0
    with ThreadPoolExecutor(8) as threads:
        while repetitions < REPETITIONS:
            seats = 3 + repetitions % 6
            game = new_game(stubs[0], seats, smugglers(events=bool(repetitions % 2)))
            while (state := game.spectator.state()).status == game_pb2.GAME_STATUS_ACTIVE:
                packed_at_one_instant(game, stubs, state, threads)
                guard = state.view.soda_smugglers.guard_seat
                assert game.spectator.state().awaiting_seats == [guard]
                game.seats[guard].apply(WAVE)
                repetitions += 1


def packed_at_one_instant(game: Game, stubs: Stubs, state: game_pb2.GameState, threads: ThreadPoolExecutor) -> None:
    """Has all travelers pack at once, every other one at either process, each for the decision that it was shown."""
    barrier = threading.Barrier(len(state.awaiting_seats))

    def packs(seat: int) -> pb.ApplyMoveResponse:
        caller = game.seats[seat].at(stubs[seat % 2])
        offered = caller.legal()
        barrier.wait()
        chosen = offered.moves[seat % len(offered.moves)].move
        return caller.apply(chosen, etag=offered.etag, request_id=str(uuid.uuid4()))

    answers = list(threads.map(packs, state.awaiting_seats))

    made = range(state.version + 1, state.version + 1 + len(answers))
    assert sorted(answer.committed_version for answer in answers) == list(made)
    for seat, answer in zip(state.awaiting_seats, answers, strict=True):
        own = answer.state.view.soda_smugglers.seats[seat]
        assert own.packed
        assert all(suitcase.HasField("bottles") for suitcase in own.luggage)


# --- Nobody learns what another packed --------------------------------------------------------------------------------

SEED: Final = bytes(range(32))
PACKERS: Final = (1, 3)
LISTENERS: Final = (0, 2, None)

Pair = tuple[list[tuple[str, Heard]], list[tuple[str, Heard]]]


def pack(game: Game, seat: int, which: int) -> None:
    """Packs: the first of all packs, or the last."""
    caller = game.seats[seat]
    caller.apply(caller.legal().moves[which].move)


def all_that_can_be_heard(channel: grpc.Channel, game: Game, caller: Caller) -> Iterator[tuple[str, Heard]]:
    """Makes every call that a seat or a spectator can make, the own pack aside."""
    name = game.game_id
    illegal = game_pb2.Move(soda_smugglers=SodaSmugglersMove(pack=SodaSmugglersMove.Pack(luggage=[3, 3, 3], bribe=3)))
    for method, request in (
        ("GetGame", pb.GetGameRequest(game_id=name, include_legal_moves=True)),
        ("GetGame", pb.GetGameRequest(game_id=name, seat=1)),
        ("LegalMoves", pb.LegalMovesRequest(game_id=name)),
        ("ApplyMove", pb.ApplyMoveRequest(game_id=name, move=illegal)),
        ("ApplyMove", pb.ApplyMoveRequest(game_id=name, move=WAVE)),
        ("Score", pb.ScoreRequest(game_id=name)),
        ("GetHistory", pb.GetHistoryRequest(game_id=name)),
    ):
        yield method, hear(channel, method, request.SerializeToString(), caller.metadata)


def heard_by_others(service: Service, which: int) -> list[tuple[str, Heard]]:
    """Everything that seats 0 and 2 and a spectator hear while seats 1 and 3 pack."""
    heard: list[tuple[str, Heard]] = []
    with channel_to(service.target) as channel:
        game = new_game(GameServiceStub(channel), 5, smugglers(first_guard=0, events=True), seed=SEED)
        for seat in PACKERS:
            pack(game, seat, which)
            for listener in LISTENERS:
                caller = game.spectator if listener is None else game.seats[listener]
                heard.extend(all_that_can_be_heard(channel, game, caller))
        # Seat 2 packs the same in every game; what it is answered is heard too.
        own = game.seats[2].legal().moves[0].move
        request = pb.ApplyMoveRequest(game_id=game.game_id, move=own, include_legal_moves=True)
        heard.append(("ApplyMove", hear(channel, "ApplyMove", request.SerializeToString(), game.seats[2].metadata)))
    return heard


@pytest.fixture(scope="module")
def pair(service: Service) -> Pair:
    """What others heard of two games of the same deal, in which two seats packed differently."""
    return heard_by_others(service, 0), heard_by_others(service, -1)


def each_pair(pair: Pair) -> Iterator[tuple[str, Heard, Heard]]:
    """Pairs the same call in the two games."""
    for (method, one), (_, other) in zip(*pair, strict=True):
        yield method, one, other


def test_what_others_packed_changes_no_answer(pair: Pair) -> None:
    answered = 0
    for method, one, other in each_pair(pair):
        assert one.code == other.code
        if one.code == grpc.StatusCode.OK:
            assert without_names(response_of(method, one)) == without_names(response_of(method, other))
            answered += 1
    assert answered > 15


def test_what_others_packed_changes_no_answers_size(pair: Pair) -> None:
    def size(method: str, heard: Heard) -> int:
        response = response_of(method, heard)
        states = [part for part in parts(response) if isinstance(part, game_pb2.GameState)] if response else []
        return len(heard.body) - sum(state.expire_time.ByteSize() for state in states)

    for method, one, other in each_pair(pair):
        assert size(method, one) == size(method, other), method


def test_what_others_packed_changes_no_refusal(pair: Pair) -> None:
    refused = 0
    for _, one, other in each_pair(pair):
        if one.code != grpc.StatusCode.OK:
            assert one == other
            refused += 1
    assert refused > 10


def test_only_the_owner_sees_a_pack_before_all_have_packed(pair: Pair) -> None:
    seen = 0
    for method, heard in (*pair[0], *pair[1]):
        response = response_of(method, heard)
        for part in parts(response) if response else ():
            if isinstance(part, soda_smugglers_pb2.SodaSmugglersView.Seat) and part.seat in PACKERS and part.packed:
                assert not part.HasField("bribe")
                assert not any(suitcase.HasField("bottles") for suitcase in part.luggage)
                assert not part.hand
                seen += 1
    assert seen > 10


def test_packing_leaves_the_etags_of_others_alone(service: Service) -> None:
    with channel_to(service.target) as channel:
        game = new_game(GameServiceStub(channel), 5, smugglers(first_guard=0), seed=SEED)
        before = [caller.legal() for caller in game.seats]
        pack(game, 1, 0)
        after = [caller.legal() for caller in game.seats]

    for seat in (2, 3, 4):
        assert after[seat].etag == before[seat].etag
        assert after[seat].moves == before[seat].moves
    assert after[0].etag != before[0].etag  # the guard waits: its etag is the version's
