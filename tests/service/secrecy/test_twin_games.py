"""Games that differ only in hidden information give identical responses. Tokens reveal nothing about other games."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from engine.game import AnyGame
from engine.rng import Rng
from engine.soda_jerk import SODA_JERK
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_STRAWBERRY, Flavor
from tests.service.secrecy.conftest import API_KEY, SEED, ConnectedService, encodings
from tests.support import forging
from tests.support.game_clients import BASIC, SECONDS, Game, GameClient, new_game
from tests.support.moves import flip, jerk, place
from tests.support.raw_calls import METHODS, RawCaller, Received, call_raw
from tests.support.transcripts import response_of, size_without_times, times_in, without_ids
from tests.support.transports import EVERY_TRANSPORT
from tests.support.watching import Watch

# --- Two games that differ only in hidden information -----------------------------------------------------------------

PAIRED: Final = jerk(first_seat=0, copies_per_value=[9, 0, 0])
_TAPS: Final = [tap for tap in Flavor.values() if tap] * 2


def pair_of_seeds() -> tuple[bytes, bytes]:
    """Return two seeds that deal the same hand to seat 1, and other hands to seats 0 and 2."""
    game: AnyGame = SODA_JERK
    options = game.options_type(first_seat=0, copies_per_value=(9, 0, 0))
    dealt: dict[bytes, bytes] = {}
    for number in range(10_000):
        seed = number.to_bytes(32, "big")
        hands = game.new_game(options, 3, Rng(seed))[0].hands
        other = dealt.setdefault(hands[1], seed)
        if other != seed and game.new_game(options, 3, Rng(other))[0].hands[0][0] != hands[0][0]:
            return other, seed
    raise AssertionError("no two seeds deal the same hand to seat 1")


class Paired(NamedTuple):
    """A game of a pair: what seat 1 and a spectator received and watched, and what the other seats placed."""

    received: list[tuple[str, Received]]
    seen: list[pb.WatchGameResponse]
    placed: list[Any]


def play_of_a_pair(connected: ConnectedService, seed: bytes) -> Paired:
    """Let each seat in turn place its first card at the next tap, and record what seat 1 and a spectator receive."""
    game = new_game(connected.stub, 3, PAIRED, (("x-api-key", API_KEY),), seed=seed)
    paired = Paired([], [], [])
    watches = [Watch(game.seats[1], include_legal_moves=True, timeout=60), Watch(game.spectator, timeout=60)]
    paired.seen.extend(watch.next() for watch in watches)
    taps = _TAPS if isinstance(connected.raw_caller, grpc.Channel) else _TAPS[:5]
    for number, tap in enumerate(taps):
        seat = number % 3
        card = game.seats[seat].state().view.soda_jerk.hands[seat].cards[0]
        request = pb.ApplyMoveRequest(game_id=game.game_id, move=place(card, tap))
        answer = call_raw(connected.raw_caller, "ApplyMove", request.SerializeToString(), game.seats[seat].metadata)
        assert answer.code == grpc.StatusCode.OK
        if seat == 1:
            paired.received.append(("ApplyMove", answer))
        else:
            paired.placed.append(card)
        paired.seen.extend(watch.until_version(number + 2) for watch in watches)
        for caller in (game.seats[1], game.spectator):
            paired.received.extend(_all_calls(connected.raw_caller, game, caller))
    return paired


def _all_calls(channel: grpc.Channel | RawCaller, game: Game, caller: GameClient) -> Iterator[tuple[str, Received]]:
    move = flip(FLAVOR_STRAWBERRY, 52)
    mismatch: dict[str, Any] = {"game_id": game.game_id, "seat": 0}
    for method, request in (
        ("GetGame", pb.GetGameRequest(game_id=game.game_id, include_legal_moves=True)),
        ("GetGame", pb.GetGameRequest(**mismatch)),
        ("LegalMoves", pb.LegalMovesRequest(game_id=game.game_id)),
        ("LegalMoves", pb.LegalMovesRequest(**mismatch)),
        ("ApplyMove", pb.ApplyMoveRequest(game_id=game.game_id, move=move)),
        ("ApplyMove", pb.ApplyMoveRequest(game_id=game.game_id, move=move, etag="stale")),
        ("Score", pb.ScoreRequest(game_id=game.game_id)),
        ("GetHistory", pb.GetHistoryRequest(game_id=game.game_id)),
        ("GetHistory", pb.GetHistoryRequest(**mismatch)),
        ("DeleteGame", pb.DeleteGameRequest(game_id=game.game_id)),
    ):
        yield method, call_raw(channel, method, request.SerializeToString(), caller.metadata)


@pytest.fixture(scope="module")
def pair(connected: ConnectedService) -> tuple[Paired, Paired]:
    """Two games in which seats 0 and 2 placed different cards, face down, at the same taps."""
    first, second = (play_of_a_pair(connected, seed) for seed in pair_of_seeds())
    assert first.placed != second.placed
    return first, second


@EVERY_TRANSPORT
def test_hidden_cards_change_no_response(pair: tuple[Paired, Paired]) -> None:
    answered = 0
    for (method, one), (_, other) in zip(pair[0].received, pair[1].received, strict=True):
        if one.code == grpc.StatusCode.OK:
            assert without_ids(response_of(method, one)) == without_ids(response_of(method, other))
            answered += 1
    assert answered > len(pair[0].received) // 4


@pytest.mark.transports("grpc")
def test_hidden_cards_change_no_watch(pair: tuple[Paired, Paired]) -> None:
    assert len(pair[0].seen) == 2 * (1 + len(_TAPS))
    for one, other in zip(pair[0].seen, pair[1].seen, strict=True):
        assert without_ids(one) == without_ids(other)


@EVERY_TRANSPORT
def test_hidden_cards_change_no_size_of_a_response(pair: tuple[Paired, Paired]) -> None:
    def size(method: str, received: Received) -> tuple[int, int]:
        response = response_of(method, received)
        if response is None:
            return len(received.body), len(received.wire)
        in_protobuf = size_without_times(response)
        if received.wire.startswith(b"{"):
            return in_protobuf, len(received.wire) - sum(len(moment.ToJsonString()) for moment in times_in(response))
        return in_protobuf, len(received.wire) and len(received.wire) - len(received.body)

    for (method, one), (_, other) in zip(pair[0].received, pair[1].received, strict=True):
        assert size(method, one) == size(method, other), method


@EVERY_TRANSPORT
def test_hidden_cards_change_no_error(pair: tuple[Paired, Paired]) -> None:
    errors = 0
    for (_, one), (_, other) in zip(pair[0].received, pair[1].received, strict=True):
        if one.code != grpc.StatusCode.OK:
            assert one == other
            errors += 1
    assert errors > 30


# --- Other games ------------------------------------------------------------------------------------------------------


@EVERY_TRANSPORT
@pytest.mark.parametrize("method", [method for method in METHODS if method not in {"NewGame", "ListGameKinds"}])
@pytest.mark.parametrize("flipped", [False, True], ids=["a good token", "a forged token"])
def test_a_token_never_reveals_whether_another_game_exists(
    connected: ConnectedService, method: str, flipped: bool
) -> None:
    mine, others = (new_game(connected.stub, metadata=(("x-api-key", API_KEY),)) for _ in range(2))
    token = forging.with_a_flipped_bit(mine.created.host_token) if flipped else mine.created.host_token
    metadata = (("authorization", f"Bearer {token}"),)

    def received(game_id: str) -> Received:
        fields: dict[str, Any] = {"game_id": game_id}
        if method == "ApplyMove":
            fields["move"] = flip(FLAVOR_STRAWBERRY, 1)
        return call_raw(
            connected.raw_caller, method, getattr(pb, f"{method}Request")(**fields).SerializeToString(), metadata
        )

    existing, missing = received(others.game_id), received("a" * 26)

    assert existing.code.name == ("UNAUTHENTICATED" if flipped else "PERMISSION_DENIED")
    assert existing == missing


@pytest.mark.parametrize(
    ("transport", "seed"),
    [("grpc", SEED[:31]), ("grpc", SEED + SEED), ("grpc", SEED * 50), ("rest", SEED[:31]), ("web", SEED[:31])],
    indirect=["transport"],
    scope="module",
)
def test_an_invalid_seed_is_not_repeated_in_the_error(connected: ConnectedService, seed: bytes) -> None:
    request = pb.NewGameRequest(options=BASIC, seat_count=3, seed=seed)

    received = call_raw(connected.raw_caller, "NewGame", request.SerializeToString(), (("x-api-key", API_KEY),))

    assert received.code == grpc.StatusCode.INVALID_ARGUMENT
    assert not any(encoding in received.everything for encoding in encodings(seed))
    assert SEED[:8] not in received.everything


def test_health_and_reflection_reveal_nothing_about_games(connected: ConnectedService) -> None:
    def responses() -> list[bytes]:
        health: Any = health_pb2_grpc.HealthStub(connected.channel)
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="sodafountain.v1.GameService"),
        ]
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub
        described = reflection(connected.channel).ServerReflectionInfo(iter(requests), timeout=SECONDS)
        return [
            *(
                health.Check(health_pb2.HealthCheckRequest(service=name), timeout=SECONDS).SerializeToString()
                for name in ("", "sodafountain.v1.GameService", "liveness")
            ),
            *(answer.SerializeToString(deterministic=True) for answer in described),
        ]

    before = responses()
    new_game(connected.stub, metadata=(("x-api-key", API_KEY),))

    assert responses() == before
