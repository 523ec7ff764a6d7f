"""The commitment of stored games never changes: neither its text nor its hash."""

import hashlib
import json
from typing import Any

import pytest
from google.protobuf import json_format
from hypothesis import given
from hypothesis import strategies as st

from service.games import all_kinds
from service.translation import all_translations
from service.translation.commitment import commitment_of, commitment_text
from sodafountain.v1 import game_pb2, juices_pb2, soda_jerk_pb2, soda_smugglers_pb2

KINDS = all_kinds()
TRANSLATIONS = all_translations(KINDS)
GAME = "abcdefghijklmnopqrstuvwx23"
SEED = bytes(range(32))
SEED_LINE = "seed 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

GOLDEN: dict[str, tuple[game_pb2.Options, str, str]] = {
    "soda jerk": (
        game_pb2.Options(soda_jerk=soda_jerk_pb2.SodaJerkOptions()),
        '{"sodaJerk":{}}',
        "dda29a8821d02ee17527a697879755f4d1ccd3f6a7db76095c10b3ef3cc7f892",
    ),
    "soda jerk with every option": (
        game_pb2.Options(
            soda_jerk=soda_jerk_pb2.SodaJerkOptions(
                advanced=True,
                first_seat=0,
                removed_flavor=soda_jerk_pb2.FLAVOR_KIWI,
                copies_per_value=[4, 3, 2],
            )
        ),
        '{"sodaJerk":{"advanced":true,"copiesPerValue":[4,3,2],"firstSeat":0,"removedFlavor":"FLAVOR_KIWI"}}',
        "1ebe373f6af00143c8d41181814d246b342291c28c9394a60840ab72abcffaeb",
    ),
    "soda smugglers": (
        game_pb2.Options(soda_smugglers=soda_smugglers_pb2.SodaSmugglersOptions()),
        '{"sodaSmugglers":{}}',
        "fcd16828021092eb7567c511f4135c79c6b07cf33f68112eb76b533f6a00f6a3",
    ),
    "juices with options": (
        game_pb2.Options(
            juices=juices_pb2.JuicesOptions(
                mode=juices_pb2.JUICES_MODE_ADVANCED,
                copies=2,
                cursed_wild=True,
                complements_everywhere=True,
            )
        ),
        '{"juices":{"complementsEverywhere":true,"copies":2,"cursedWild":true,"mode":"JUICES_MODE_ADVANCED"}}',
        "c9f11238bac611a8ef3252d2a38026aaaf6a5eb5b99e6922738ec428bcdc3502",
    ),
}


@pytest.mark.parametrize(("options", "encoded", "commitment"), GOLDEN.values(), ids=GOLDEN)
def test_the_text_and_the_commitment_are_pinned(options: game_pb2.Options, encoded: str, commitment: str) -> None:
    text = commitment_text(GAME, 4, options, SEED)

    assert text == f"sodafountain.v1\ngame {GAME}\nseats 4\noptions {encoded}\n{SEED_LINE}"
    assert commitment_of(text).hex() == commitment


@given(seats=st.integers(1, 14), seed=st.binary(min_size=32, max_size=32), data=st.data())
def test_the_text_is_five_lines_that_anyone_can_read(seats: int, seed: bytes, data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(KINDS)))
    preset = data.draw(st.sampled_from(KINDS[kind].game.presets))
    options = TRANSLATIONS[kind].options_message(preset.options)

    text = commitment_text(GAME, seats, options, seed)

    header, *named = text.removesuffix("\n").split("\n")
    facts = dict(line.split(" ", 1) for line in named)
    assert header == "sodafountain.v1"
    assert list(facts) == ["game", "seats", "options", "seed"]
    assert (facts["game"], int(facts["seats"]), bytes.fromhex(facts["seed"])) == (GAME, seats, seed)
    assert json_format.Parse(facts["options"], game_pb2.Options()) == options
    assert facts["options"] == json.dumps(json.loads(facts["options"]), sort_keys=True, separators=(",", ":"))
    assert commitment_of(text) == hashlib.sha256(text.encode()).digest()


def facts(**changed: Any) -> tuple[str, int, game_pb2.Options, bytes]:
    """Return the facts of a game, some of them changed."""
    known = {"game_id": GAME, "seats": 4, "options": game_pb2.Options(), "seed": SEED, **changed}
    return known["game_id"], known["seats"], known["options"], known["seed"]


@pytest.mark.parametrize(
    "changed",
    [
        {"game_id": GAME[::-1]},
        {"seats": 3},
        {"options": game_pb2.Options(juices=juices_pb2.JuicesOptions())},
        {"seed": SEED[::-1]},
    ],
    ids=["game", "seats", "options", "seed"],
)
def test_every_fact_changes_the_commitment(changed: dict[str, Any]) -> None:
    assert commitment_of(commitment_text(*facts(**changed))) != commitment_of(commitment_text(*facts()))


def test_no_option_at_its_default_is_in_the_text() -> None:
    """An option that is added later must not change the commitments of games that exist."""
    for translation in TRANSLATIONS.values():
        text = commitment_text(GAME, 4, translation.info().presets[0], SEED)
        [options] = json.loads(text.split("\n")[3].removeprefix("options ")).values()
        assert set(options) <= {"copiesPerValue"}, "no other option is stated at its default"
