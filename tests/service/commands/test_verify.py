"""`sodafountain verify`: print one sentence if a history verifies, or one line with the problem."""

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest
import trustme
from google.protobuf import json_format

from engine.texts import format_points
from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import (
    GameServiceServicer,
    GameServiceStub,
    add_GameServiceServicer_to_server,
)
from tests.support.command import error_line, error_line_in_process, run_command, run_in_process
from tests.support.game_clients import Game, new_game, play
from tests.support.service import Service, channel_to

pytestmark = pytest.mark.one_store


class Games(NamedTuple):
    """A service with a finished game, a sealed one, a private one and an active one."""

    target: str
    finished: Game
    sealed: Game
    private: Game
    active: Game


@pytest.fixture(scope="module")
def games(service: Service) -> Iterator[Games]:
    with channel_to(service.target) as channel:
        stub = GameServiceStub(channel)
        finished, sealed, active = new_game(stub, 3), new_game(stub, 2, sealed=True), new_game(stub, 2)
        play(finished, random.Random(1))
        play(sealed, random.Random(2))
        private = new_game(stub, 2, visibility=game_pb2.VISIBILITY_PRIVATE)
        play(private, random.Random(3))
        yield Games(service.target, finished, sealed, private, active)


@pytest.fixture
def history(games: Games) -> pb.GetHistoryResponse:
    """The whole history of the finished game."""
    return games.finished.spectator.history(page_size=1000)


def save(history: Any, folder: Path) -> str:
    """Save a history as JSON, in the form that REST returns."""
    path = folder / "history.json"
    path.write_text(json_format.MessageToJson(history))
    return str(path)


def test_a_consistent_history_is_reported_in_one_line(
    games: Games, history: pb.GetHistoryResponse, tmp_path: Path
) -> None:
    result = run_command("verify", save(history, tmp_path))

    score = games.finished.spectator.score()
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Consistent: Soda Jerk, {len(history.entries) - 1} moves.")
    assert score.note in result.out
    for player in score.scores:
        assert f"seat {player.player.seat}: {format_points(player.total)}" in result.out
    assert "Nothing shows that this is the game that was played" in result.out
    assert result.out.count("\n") == 1


def test_a_game_of_a_running_service_is_replayed(games: Games, history: pb.GetHistoryResponse, tmp_path: Path) -> None:
    fetched = run_command("verify", games.finished.game_id, f"--target={games.target}")

    assert fetched.code == 0
    assert fetched.out == run_in_process("verify", save(history, tmp_path)).out


def test_a_kept_commitment_verifies_the_game(games: Games, history: pb.GetHistoryResponse, tmp_path: Path) -> None:
    kept = games.finished.created.state.seed_commitment.hex()
    arguments = [[save(history, tmp_path)], [games.finished.game_id, f"--target={games.target}"]]

    for given, which in product((kept, kept.upper()), arguments):
        result = run_in_process("verify", *which, f"--commitment={given}")

        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(f"Verified: Soda Jerk, {len(history.entries) - 1} moves.")
        assert "Game, seats, options and seed are those of the given commitment." in result.out


def test_another_commitment_than_the_kept_one_is_a_failure(games: Games) -> None:
    kept = games.sealed.created.state.seed_commitment.hex()

    line = error_line_in_process(
        "verify", games.finished.game_id, f"--target={games.target}", f"--commitment={kept}", code=1
    )

    assert line.startswith("verification failed: the commitment of the history is not the given one")


@pytest.mark.parametrize("given", ["", "0" * 63, "0" * 65, "g" * 64, "0x" + "0" * 62, "0" * 64 + "\n", "\u0660" * 64])
def test_a_commitment_has_64_hexadecimal_digits(given: str) -> None:
    line = error_line_in_process("verify", "a" * 26, f"--commitment={given}")

    assert "is not a commitment: 64 hexadecimal digits" in line


def test_a_private_game_is_verified_with_a_token_from_the_environment(games: Games) -> None:
    for holder in (games.private.host, games.private.seats[1], games.private.invited):
        assert holder.token
        environment = {"SODAFOUNTAIN_TOKEN": holder.token}
        result = run_in_process("verify", games.private.game_id, f"--target={games.target}", env=environment)
        assert result.out.startswith("Consistent: ")


def test_a_private_game_is_verified_with_a_token_in_a_flag(games: Games) -> None:
    arguments = (games.private.game_id, f"--target={games.target}", f"--token={games.private.invited.token}")

    assert run_in_process("verify", *arguments).out.startswith("Consistent: ")


def test_a_private_game_does_not_exist_without_a_token(games: Games) -> None:
    line = error_line_in_process("verify", games.private.game_id, f"--target={games.target}")

    assert "The game does not exist" in line


class SecureService(GameServiceServicer):
    """A service with TLS that returns one history. Serve it with a `with` block.

    Attributes:
        target: its address.
        authority: the file with the certificate of its authority.
        authorizations: the metadata `authorization` of all calls.
    """

    def __init__(self, history: pb.GetHistoryResponse, score: pb.ScoreResponse, folder: Path) -> None:
        self._history, self._score = history, score
        self.authorizations: set[Any] = set()
        authority = trustme.CA()
        self.authority = folder / "authority.pem"
        authority.cert_pem.write_to_path(self.authority)
        issued = authority.issue_cert("localhost")
        chain = b"".join(blob.bytes() for blob in issued.cert_chain_pems)
        self._server = grpc.server(ThreadPoolExecutor(1))
        add_GameServiceServicer_to_server(self, self._server)
        credentials = grpc.ssl_server_credentials([(issued.private_key_pem.bytes(), chain)])
        self.target = f"localhost:{self._server.add_secure_port('localhost:0', credentials)}"

    def __enter__(self) -> "SecureService":
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stop(0).wait()

    def GetHistory(self, _: pb.GetHistoryRequest, context: grpc.ServicerContext) -> pb.GetHistoryResponse:  # noqa: N802
        """Return the history."""
        self.authorizations.add(dict(context.invocation_metadata()).get("authorization"))
        return self._history

    def Score(self, _: pb.ScoreRequest, context: grpc.ServicerContext) -> pb.ScoreResponse:  # noqa: N802
        """Return the score."""
        self.authorizations.add(dict(context.invocation_metadata()).get("authorization"))
        return self._score


@pytest.fixture
def secure(games: Games, history: pb.GetHistoryResponse, tmp_path: Path) -> Iterator[SecureService]:
    """A service with TLS that has the finished game."""
    score = games.finished.spectator.score()
    with SecureService(history, score, tmp_path) as service:  # type: ignore[abstract]  # no other call is made
        yield service


def test_a_game_is_fetched_over_tls_from_a_service_whose_authority_is_given(
    games: Games, secure: SecureService
) -> None:
    arguments = (games.finished.game_id, f"--target={secure.target}", f"--tls-ca={secure.authority}")

    for flags in ((), ("--tls",)):
        assert run_in_process("verify", *arguments, *flags).out.startswith("Consistent: ")
    assert secure.authorizations == {None}
    run_in_process("verify", *arguments, env={"SODAFOUNTAIN_TOKEN": "a.b.c"})
    assert secure.authorizations == {None, "Bearer a.b.c"}


@pytest.mark.parametrize("flags", [(), ("--tls",)], ids=["without tls", "an unknown authority"])
def test_a_service_with_another_security_is_reported(games: Games, secure: SecureService, flags: tuple[str]) -> None:
    line = error_line_in_process("verify", games.finished.game_id, f"--target={secure.target}", *flags)

    assert line.startswith(f"cannot fetch the history from {secure.target}: ")
    assert not secure.authorizations


def test_the_history_of_another_game_than_the_requested_one_is_a_failure(games: Games, secure: SecureService) -> None:
    arguments = (f"--target={secure.target}", f"--tls-ca={secure.authority}")

    line = error_line_in_process("verify", games.sealed.game_id, *arguments, code=1)

    assert line == (
        f"verification failed: the history is of the game {games.finished.game_id}, not of {games.sealed.game_id}"
    )


@pytest.mark.parametrize("flag", ["--tls", f"--tls-ca={__file__}"])
def test_tls_requires_a_target(flag: str) -> None:
    assert error_line_in_process("verify", "history.json", flag) == "--tls and --tls-ca require --target"


Change = Callable[[pb.GetHistoryResponse], Any]


def reverse_the_seed(history: pb.GetHistoryResponse) -> None:
    """Change the seed."""
    history.seed = history.seed[::-1]


def place_another_card(history: pb.GetHistoryResponse) -> None:
    """Change the first move."""
    card = history.entries[1].move.soda_jerk.place.card
    card.value = card.value % 3 + 1


def report_another_text(history: pb.GetHistoryResponse) -> None:
    """Change an event."""
    history.entries[1].events[0].text = "Nothing happens."


def use_an_unknown_tap(history: pb.GetHistoryResponse) -> None:
    """Make the first move invalid."""
    history.entries[1].move.soda_jerk.place.tap_flavor = 9  # type: ignore[assignment]  # protobuf's enums are open


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (reverse_the_seed, "the line `seed` of commitment_text differs from the history"),
        (place_another_card, "version 2: "),
        (report_another_text, "version 2: the reported events do not follow from the seed and the moves"),
        (use_an_unknown_tap, "version 2: the rules reject it"),
        (lambda history: history.entries.pop(4), "version 5 is missing"),
        (lambda history: history.entries.pop(), "the game is not finished after the last entry"),
    ],
    ids=["seed", "move", "event", "unknown tap", "entry", "end"],
)
def test_a_changed_history_does_not_verify(
    history: pb.GetHistoryResponse, change: Change, expected: str, tmp_path: Path
) -> None:
    change(history)

    line = error_line_in_process("verify", save(history, tmp_path), code=1)

    assert line.startswith("verification failed: ")
    assert expected in line


def test_a_sealed_game_cannot_be_verified(games: Games) -> None:
    line = error_line("verify", games.sealed.game_id, f"--target={games.target}")

    assert line == "the history cannot be verified: the game is sealed: its seed is not revealed"


def test_an_active_game_cannot_be_verified_yet(games: Games) -> None:
    line = error_line_in_process("verify", games.active.game_id, f"--target={games.target}")

    assert line == "the history cannot be verified: the game is not finished: its seed is not revealed yet"


def test_a_page_is_not_a_history(games: Games, tmp_path: Path) -> None:
    path = save(games.finished.spectator.history(page_size=5), tmp_path)

    assert error_line_in_process("verify", path) == f"{path} contains only the first page of the history"


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
def test_a_file_that_is_not_a_history_is_rejected(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(content)

    assert error_line_in_process("verify", str(path)) == f"{path} is not a GetHistory response as JSON"


def test_a_history_of_an_unknown_kind_of_game_is_rejected(tmp_path: Path) -> None:
    line = error_line_in_process("verify", save(pb.GetHistoryResponse(), tmp_path))

    assert line == "the history cannot be verified: this release does not offer the kind of game"


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    assert (
        error_line_in_process("verify", f"{tmp_path}/none.json")
        == f"cannot read {tmp_path}/none.json: No such file or directory"
    )


def test_a_game_id_without_a_target_is_rejected(games: Games) -> None:
    assert "requires --target" in error_line_in_process("verify", games.finished.game_id)


def test_a_folder_is_not_a_history(tmp_path: Path) -> None:
    assert error_line_in_process("verify", str(tmp_path)) == f"cannot read {tmp_path}: Is a directory"


def test_a_game_is_required() -> None:
    assert error_line("verify") == "Missing argument 'GAME'."


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (lambda _: "a" * 26, "The game does not exist"),
        (lambda _: "history.json", "game_id must be a game id from NewGame"),
    ],
    ids=["never created", "no id"],
)
def test_a_history_that_the_service_does_not_return_is_reported(
    games: Games, which: Callable[[Games], str], expected: str
) -> None:
    line = error_line_in_process("verify", which(games), f"--target={games.target}")

    assert line.startswith(f"cannot fetch the history from {games.target}: ")
    assert expected in line


@pytest.mark.parametrize("target", ["127.0.0.1:1", "host.invalid:50051", "no target at all"])
def test_an_unreachable_service_is_reported(target: str) -> None:
    assert error_line_in_process("verify", "a" * 26, f"--target={target}").startswith(
        f"cannot fetch the history from {target}: "
    )
