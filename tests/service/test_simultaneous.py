"""Simultaneous decisions: all seats act at the same moment at two processes, and each decision stays secret."""

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
from google.protobuf.message import Message

from engine.rng import Rng
from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.components import EventCard
from engine.soda_smugglers.state import Options, State
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.juices_pb2 import JUICES_MODE_ADVANCED, JuicesOptions, JuicesView
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersMove, SodaSmugglersOptions, SodaSmugglersView
from tests.support.game_clients import Game, GameClient, new_game
from tests.support.long_cases import long_case
from tests.support.raw_calls import Received, call_raw
from tests.support.service import Service, channel_to, two_services
from tests.support.transcripts import parts, response_of, size_without_times, without_ids
from tests.support.watching import Watch

SEATS: Final = 14
ADVANCED: Final = game_pb2.Options(juices=JuicesOptions(mode=JUICES_MODE_ADVANCED))

Stubs = tuple[GameServiceStub, GameServiceStub]


def smugglers(**fields: Any) -> game_pb2.Options:
    """Return options of Soda Smugglers."""
    return game_pb2.Options(soda_smugglers=SodaSmugglersOptions(**fields))


def smuggle(**fields: Any) -> game_pb2.Move:
    """Return a move of Soda Smugglers."""
    return game_pb2.Move(soda_smugglers=SodaSmugglersMove(**fields))


WAVE: Final = smuggle(wave_through=SodaSmugglersMove.WaveThrough())


# --- All at the same moment -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stubs(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stubs]:
    folder: Path = tmp_path_factory.mktemp("simultaneous")
    with (
        two_services(folder, store_url) as (one, two),
        channel_to(one.target) as first,
        channel_to(two.target) as second,
    ):
        yield GameServiceStub(first), GameServiceStub(second)


def all_act(
    game: Game, stubs: Stubs, seats: Sequence[int], version: int, threads: ThreadPoolExecutor
) -> list[pb.ApplyMoveResponse]:
    """Let the seats act at the same moment, alternating between the processes, with the etags of their decisions.

    All of them must succeed and commit the next versions.
    """
    barrier = threading.Barrier(len(seats), timeout=60.0)

    def act(seat: int) -> pb.ApplyMoveResponse:
        caller = game.seats[seat].at(stubs[seat % 2])
        legal = caller.legal()
        barrier.wait()
        chosen = legal.moves[seat % len(legal.moves)].move
        return caller.apply(chosen, etag=legal.etag, request_id=str(uuid.uuid4()), timeout=30.0)

    answers = list(threads.map(act, seats))
    versions = [answer.committed_version for answer in answers]
    assert sorted(versions) == list(range(version + 1, version + 1 + len(answers)))
    return answers


@pytest.mark.parametrize("packs", [60, long_case(200)])
def test_all_travelers_who_pack_at_the_same_moment_succeed(stubs: Stubs, packs: int) -> None:
    packed = 0
    with ThreadPoolExecutor(8) as threads:
        while packed < packs:
            seats = 3 + packed % 6
            game = new_game(stubs[0], seats, smugglers(events=bool(packed % 2)))
            while (state := game.spectator.state()).status == game_pb2.GAME_STATUS_ACTIVE:
                packing = state.awaiting_seats
                answers = all_act(game, stubs, packing, state.version, threads)
                for seat, answer in zip(packing, answers, strict=True):
                    own = answer.state.view.soda_smugglers.seats[seat]
                    assert own.packed
                    assert all(suitcase.HasField("bottles") for suitcase in own.luggage)
                guard = state.view.soda_smugglers.guard_seat
                assert game.spectator.state().awaiting_seats == [guard]
                game.seats[guard].apply(WAVE)
                packed += 1


def test_fourteen_seats_who_choose_and_place_at_the_same_moment_succeed(stubs: Stubs) -> None:
    game = new_game(stubs[0], SEATS, ADVANCED)

    with ThreadPoolExecutor(SEATS) as threads:
        for version, expected in ((1, JuicesView.ASK_KEEP), (15, JuicesView.ASK_PLACE), (29, JuicesView.ASK_PLACE)):
            seats = game.spectator.state().view.juices.seats
            assert [seat.asked for seat in seats] == [expected] * SEATS
            all_act(game, stubs, range(SEATS), version, threads)


# --- Two games that differ only in secret decisions -------------------------------------------------------------------


LISTENERS: Final = (0, 2, None)


class Observation(NamedTuple):
    """What a listener received: a seat, or a spectator (None)."""

    listener: int | None
    method: str
    received: Received

    @property
    def response(self) -> Message | None:
        return response_of(self.method, self.received)


class RecordedGame:
    """A game of Soda Smugglers with secret decisions, and everything that seats 0 and 2 and a spectator receive.

    Attributes:
        game: the game.
        observations: the responses to their calls.
        watched: the messages of their watches.
    """

    def __init__(self, service: Service, channel: grpc.Channel, seats: int, seed: bytes) -> None:
        self._service = service
        self._channel = channel
        options = smugglers(first_guard=0, events=True)
        self.game = new_game(GameServiceStub(channel), seats, options, seed=seed)
        self.observations: list[Observation] = []
        self.watched: list[pb.WatchGameResponse] = []
        self._watches = [
            Watch(self._caller(listener), timeout=120.0, include_legal_moves=True) for listener in LISTENERS
        ]
        self._watch(1)

    def secretly(self, seat: int, move: game_pb2.Move) -> None:
        """Let a seat decide in secret: its response is not recorded."""
        self._watch(self.game.seats[seat].apply(move).committed_version)

    def openly(self, seat: int, move: game_pb2.Move) -> None:
        """Let a listener act, and record its response."""
        request = pb.ApplyMoveRequest(game_id=self.game.game_id, move=move, include_legal_moves=True)
        response = response_of("ApplyMove", self._call(seat, "ApplyMove", request))
        assert isinstance(response, pb.ApplyMoveResponse)
        self._watch(response.committed_version)

    def listen(self) -> None:
        """Make every call of a seat or a spectator that changes nothing."""
        name = self.game.game_id
        illegal = smuggle(pack=SodaSmugglersMove.Pack(luggage=[3, 3, 3], bribe=3))
        for listener in LISTENERS:
            for method, request in (
                ("GetGame", pb.GetGameRequest(game_id=name, include_legal_moves=True)),
                ("GetGame", pb.GetGameRequest(game_id=name, seat=1)),
                ("LegalMoves", pb.LegalMovesRequest(game_id=name)),
                ("LegalMoves", pb.LegalMovesRequest(game_id=name, seat=1)),
                ("ApplyMove", pb.ApplyMoveRequest(game_id=name, move=illegal)),
                ("ApplyMove", pb.ApplyMoveRequest(game_id=name, move=illegal, etag="stale")),
                ("Score", pb.ScoreRequest(game_id=name)),
                ("GetHistory", pb.GetHistoryRequest(game_id=name)),
                ("GetHistory", pb.GetHistoryRequest(game_id=name, seat=1)),
            ):
                self._call(listener, method, request)

    def log(self) -> list[dict[str, Any]]:
        """Return the log lines of the game without the fields that differ between any two games."""
        return [
            {name: value for name, value in line.items() if name not in {"timestamp", "call_id", "ms", "game_id"}}
            for line in self._service.logs()
            if line.get("game_id") == self.game.game_id
        ]

    def leave(self) -> None:
        """Cancel the watches."""
        for watch in self._watches:
            watch.cancel()

    def _watch(self, version: int) -> None:
        """Read all watches up to a version, so that each version arrives in its own message."""
        for watch in self._watches:
            message = watch.until_version(version)
            message.ClearField("resume_token")
            self.watched.append(message)

    def _call(self, listener: int | None, method: str, request: Message) -> Received:
        received = call_raw(self._channel, method, request.SerializeToString(), self._caller(listener).metadata)
        self.observations.append(Observation(listener, method, received))
        return received

    def _caller(self, listener: int | None) -> GameClient:
        return self.game.spectator if listener is None else self.game.seats[listener]


def packs(service: Service, channel: grpc.Channel, *, other: bool) -> RecordedGame:
    """Let seats 1 and 3 make one of two packs that differ in every suitcase; seat 2 packs the same in both games."""
    recorded = RecordedGame(service, channel, 5, bytes(range(32)))
    for seat in (1, 3):
        moves = [offered.move for offered in recorded.game.seats[seat].legal().moves]
        recorded.secretly(seat, next(pair for pair in combinations(moves, 2) if unlike(*pair))[other])
        recorded.listen()
    recorded.openly(2, recorded.game.seats[2].legal().moves[0].move)
    return recorded


def unlike(one: game_pb2.Move, other: game_pb2.Move) -> bool:
    """Return whether two packs have nothing in common."""
    packed = [(*move.soda_smugglers.pack.luggage, move.soda_smugglers.pack.bribe) for move in (one, other)]
    return all(bottles != others for bottles, others in zip(*packed, strict=True))


def dog(service: Service, channel: grpc.Channel, *, other: bool) -> RecordedGame:
    """Let the guard send the dog to seat 1, whose second suitcase equals the first or has fewer bottles."""
    seed, fullest, emptier, bribe = deal_for_a_tie()
    recorded = RecordedGame(service, channel, 3, seed)
    luggage = [fullest, emptier if other else fullest]
    recorded.secretly(1, smuggle(pack=SodaSmugglersMove.Pack(luggage=luggage, bribe=bribe)))
    recorded.openly(2, recorded.game.seats[2].legal().moves[0].move)
    recorded.openly(0, smuggle(sniff=SodaSmugglersMove.Sniff(seat=1)))
    recorded.listen()
    assert len(recorded.game.seats[1].legal().moves) == (1 if other else 2)
    recorded.secretly(1, smuggle(open=SodaSmugglersMove.Open(slot=1)))
    recorded.listen()
    return recorded


def deal_for_a_tie() -> tuple[bytes, int, int, int]:
    """Find a seed with the dog first and a hand for a tie; return it with two values for the suitcases and a bribe."""
    for number in range(10_000):
        seed = number.to_bytes(32, "big")
        state: State = SODA_SMUGGLERS.new_game(Options(events=True, first_guard=0), 3, Rng(seed))[0]
        hand = list(state.hands[1])
        twice = [bottles for bottles in set(hand) if bottles > min(hand) and hand.count(bottles) > 1]
        if state.events[0] == EventCard.SNIFFER_DOG and twice:
            for bottles in (twice[0], twice[0], emptier := min(hand)):
                hand.remove(bottles)
            return seed, twice[0], emptier, hand[0]
    raise AssertionError("no seed has the dog first and a hand for a tie")


@pytest.fixture(scope="module", params=[packs, dog], ids=["packs", "dog"])
def pair(request: pytest.FixtureRequest, service: Service) -> Iterator[tuple[RecordedGame, RecordedGame]]:
    """Two games of the same deal that differ in secret decisions."""
    play: Callable[..., RecordedGame] = request.param
    with channel_to(service.target) as channel:
        recordings = play(service, channel, other=False), play(service, channel, other=True)
        yield recordings
        for recorded in recordings:
            recorded.leave()


def test_secret_decisions_change_no_response(pair: tuple[RecordedGame, RecordedGame]) -> None:
    answered = 0
    for one, other in zip(pair[0].observations, pair[1].observations, strict=True):
        assert one.received.code == other.received.code
        if one.response:
            assert without_ids(one.response) == without_ids(other.response)
            answered += 1
    assert answered > 15


def test_secret_decisions_change_no_size_of_a_response(pair: tuple[RecordedGame, RecordedGame]) -> None:
    def size(observation: Observation) -> int:
        return size_without_times(observation.response) if observation.response else len(observation.received.body)

    for one, other in zip(pair[0].observations, pair[1].observations, strict=True):
        assert size(one) == size(other), one.method


def test_secret_decisions_change_no_error(pair: tuple[RecordedGame, RecordedGame]) -> None:
    errors = 0
    for one, other in zip(pair[0].observations, pair[1].observations, strict=True):
        if not one.response:
            assert one.received == other.received
            errors += 1
    assert errors > 10


def test_secret_decisions_change_no_watch(pair: tuple[RecordedGame, RecordedGame]) -> None:
    for one, other in zip(pair[0].watched, pair[1].watched, strict=True):
        assert without_ids(one) == without_ids(other)
    assert len(pair[0].watched) >= 4 * len(LISTENERS)


def test_secret_decisions_change_no_log_line(pair: tuple[RecordedGame, RecordedGame]) -> None:
    one, other = (recorded.log() for recorded in pair)
    # Without a token, a call is refused before its game is known.
    without_token = [seen for seen in pair[0].observations if seen.received.code is grpc.StatusCode.UNAUTHENTICATED]
    assert len(one) > len(pair[0].observations) - len(without_token)
    assert one == other


def test_face_down_luggage_is_visible_only_to_its_owner(pair: tuple[RecordedGame, RecordedGame]) -> None:
    """A pack is hidden until all travelers have packed. After that, only its bribe is public."""
    others = own = 0
    for observation in (*pair[0].observations, *pair[1].observations):
        for view in parts(observation.response) if observation.response else ():
            if not isinstance(view, SodaSmugglersView):
                continue
            all_packed = all(seat.packed for seat in view.seats if seat.seat != view.guard_seat)
            for seat in view.seats:
                known = [suitcase.HasField("bottles") for suitcase in seat.luggage if not suitcase.face_up]
                if seat.seat == observation.listener:
                    assert all(known)
                    own += len(known)
                else:
                    assert not any(known)
                    assert not seat.hand
                    assert all_packed or not seat.HasField("bribe")
                    others += len(known)
    assert own
    assert others > 10


# --- Decisions of other seats -----------------------------------------------------------------------------------------


def test_packing_does_not_change_the_etags_of_other_seats(service: Service) -> None:
    with channel_to(service.target) as channel:
        game = new_game(GameServiceStub(channel), 5, smugglers(first_guard=0))
        before = [caller.legal() for caller in game.seats]
        game.seats[1].apply(before[1].moves[0].move)
        after = [caller.legal() for caller in game.seats]

    for seat in (2, 3, 4):
        assert after[seat].etag == before[seat].etag
        assert after[seat].moves == before[seat].moves
    assert after[0].etag != before[0].etag  # the guard is not awaited, so its etag changes with every version


def test_choices_are_hidden_until_the_last_one(stubs: Stubs) -> None:
    """A seat sees that others have chosen, but not their choice."""
    game = new_game(stubs[0], 3, ADVANCED)
    for seat in game.seats[:2]:
        legal = seat.legal()
        seat.apply(legal.moves[0].move, etag=legal.etag)
        state = game.seats[2].state(include_legal_moves=True)
        for other in state.view.juices.seats[:2]:
            assert not other.hand
            assert not other.HasField("keeps")
        assert len(state.legal_moves) == 2
    assert game.seats[2].state().awaiting_seats == [2]
