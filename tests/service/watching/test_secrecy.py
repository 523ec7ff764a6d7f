"""Each watcher receives only what it may know: streams of games that differ in hidden information are identical."""

from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.codec import encode
from engine.game import Viewer
from service.kinds import Kind, all_kinds
from service.table import Meta, Table
from service.watching import Audience, messages
from service.watching.messages import Happened
from tests.engine.cases import CASES
from tests.engine.plays import Play, plays

KINDS = all_kinds()


def table_of(kind: Kind, played: Play, state: Any, version: int) -> Table:
    """Return a table with a state. Everything random or dependent on time is constant."""
    head = f"{version}-nonce"
    meta = Meta(kind.name, encode(played.options), played.seat_count, False, b"", b"", 1, "", b"", "")
    decisions = dict.fromkeys(kind.game.to_act(state), head)
    return Table("a" * 26, kind, meta, head, state, decisions, 1_800_000_000_000)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_hidden_information_changes_no_byte_of_a_stream(name: str, data: st.DataObject) -> None:
    kind, played = KINDS[name], data.draw(plays(name))
    viewer: Viewer = data.draw(st.sampled_from([None, *range(played.seat_count)]))
    audience = Audience(viewer, viewer is not None)
    rng = Random(data.draw(st.integers(0, 2**64 - 1)))
    compared = 0
    for first, last, other, moves in CASES[name].twins(played.steps, viewer, rng):
        before = played.steps[first].before
        assert snapshot(kind, played, other, audience) == snapshot(kind, played, before, audience)
        ours: list[Happened] = []
        theirs: list[Happened] = []
        for number, (step, move) in enumerate(zip(played.steps[first:last], moves, strict=True), start=2):
            other, events = kind.game.apply(other, step.seat, move)
            theirs.append(Happened(number, step.seat, events))
            ours.append(Happened(number, step.seat, step.events))
            now, twin = (table_of(kind, played, state, number) for state in (step.after, other))
            assert messages.update(twin, theirs[-1:], audience) == messages.update(now, ours[-1:], audience)
            assert messages.update(twin, theirs, audience) == messages.update(now, ours, audience)
            compared += 1
    assert compared > 0


def snapshot(kind: Kind, played: Play, state: Any, audience: Audience) -> bytes:
    """Return the first message of an audience."""
    return messages.snapshot(table_of(kind, played, state, 1), audience)
