"""At every version, the history of a game contains exactly what each viewer was sent when it watched the game."""

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
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from tests.engine.plays import Play, plays

KINDS = all_kinds()
TRANSLATIONS = all_translations(KINDS)
PROJECTION = Projection(TRANSLATIONS)
MESSAGES = Messages(PROJECTION)
START = 1_800_000_000_000


def game_at(kind: Kind, played: Play, version: int, *, sealed: bool) -> StoredGame:
    """Return the game at a version."""
    meta = Meta(kind.name, played.options, played.seat_count, sealed, False, played.rng.seed, 1, "", False, b"", "")
    state, head = played.states[version - 1], f"{version}-nonce"
    decisions = dict.fromkeys(kind.game.to_act(state), head)
    return StoredGame("a" * 26, kind, meta, head, state, decisions, START, START + version, START + 10**9)


def changes_of(played: Play) -> list[Change]:
    """Return all versions of the game."""
    moves = [
        Change(version, START + version, step.seat, step.move, step.events)
        for version, step in enumerate(played.steps, start=2)
    ]
    return [Change(1, START + 1, None, None, played.opening), *moves]


def history_of(game: StoredGame, changes: list[Change], viewer: Viewer) -> pb.GetHistoryResponse:
    """Return the history of a game for a viewer."""
    return pb.GetHistoryResponse.FromString(PROJECTION.history(game, changes, viewer))


def watched_by(game: StoredGame, change: Change, viewer: Viewer) -> list[game_pb2.Event]:
    """Return the events of a change that a watcher is sent."""
    message = pb.WatchGameResponse.FromString(MESSAGES.update(game, [change], Audience(viewer, False)))
    return list(message.update.events)


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_a_history_contains_what_its_viewer_watched_and_its_own_moves(name: str, data: st.DataObject) -> None:
    kind, played = KINDS[name], data.draw(plays(name))
    sealed = data.draw(st.booleans())
    last = data.draw(st.integers(1, len(played.steps) + sealed))
    game, changes = game_at(kind, played, last, sealed=sealed), changes_of(played)[:last]
    public: list[Any] | None = None
    for viewer in (None, *range(played.seat_count)):
        history = history_of(game, changes, viewer)

        assert (history.seed, history.commitment_text, len(history.seed_commitment)) == (b"", "", 32)
        for entry, change in zip(history.entries, changes, strict=True):
            assert list(entry.events) == watched_by(game, change, viewer)
            assert entry.events, "watchers would not learn who has moved"
            assert {event.commit_time.ToMilliseconds() for event in entry.events} == {change.committed_at}
            assert entry.HasField("move") == (change.seat is not None and change.seat == viewer)
            if entry.HasField("move"):
                assert TRANSLATIONS[name].move_value(entry.move) == change.move
        facts = [facts_of(entry) for entry in history.entries]
        assert facts == (public or facts), "these facts are the same for all viewers"
        public = facts


def facts_of(entry: pb.HistoryEntry) -> Any:
    """Return what is public of an entry: its version, time and seat, and the kinds of its events."""
    kinds = [event.detail.WhichOneof("game") for event in entry.events]
    seats = {event.seat if event.HasField("seat") else None for event in entry.events}
    assert seats == {entry.seat if entry.HasField("seat") else None}
    return entry.version, entry.commit_time.ToMilliseconds(), seats, kinds


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_pages_of_a_history_are_parts_of_it_whenever_they_are_read(name: str, data: st.DataObject) -> None:
    """A page that was read during the game is what a later page, still during the game, says about its versions."""
    kind, played = KINDS[name], data.draw(plays(name))
    viewer: Viewer = data.draw(st.sampled_from([None, *range(played.seat_count)]))
    early = data.draw(st.integers(1, len(played.steps)))
    late = data.draw(st.integers(early, len(played.steps)))
    first = data.draw(st.integers(1, early))
    changes = changes_of(played)

    before = history_of(game_at(kind, played, early, sealed=False), changes[first - 1 : early], viewer)
    after = history_of(game_at(kind, played, late, sealed=False), changes[:late], viewer)

    assert list(before.entries) == list(after.entries[first - 1 : early])
    del before.entries[:], after.entries[:]
    assert before == after


@pytest.mark.parametrize("name", GAMES)
@given(data=st.data())
def test_the_end_of_an_unsealed_game_reveals_the_same_to_all_viewers(name: str, data: st.DataObject) -> None:
    kind, played = KINDS[name], data.draw(plays(name))
    changes = changes_of(played)
    game = game_at(kind, played, len(changes), sealed=False)

    history = history_of(game, changes, None)

    assert game.finished
    assert all(history_of(game, changes, seat) == history for seat in range(played.seat_count))
    assert history.seed == played.rng.seed
    assert [entry.HasField("move") for entry in history.entries] == [False, *[True] * len(played.steps)]
    for entry, change in zip(history.entries, changes, strict=True):
        facts = change.version, change.committed_at, change.seat
        complete = [TRANSLATIONS[name].event(*facts, event) for event in change.events]
        assert list(entry.events) == [game_pb2.Event.FromString(event) for event in complete]
