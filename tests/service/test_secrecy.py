"""Nobody learns what is hidden: not from answers, refusals and their sizes, not from logs, health and reflection."""

import base64
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
import pytest
from google.protobuf.unknown_fields import UnknownFieldSet
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from engine.codec import encode
from engine.game import AnyGame
from engine.rng import Rng
from engine.soda_jerk import SODA_JERK
from service.settings import Settings
from service.table import Meta
from service.tokens import ApiKeys, Keyring, Principal, parse_api_keys, parse_keys
from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_STRAWBERRY, Flavor
from tests.support import forging
from tests.support.ears import Evening, Sound, eavesdrop, parts, response_of, texts, without_names
from tests.support.moves import flip, jerk, place
from tests.support.players import ADVANCED, BASIC, SECONDS, Caller, Game, new_game
from tests.support.raw import METHODS, Ear, Heard, hear
from tests.support.service import Service, channel_to, running
from tests.support.transports import EVERY_TRANSPORT, HARMLESS, ear_over
from tests.support.watching import Watch

API_KEY: Final = "a-key-for-evenings-with-friends"
SEED: Final = bytes.fromhex("c0ffee" * 10 + "beef")
CARD_NAME: Final = re.compile(r"\b(?:Strawberry|Blueberry|Banana|Kiwi|Orange) [123]\b|\bSwitcheroo\b")
FLAVORS: Final = {flavor: name.removeprefix("FLAVOR_").title() for name, flavor in Flavor.items()}


class Open(NamedTuple):
    """A running service and a connection to it.

    Attributes:
        service: the service.
        channel: the connection.
        stub: the same.
        ear: the way by which it is listened to.
    """

    service: Service
    channel: grpc.Channel
    stub: GameServiceStub
    ear: grpc.Channel | Ear


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Listens to every evening over gRPC, and to one over each of the other ways: evenings are long."""
    if "evening" in metafunc.fixturenames:
        ways = [*(("grpc", name) for name in EVENINGS), ("rest", "three-advanced"), ("web", "two-advanced-sealed")]
        metafunc.parametrize(("transport", "evening"), ways, indirect=True, scope="module")


@pytest.fixture(scope="module")
def house(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that logs all it ever logs."""
    folder: Path = tmp_path_factory.mktemp("listened-to")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS, "SODAFOUNTAIN_API_KEYS": f"friends:{API_KEY}"}
    flags = ("--store-url", store_url, "--allow-fixed-seed", "--log-level=debug")
    with running(folder, *flags, env=env) as service:
        yield service


@pytest.fixture(scope="module")
def there(house: Service, transport: str, gateway_of: Callable[[str], str]) -> Iterator[Open]:
    """A connection to it, and an ear."""
    with channel_to(house.target) as channel, ear_over(transport, house.target, gateway_of) as ear:
        yield Open(house, channel, GameServiceStub(channel), ear or channel)


EVENINGS: Final = {
    "two": (2, BASIC, False),
    "two-advanced-sealed": (2, ADVANCED, True),
    "three-advanced": (3, ADVANCED, False),
    "four": (4, BASIC, False),
}


@pytest.fixture(scope="module")
def evening(request: pytest.FixtureRequest, there: Open) -> Evening:
    """A game of which everything was heard."""
    seats, options, sealed = EVENINGS[request.param]
    ear = None if isinstance(there.ear, grpc.Channel) else there.ear
    return eavesdrop(there.channel, seats, options, SEED, sealed=sealed, api_key=API_KEY, ear=ear)


def spellings(secret: bytes) -> list[bytes]:
    """The ways in which bytes may be written."""
    return [
        secret,
        secret[::-1],
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        base64.b32encode(secret).rstrip(b"="),
        str(int.from_bytes(secret, "big")).encode(),
        str(list(secret)).encode(),
    ]


def reading(sound: Sound) -> str:
    """Says whose ear it was, for a failing test."""
    return f"viewer {sound.viewer}: {sound.heard.code.name} {sound.response or sound.heard.details}"


# --- Answers ----------------------------------------------------------------------------------------------------------


def test_everybody_was_heard(evening: Evening) -> None:
    seats = len(evening.game.seats)

    assert {sound.viewer for sound in evening.sounds} == {*range(seats), None}
    assert {sound.over for sound in evening.sounds} == {True, False}
    assert {sound.heard.code.name for sound in evening.sounds} == {
        "OK", "PERMISSION_DENIED", "UNAUTHENTICATED", "FAILED_PRECONDITION"
    }  # fmt: skip


def test_nobody_hears_a_token(evening: Evening) -> None:
    made = evening.game.made

    signatures = [token.rpartition(".")[2].encode() for token in (made.host_token, *made.seat_tokens)]
    for sound in evening.sounds:
        assert not any(signature in sound.heard.everything for signature in signatures), reading(sound)


def test_nobody_hears_a_request_id(evening: Evening) -> None:
    ids = [uuid.UUID(request_id) for request_id in evening.request_ids]
    written = [spelling for one in ids for spelling in (str(one).encode(), one.bytes, one.hex.encode())]
    for sound in evening.sounds:
        assert not any(spelling in sound.heard.everything for spelling in written), reading(sound)


def test_nobody_hears_the_seed_before_the_end(evening: Evening) -> None:
    written = spellings(SEED)
    for sound in evening.sounds:
        if not sound.over:
            assert not any(spelling in sound.heard.everything for spelling in written), reading(sound)


def test_the_seed_of_a_game_is_told_after_its_end_unless_it_was_sealed(evening: Evening) -> None:
    told = any(SEED in sound.heard.everything for sound in evening.sounds if sound.over)

    assert told != evening.sealed


def test_a_hidden_card_shows_to_nobody_but_its_owner(evening: Evening) -> None:
    own = 0
    for sound in evening.sounds:
        for part in parts(sound.response) if sound.response else ():
            if isinstance(part, soda_jerk_pb2.SodaJerkView.PlacedCard) and part.HasField("card") and not part.face_up:
                if isinstance(sound.response, pb.GetHistoryResponse) and sound.response.seed:
                    continue  # the history reveals everything
                assert part.seat == sound.viewer, reading(sound)
                own += 1
    assert own, "nobody saw even the own cards: this test looks in the wrong place"


def test_a_hand_shows_to_nobody_but_its_owner_while_the_round_goes_on(evening: Evening) -> None:
    own = 0
    for sound in evening.sounds:
        for part in parts(sound.response) if sound.response else ():
            if isinstance(part, game_pb2.GameState) and part.status == game_pb2.GAME_STATUS_ACTIVE:
                for hand in part.view.soda_jerk.hands:
                    if hand.cards:
                        assert hand.seat == sound.viewer, reading(sound)
                        own += 1
    assert own, "nobody saw even the own hand: this test looks in the wrong place"


def test_moves_are_offered_to_nobody_but_the_seat_that_is_to_act(evening: Evening) -> None:
    for sound in evening.sounds:
        if isinstance(sound.response, pb.LegalMovesResponse):
            assert bool(sound.response.moves) == (sound.viewer in sound.response.awaiting_seats), reading(sound)
        for part in parts(sound.response) if sound.response else ():
            if isinstance(part, game_pb2.GameState):
                assert not part.legal_moves or sound.viewer in part.awaiting_seats, reading(sound)


def test_no_text_names_a_card_that_the_same_answer_does_not_show(evening: Evening) -> None:
    named = 0
    for sound in evening.sounds:
        if sound.response is None:
            assert not CARD_NAME.search(sound.heard.everything.decode("latin-1")), reading(sound)
            continue
        shown = {
            "Switcheroo" if part.switcheroo else f"{FLAVORS[part.flavor]} {part.value}"
            for part in parts(sound.response)
            if isinstance(part, soda_jerk_pb2.SodaJerkCard)
        }
        for text in texts(sound.response):
            names = set(CARD_NAME.findall(text))
            assert names <= shown, reading(sound)
            named += len(names)
    assert named, "no text names any card: this test looks in the wrong place"


def test_answers_hold_nothing_that_the_contract_does_not_name(evening: Evening) -> None:
    for sound in evening.sounds:
        for part in parts(sound.response) if sound.response else ():
            assert not len(UnknownFieldSet(part)), reading(sound)
        if sound.response:
            assert len(sound.heard.body) == sound.response.ByteSize(), reading(sound)


def test_answers_come_without_metadata_and_refusals_with_their_status_alone(evening: Evening) -> None:
    for sound in evening.sounds:
        keys = {key for key, _ in sound.heard.metadata}
        if sound.heard.metadata and "content-type" in keys:  # of HTTP, which has some of its own
            keys -= HARMLESS
        assert keys == (set() if sound.response else {"grpc-status-details-bin"}), reading(sound)


# --- Two games that differ only in what is hidden ---------------------------------------------------------------------

PAIRED: Final = jerk(first_seat=0, copies_per_value=[9, 0, 0])
_TAPS: Final = [tap for tap in Flavor.values() if tap] * 2


def pair_of_seeds() -> tuple[bytes, bytes]:
    """Finds two seeds that deal the same hand to seat 1, and others to seats 0 and 2."""
    game: AnyGame = SODA_JERK
    options = game.options_type(first_seat=0, copies_per_value=(9, 0, 0))
    dealt: dict[bytes, bytes] = {}
    for number in range(10_000):
        seed = number.to_bytes(32, "big")
        hands = game.new_game(options, 3, Rng(seed))[0].hands
        other = dealt.setdefault(hands[1], seed)
        if other != seed and game.new_game(options, 3, Rng(other))[0].hands[0][0] != hands[0][0]:
            return other, seed
    raise AssertionError("no two seeds deal a hand twice")


class Paired(NamedTuple):
    """A game of a pair: what seat 1 and a spectator heard of it, what they saw of it, and what the others placed."""

    heard: list[tuple[str, Heard]]
    seen: list[pb.WatchGameResponse]
    placed: list[Any]


def play_of_a_pair(there: Open, seed: bytes) -> Paired:
    """Every seat in turn places its first card at the next tap, while seat 1 and a spectator listen."""
    game = new_game(there.stub, 3, PAIRED, (("x-api-key", API_KEY),), seed=seed)
    paired = Paired([], [], [])
    watches = [Watch(game.seats[1], include_legal_moves=True, timeout=60), Watch(game.spectator, timeout=60)]
    paired.seen.extend(watch.next() for watch in watches)
    for number, tap in enumerate(_TAPS):
        seat = number % 3
        card = game.seats[seat].state().view.soda_jerk.hands[seat].cards[0]
        request = pb.ApplyMoveRequest(game_id=game.game_id, move=place(card, tap))
        answer = hear(there.ear, "ApplyMove", request.SerializeToString(), game.seats[seat].metadata)
        assert answer.code == grpc.StatusCode.OK
        if seat == 1:
            paired.heard.append(("ApplyMove", answer))
        else:
            paired.placed.append(card)
        paired.seen.extend(watch.until_version(number + 2) for watch in watches)
        for caller in (game.seats[1], game.spectator):
            paired.heard.extend(_all_that_can_be_asked(there.ear, game, caller))
    return paired


def _all_that_can_be_asked(channel: grpc.Channel | Ear, game: Game, caller: Caller) -> Iterator[tuple[str, Heard]]:
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
        ("DeleteGame", pb.DeleteGameRequest(game_id=game.game_id)),
    ):
        yield method, hear(channel, method, request.SerializeToString(), caller.metadata)


@pytest.fixture(scope="module")
def pair(there: Open) -> tuple[Paired, Paired]:
    """Two games in which seats 0 and 2 placed other cards, face down, at the same taps."""
    first, second = (play_of_a_pair(there, seed) for seed in pair_of_seeds())
    assert first.placed != second.placed
    return first, second


@EVERY_TRANSPORT
def test_hidden_cards_change_no_answer(pair: tuple[Paired, Paired]) -> None:
    answered = 0
    for (method, one), (_, other) in zip(pair[0].heard, pair[1].heard, strict=True):
        if one.code == grpc.StatusCode.OK:
            assert without_names(response_of(method, one)) == without_names(response_of(method, other))
            answered += 1
    assert answered > 30


def test_hidden_cards_change_nothing_that_is_watched(pair: tuple[Paired, Paired]) -> None:
    assert len(pair[0].seen) == 2 * (1 + len(_TAPS))
    for one, other in zip(pair[0].seen, pair[1].seen, strict=True):
        assert without_names(one) == without_names(other)


@EVERY_TRANSPORT
def test_hidden_cards_change_no_answers_size(pair: tuple[Paired, Paired]) -> None:
    def size(method: str, heard: Heard) -> tuple[int, int]:
        response = response_of(method, heard)
        moments = (
            [part.expire_time for part in parts(response) if isinstance(part, game_pb2.GameState)] if response else []
        )
        # Which alone have sizes of their own.
        in_protobuf = sum(moment.ByteSize() for moment in moments)
        in_json = sum(len(moment.ToJsonString()) for moment in moments)
        wire = heard.wire or heard.body
        on_the_wire = len(wire) - (in_json if wire.startswith(b"{") else in_protobuf)
        return len(heard.body) - in_protobuf, on_the_wire

    for (method, one), (_, other) in zip(pair[0].heard, pair[1].heard, strict=True):
        assert size(method, one) == size(method, other), method


@EVERY_TRANSPORT
def test_hidden_cards_change_no_refusal(pair: tuple[Paired, Paired]) -> None:
    refused = 0
    for (_, one), (_, other) in zip(pair[0].heard, pair[1].heard, strict=True):
        if one.code != grpc.StatusCode.OK:
            assert one == other
            refused += 1
    assert refused > 30


# --- What others' games may not tell ----------------------------------------------------------------------------------


@EVERY_TRANSPORT
@pytest.mark.parametrize("method", [method for method in METHODS if method not in {"NewGame", "ListGameKinds"}])
@pytest.mark.parametrize("flipped", [False, True], ids=["a good token", "a forged token"])
def test_a_token_never_tells_whether_another_game_exists(there: Open, method: str, flipped: bool) -> None:
    mine, others = (new_game(there.stub, metadata=(("x-api-key", API_KEY),)) for _ in range(2))
    token = forging.with_a_flipped_bit(mine.made.host_token) if flipped else mine.made.host_token
    metadata = (("authorization", f"Bearer {token}"),)

    def heard(game_id: str) -> Heard:
        fields: dict[str, Any] = {"game_id": game_id}
        if method == "ApplyMove":
            fields["move"] = flip(FLAVOR_STRAWBERRY, 1)
        return hear(there.ear, method, getattr(pb, f"{method}Request")(**fields).SerializeToString(), metadata)

    existing, missing = heard(others.game_id), heard("a" * 26)

    assert existing.code.name == ("UNAUTHENTICATED" if flipped else "PERMISSION_DENIED")
    assert existing == missing


@EVERY_TRANSPORT
@pytest.mark.parametrize("seed", [SEED[:31], SEED + SEED, SEED * 50], ids=["short", "twice as long", "very long"])
def test_a_seed_that_is_refused_is_not_repeated(there: Open, seed: bytes) -> None:
    request = pb.NewGameRequest(options=BASIC, seat_count=3, seed=seed)

    heard = hear(there.ear, "NewGame", request.SerializeToString(), (("x-api-key", API_KEY),))

    assert heard.code == grpc.StatusCode.INVALID_ARGUMENT
    assert not any(spelling in heard.everything for spelling in spellings(seed))
    assert SEED[:8] not in heard.everything


def test_health_and_reflection_know_nothing_of_games(there: Open) -> None:
    def asked() -> list[bytes]:
        health: Any = health_pb2_grpc.HealthStub(there.channel)
        requests = [
            reflection_pb2.ServerReflectionRequest(list_services=""),
            reflection_pb2.ServerReflectionRequest(file_containing_symbol="sodafountain.v1.GameService"),
        ]
        reflection: Any = reflection_pb2_grpc.ServerReflectionStub
        described = reflection(there.channel).ServerReflectionInfo(iter(requests), timeout=SECONDS)
        return [
            *(
                health.Check(health_pb2.HealthCheckRequest(service=name), timeout=SECONDS).SerializeToString()
                for name in ("", "sodafountain.v1.GameService", "liveness")
            ),
            *(answer.SerializeToString(deterministic=True) for answer in described),
        ]

    before = asked()
    new_game(there.stub, metadata=(("x-api-key", API_KEY),))

    assert asked() == before


# --- Logs -------------------------------------------------------------------------------------------------------------

_WORDS: Final = re.compile(r"[A-Za-z_]+")
_FORMS: Final[dict[str, Any]] = {
    "event": re.compile("rpc|serving|store"),
    "level": re.compile("info|debug"),
    "timestamp": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z"),
    "method": re.compile("|".join(METHODS)),
    "messages": re.compile(r"\d+"),
    "code": re.compile("|".join(code.name for code in grpc.StatusCode)),
    "reason": re.compile("[A-Z_]*"),
    "game_id": re.compile("([a-z2-7]{26})?"),
    "call_id": re.compile("[0-9a-f]{8}-[0-9a-f]+"),
    "ms": re.compile(r"\d+\.\d+(e-\d+)?"),
    "server": re.compile(r"(Valkey|Redis) [0-9.]+"),
    "host": re.compile(r"127\.0\.0\.1"),
    "port": re.compile(r"\d+"),
    "pid": re.compile(r"\d+"),
}


def test_log_lines_hold_fixed_words_ids_and_numbers_alone(there: Open, evening: Evening) -> None:
    lines = there.service.logs()

    assert sum(line["event"] == "rpc" for line in lines) >= len(evening.sounds)
    for line in lines:
        for name, value in line.items():
            assert _FORMS[name].fullmatch(str(value)), line


def test_logs_hold_no_secret(there: Open, evening: Evening) -> None:
    made = evening.game.made
    states = [part for sound in evening.sounds if sound.response for part in parts(sound.response)]
    nonces = {part.etag.partition("-")[2] for part in states if isinstance(part, game_pb2.GameState)}
    assert len(nonces) > 10

    text = there.service.log_file.read_text()

    assert evening.game.game_id in text  # or it would be another game's log
    assert not [token for token in (made.host_token, *made.seat_tokens) if token.rpartition(".")[2] in text]
    assert not [request_id for request_id in evening.request_ids if request_id in text]
    assert not [nonce for nonce in nonces if nonce in text]
    assert not [spelling for spelling in spellings(SEED)[2:] if spelling.decode() in text]
    assert API_KEY not in text
    assert forging.KEYS.partition(":")[2] not in text


def test_logs_name_no_card_and_no_move(there: Open, evening: Evening) -> None:
    words = {word.lower() for word in _WORDS.findall(there.service.log_file.read_text())}

    assert not words & {
        "card",
        "place",
        "flip",
        "tap",
        "hand",
        "switcheroo",
        *(name.lower() for name in FLAVORS.values()),
    }


# --- Values -----------------------------------------------------------------------------------------------------------


def test_no_values_repr_shows_a_secret() -> None:
    keys = parse_keys(forging.KEYS)
    api_keys = parse_api_keys(f"friends:{API_KEY}")
    url = "redis://:the-stores-password@valkey:6379"
    values = [
        Settings(store_url=url, token_keys=keys, api_keys=api_keys),
        Keyring(keys),
        Keyring(keys).verify,
        ApiKeys(api_keys),
        Meta("soda_jerk", encode([]), 3, False, SEED, SEED[::-1], 1, "known", SEED[:16], "friends"),
        Rng(SEED, 5),
        Principal("a" * 26, 1),
    ]

    text = repr(values)

    secrets = [*spellings(SEED)[2:], *spellings(forging.KEY)[2:], API_KEY.encode(), b"the-stores-password"]
    assert not [secret for secret in secrets if secret.decode() in text]
    assert repr(SEED)[2:20] not in text
    assert repr(forging.KEY)[2:20] not in text
