"""Of whole games nobody hears what is hidden, from no answer, and nobody reads it in the logs."""

import re
import uuid
from typing import Any, Final

import grpc
from google.protobuf.unknown_fields import UnknownFieldSet

from engine.codec import encode
from engine.rng import Rng
from service.settings import Settings
from service.table import Meta
from service.tokens import ApiKeys, Keyring, Principal, parse_api_keys, parse_keys
from sodafountain.v1 import game_pb2, soda_jerk_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import Flavor
from tests.service.secrecy.conftest import API_KEY, SEED, Open, spellings
from tests.support import forging
from tests.support.ears import Evening, Sound, parts, texts
from tests.support.protocols import HARMLESS
from tests.support.raw import METHODS

CARD_NAME: Final = re.compile(r"\b(?:Strawberry|Blueberry|Banana|Kiwi|Orange) [123]\b|\bSwitcheroo\b")
FLAVORS: Final = {flavor: name.removeprefix("FLAVOR_").title() for name, flavor in Flavor.items()}


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
        data = sound.heard.everything
        assert not any(signature in data for signature in signatures), reading(sound)


def test_nobody_hears_a_request_id(evening: Evening) -> None:
    ids = [uuid.UUID(request_id) for request_id in evening.request_ids]
    written = [spelling for one in ids for spelling in (str(one).encode(), one.bytes, one.hex.encode())]
    for sound in evening.sounds:
        data = sound.heard.everything
        assert not any(spelling in data for spelling in written), reading(sound)


def test_nobody_hears_the_seed_before_the_end(evening: Evening) -> None:
    written = spellings(SEED)
    for sound in evening.sounds:
        if not sound.over:
            data = sound.heard.everything
            assert not any(spelling in data for spelling in written), reading(sound)


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
