"""`sodafountain verify`: says in a sentence that a history holds, or in one line why not."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from google.protobuf import json_format

from engine.texts import format_points
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.command import here, refused, refused_here, sodafountain
from tests.support.players import Game, new_game, play
from tests.support.service import Service, channel_to

pytestmark = pytest.mark.one_store


class Scene(NamedTuple):
    """A service with a finished game, a sealed one and one that goes on."""

    target: str
    finished: Game
    sealed: Game
    going: Game


@pytest.fixture(scope="module")
def scene(service: Service) -> Iterator[Scene]:
    with channel_to(service.target) as channel:
        stub = GameServiceStub(channel)
        finished, sealed, going = new_game(stub, 3), new_game(stub, 2, sealed=True), new_game(stub, 2)
        play(finished, random.Random(1))
        play(sealed, random.Random(2))
        yield Scene(service.target, finished, sealed, going)


@pytest.fixture
def history(scene: Scene) -> pb.GetHistoryResponse:
    """The whole history of the finished game."""
    return scene.finished.spectator.history(page_size=1000)


def kept(history: Any, folder: Path) -> str:
    """Keeps a history as JSON, as anybody would who fetched it over REST."""
    path = folder / "history.json"
    path.write_text(json_format.MessageToJson(history))
    return str(path)


def test_a_history_that_holds_is_told_in_a_sentence(
    scene: Scene, history: pb.GetHistoryResponse, tmp_path: Path
) -> None:
    done = sodafountain("verify", kept(history, tmp_path))

    score = scene.finished.spectator.score()
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Verified: Soda Jerk, {len(history.entries) - 1} moves.")
    assert score.note in done.out
    assert all(f"seat {seat.seat}: {format_points(seat.total)}" in done.out for seat in score.seats)
    assert done.out.count("\n") == 1


def test_a_game_of_a_running_service_is_verified(scene: Scene, history: pb.GetHistoryResponse, tmp_path: Path) -> None:
    there = sodafountain("verify", scene.finished.game_id, f"--target={scene.target}")

    assert there.code == 0
    assert there.out == here("verify", kept(history, tmp_path)).out


Change = Callable[[pb.GetHistoryResponse], Any]


def reverse_the_seed(history: pb.GetHistoryResponse) -> None:
    """Puts another seed in."""
    history.seed = history.seed[::-1]


def place_another_card(history: pb.GetHistoryResponse) -> None:
    """Changes the first move."""
    card = history.entries[1].move.soda_jerk.place.card
    card.value = card.value % 3 + 1


def tell_another_text(history: pb.GetHistoryResponse) -> None:
    """Changes an event."""
    history.entries[1].events[0].text = "Nothing happens."


def use_an_unknown_tap(history: pb.GetHistoryResponse) -> None:
    """Makes the first move one that cannot be."""
    history.entries[1].move.soda_jerk.place.tap = 9  # type: ignore[assignment]  # protobuf's enums are open


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (reverse_the_seed, "the seed is not the one that was committed to"),
        (place_another_card, "version 2: "),
        (tell_another_text, "version 2: other events follow"),
        (use_an_unknown_tap, "version 2: the rules refuse it"),
        (lambda history: history.entries.pop(4), "version 5 is missing"),
        (lambda history: history.entries.pop(), "the game is not over at its end"),
    ],
    ids=["seed", "move", "event", "unknown tap", "entry", "end"],
)
def test_a_history_that_was_changed_does_not_hold(
    history: pb.GetHistoryResponse, change: Change, told: str, tmp_path: Path
) -> None:
    change(history)

    line = refused_here("verify", kept(history, tmp_path), code=1)

    assert line.startswith("the history does not hold: ")
    assert told in line


def test_a_sealed_game_cannot_be_verified(scene: Scene) -> None:
    line = refused("verify", scene.sealed.game_id, f"--target={scene.target}")

    assert line == "the history cannot be verified: the game was sealed, so that its seed is not told"


def test_a_page_is_not_a_history(scene: Scene, tmp_path: Path) -> None:
    path = kept(scene.finished.spectator.history(page_size=5), tmp_path)

    assert refused_here("verify", path) == f"{path} holds only the first page of the history"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"Verified!",
        b'{"seeds": 1}',
        b'{"seed": 1',
        b'{"seed": 7}',
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'"a"',
        b"3",
    ],
    ids=["empty", "words", "unknown field", "cut short", "wrong type", "binary", "nested", "text", "number"],
)
def test_what_is_no_history_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(content)

    assert refused_here("verify", str(path)) == f"{path} is not a GetHistory response as JSON"


def test_a_history_of_another_kind_of_game_is_refused(tmp_path: Path) -> None:
    line = refused_here("verify", kept(pb.GetHistoryResponse(), tmp_path))

    assert line == "the history cannot be verified: the kind of game is not one of this release"


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert (
        refused_here("verify", f"{tmp_path}/none.json")
        == f"cannot read {tmp_path}/none.json: No such file or directory"
    )


def test_a_games_id_without_a_target_is_told_to_need_one(scene: Scene) -> None:
    assert "needs --target" in refused_here("verify", scene.finished.game_id)


def test_a_folder_is_not_a_history(tmp_path: Path) -> None:
    assert refused_here("verify", str(tmp_path)) == f"cannot read {tmp_path}: Is a directory"


def test_a_game_must_be_named() -> None:
    assert refused("verify") == "Missing argument 'GAME'."


@pytest.mark.parametrize(
    ("which", "told"),
    [
        (lambda scene: scene.going.game_id, "The history is shown after the end of the game."),
        (lambda _: "a" * 26, "There is no such game"),
        (lambda _: "history.json", "game_id must be a game's id"),
    ],
    ids=["goes on", "never was", "no id"],
)
def test_a_history_that_the_service_does_not_give_is_told(
    scene: Scene, which: Callable[[Scene], str], told: str
) -> None:
    line = refused_here("verify", which(scene), f"--target={scene.target}")

    assert line.startswith(f"cannot fetch the history from {scene.target}: ")
    assert told in line


@pytest.mark.parametrize("target", ["127.0.0.1:1", "host.invalid:50051", "no target at all"])
def test_a_service_that_cannot_be_reached_is_told(target: str) -> None:
    assert refused_here("verify", "a" * 26, f"--target={target}").startswith(
        f"cannot fetch the history from {target}: "
    )
