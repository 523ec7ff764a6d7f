"""No response and no log of a whole game exposes what is hidden."""

import re
import uuid
from typing import Any, Final

import grpc
from google.protobuf.unknown_fields import UnknownFieldSet

from engine.rng import Rng
from service.access import ApiKeys, Keyring, Principal, parse_api_keys, parse_token_keys
from service.games.game import Meta
from service.server.settings import Settings
from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import Flavor
from tests.service.secrecy.conftest import API_KEY, SEED, ConnectedService, encodings
from tests.support import forging
from tests.support.protocols import PROTOCOL_HEADERS
from tests.support.raw_calls import METHODS
from tests.support.transcripts import Exchange, Transcript, parts, texts

CARD_NAME: Final = re.compile(r"\b(?:Strawberry|Blueberry|Banana|Kiwi|Orange) [123]\b|\bSwitcheroo\b")
FLAVORS: Final = {flavor: name.removeprefix("FLAVOR_").title() for name, flavor in Flavor.items()}


def describe(exchange: Exchange) -> str:
    """Describe an exchange for a failing test."""
    return f"viewer {exchange.viewer}: {exchange.received.code.name} {exchange.response or exchange.received.details}"


def tokens_of(created: pb.NewGameResponse) -> list[str]:
    """Return all tokens of a game."""
    return [created.host_token, created.spectator_token, *created.seat_tokens]


# --- Responses --------------------------------------------------------------------------------------------------------


def test_every_viewer_was_recorded_before_and_after_the_end(transcript: Transcript) -> None:
    seats = len(transcript.game.seats)

    assert {exchange.viewer for exchange in transcript.exchanges} == {*range(seats), None}
    assert {exchange.over for exchange in transcript.exchanges} == {True, False}
    assert {exchange.received.code.name for exchange in transcript.exchanges} == {
        "OK", "PERMISSION_DENIED", "UNAUTHENTICATED", "FAILED_PRECONDITION"
    }  # fmt: skip


def test_no_viewer_receives_a_token(transcript: Transcript) -> None:
    created = transcript.game.created

    signatures = [token.rpartition(".")[2].encode() for token in tokens_of(created)]
    for exchange in transcript.exchanges:
        data = exchange.received.everything
        assert not any(signature in data for signature in signatures), describe(exchange)


def test_no_viewer_receives_a_request_id(transcript: Transcript) -> None:
    ids = [uuid.UUID(request_id) for request_id in transcript.request_ids]
    written = [encoding for one in ids for encoding in (str(one).encode(), one.bytes, one.hex.encode())]
    for exchange in transcript.exchanges:
        data = exchange.received.everything
        assert not any(encoding in data for encoding in written), describe(exchange)


def test_no_viewer_receives_the_seed_before_the_end(transcript: Transcript) -> None:
    written = encodings(SEED)
    for exchange in transcript.exchanges:
        if not exchange.over:
            data = exchange.received.everything
            assert not any(encoding in data for encoding in written), describe(exchange)


def test_the_seed_is_public_after_the_end_unless_the_game_is_sealed(transcript: Transcript) -> None:
    revealed = any(SEED in exchange.received.everything for exchange in transcript.exchanges if exchange.over)

    assert revealed != transcript.sealed


def test_a_hidden_card_is_visible_only_to_its_owner(transcript: Transcript) -> None:
    own = 0
    for exchange in transcript.exchanges:
        for part in parts(exchange.response) if exchange.response else ():
            if isinstance(part, soda_jerk_pb2.SodaJerkView.PlacedCard) and part.HasField("card") and not part.face_up:
                if isinstance(exchange.response, pb.GetHistoryResponse) and exchange.response.seed:
                    continue  # the history reveals all cards
                assert part.seat == exchange.viewer, describe(exchange)
                own += 1
    assert own, "no viewer sees its own cards: this test checks the wrong messages"


def test_a_hand_is_visible_only_to_its_owner_during_the_round(transcript: Transcript) -> None:
    own = 0
    for exchange in transcript.exchanges:
        for part in parts(exchange.response) if exchange.response else ():
            if isinstance(part, game_pb2.GameState) and part.status == game_pb2.GAME_STATUS_ACTIVE:
                for hand in part.view.soda_jerk.hands:
                    if hand.cards:
                        assert hand.seat == exchange.viewer, describe(exchange)
                        own += 1
    assert own, "no viewer sees its own hand: this test checks the wrong messages"


def test_a_move_in_the_history_is_visible_only_to_its_seat_unless_all_is_revealed(transcript: Transcript) -> None:
    own = 0
    for exchange in transcript.exchanges:
        if isinstance(exchange.response, pb.GetHistoryResponse) and not exchange.response.seed:
            assert not exchange.over or transcript.sealed, describe(exchange)
            assert not exchange.response.commitment_text, describe(exchange)
            for entry in exchange.response.entries[1:]:
                assert entry.HasField("move") == (entry.seat == exchange.viewer), describe(exchange)
                own += entry.HasField("move")
    assert own, "no viewer sees its own moves: this test checks the wrong messages"


def test_legal_moves_are_visible_only_to_the_awaited_seat(transcript: Transcript) -> None:
    for exchange in transcript.exchanges:
        if isinstance(exchange.response, pb.LegalMovesResponse):
            assert bool(exchange.response.moves) == (exchange.viewer in exchange.response.awaiting_seats), describe(
                exchange
            )
        for part in parts(exchange.response) if exchange.response else ():
            if isinstance(part, game_pb2.GameState):
                assert not part.legal_moves or exchange.viewer in part.awaiting_seats, describe(exchange)


def test_no_text_names_a_card_that_the_response_does_not_show(transcript: Transcript) -> None:
    named = 0
    for exchange in transcript.exchanges:
        if exchange.response is None:
            assert not CARD_NAME.search(exchange.received.everything.decode("latin-1")), describe(exchange)
            continue
        shown = {
            "Switcheroo" if part.switcheroo else f"{FLAVORS[part.flavor]} {part.value}"
            for part in parts(exchange.response)
            if isinstance(part, soda_jerk_pb2.SodaJerkCard)
        }
        for text in texts(exchange.response):
            names = set(CARD_NAME.findall(text))
            assert names <= shown, describe(exchange)
            named += len(names)
    assert named, "no text names any card: this test checks the wrong messages"


def test_responses_contain_no_unknown_fields(transcript: Transcript) -> None:
    for exchange in transcript.exchanges:
        for part in parts(exchange.response) if exchange.response else ():
            assert not len(UnknownFieldSet(part)), describe(exchange)
        if exchange.response:
            assert len(exchange.received.body) == exchange.response.ByteSize(), describe(exchange)


def test_responses_have_no_metadata_and_errors_only_their_status(transcript: Transcript) -> None:
    for exchange in transcript.exchanges:
        keys = {key for key, _ in exchange.received.metadata}
        if exchange.received.metadata and "content-type" in keys:  # HTTP has headers of its own
            keys -= PROTOCOL_HEADERS
        assert keys == (set() if exchange.response else {"grpc-status-details-bin"}), describe(exchange)


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


def test_log_lines_contain_only_fixed_words_ids_and_numbers(
    connected: ConnectedService, transcript: Transcript
) -> None:
    lines = connected.service.logs()

    assert sum(line["event"] == "rpc" for line in lines) >= len(transcript.exchanges)
    for line in lines:
        for name, value in line.items():
            assert _FORMS[name].fullmatch(str(value)), line


def test_logs_contain_no_secret(connected: ConnectedService, transcript: Transcript) -> None:
    created = transcript.game.created
    states = [part for exchange in transcript.exchanges if exchange.response for part in parts(exchange.response)]
    nonces = {part.etag.partition("-")[2] for part in states if isinstance(part, game_pb2.GameState)}
    assert len(nonces) > 10

    text = connected.service.log_file.read_text()

    assert transcript.game.game_id in text  # otherwise it is another game's log
    assert not [token for token in tokens_of(created) if token.rpartition(".")[2] in text]
    assert not [request_id for request_id in transcript.request_ids if request_id in text]
    assert not [nonce for nonce in nonces if nonce in text]
    assert not [encoding for encoding in encodings(SEED)[2:] if encoding.decode() in text]
    assert API_KEY not in text
    assert forging.KEYS.partition(":")[2] not in text


def test_logs_name_no_card_and_no_move(connected: ConnectedService, transcript: Transcript) -> None:
    words = {word.lower() for word in _WORDS.findall(connected.service.log_file.read_text())}

    assert not words & {
        "card",
        "place",
        "flip",
        "tap",
        "tap_flavor",
        "hand",
        "switcheroo",
        *(name.lower() for name in FLAVORS.values()),
    }


# --- Values -----------------------------------------------------------------------------------------------------------


def test_no_repr_of_a_value_contains_a_secret() -> None:
    keys = parse_token_keys(forging.KEYS)
    api_keys = parse_api_keys(f"friends:{API_KEY}")
    url = "redis://:the-stores-password@valkey:6379"
    values = [
        Settings(store_url=url, token_keys=keys, api_keys=api_keys),
        Keyring(keys),
        Keyring(keys).verify,
        ApiKeys(api_keys),
        Meta("soda_jerk", None, 3, False, False, SEED, 1, "known", False, SEED[:8], "friends"),
        Rng(SEED, 5),
        Principal("a" * 26, 1),
    ]

    text = repr(values)

    secrets = [*encodings(SEED)[2:], *encodings(forging.KEY)[2:], API_KEY.encode(), b"the-stores-password"]
    assert not [secret for secret in secrets if secret.decode() in text]
    assert repr(SEED)[2:20] not in text
    assert repr(forging.KEY)[2:20] not in text
