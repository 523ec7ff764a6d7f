"""Each viewer receives only what it may know: streams and histories do not depend on what is hidden."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.game import Viewer
from service.games import Change, Kind, all_kinds
from service.games.game import Meta, StoredGame
from service.translation import Projection, all_translations
from service.watching import Audience
from service.watching.messages import Messages
from tests.engine.cases import CASES
from tests.engine.plays import Play, plays

KINDS = all_kinds()
TIME = 1_800_000_000_000
PROJECTION = Projection(all_translations(KINDS))
MESSAGES = Messages(PROJECTION)


def game_of(kind: Kind, played: Play, state: Any, version: int) -> StoredGame:
    """Return a game with a state. Everything random or dependent on time is constant."""
    head = f"{version}-nonce"
    meta = Meta(kind.name, played.options, played.seat_count, False, False, b"", 1, "", False, b"", "")
    decisions = dict.fromkeys(kind.game.to_act(state), head)
    return StoredGame("a" * 26, kind, meta, head, state, decisions, TIME, TIME, TIME)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_hidden_information_changes_no_byte_of_a_stream_or_history(name: str, data: st.DataObject) -> None:
    kind, played = KINDS[name], data.draw(plays(name))
    viewer: Viewer = data.draw(st.sampled_from([None, *range(played.seat_count)]))
    audience = Audience(viewer, viewer is not None)
    rng = Random(data.draw(st.integers(0, 2**64 - 1)))
    compared = 0
    for first, last, other, moves in CASES[name].twins(played.steps, viewer, rng):
        before = played.steps[first].before
        assert snapshot(kind, played, other, audience) == snapshot(kind, played, before, audience)
        ours: list[Change] = []
        theirs: list[Change] = []
        for number, (step, move) in enumerate(zip(played.steps[first:last], moves, strict=True), start=2):
            other, events = kind.game.apply(other, step.seat, move)
            theirs.append(Change(number, TIME, step.seat, move, events))
            ours.append(Change(number, TIME, step.seat, step.move, step.events))
            now, twin = (game_of(kind, played, state, number) for state in (step.after, other))
            assert MESSAGES.update(twin, theirs[-1:], audience) == MESSAGES.update(now, ours[-1:], audience)
            assert MESSAGES.update(twin, theirs, audience) == MESSAGES.update(now, ours, audience)
            if not now.finished:
                assert PROJECTION.history(twin, theirs, viewer) == PROJECTION.history(now, ours, viewer)
            compared += 1
    assert compared > 0


def snapshot(kind: Kind, played: Play, state: Any, audience: Audience) -> bytes:
    """Return the first message of an audience."""
    return MESSAGES.snapshot(game_of(kind, played, state, 1), audience)
