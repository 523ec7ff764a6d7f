"""The demo prints the expected games, and reports failures of its service."""

import itertools
import re
import runpy
import signal
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

import sodafountain
from clients.demo import __main__ as demo
from clients.demo import juices
from clients.demo.spectator import spectator
from clients.own_service import ServiceError, own_service, verify_game
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

GOLDEN = Path(__file__).with_name("golden.txt")
COMMITMENT = re.compile("[0-9a-f]{64}")


def lines(text: str) -> list[str]:
    """Return the lines of a text without the trailing spaces of tables, and without commitments to random game ids."""
    return ["COMMITMENT" if COMMITMENT.fullmatch(line) else line.rstrip() for line in text.splitlines()]


def test_the_output_of_the_demo_is_the_golden_one(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # To accept an intended change:
    # python -m clients.demo | sed -E 's/ *$//; s/^[0-9a-f]{64}$/COMMITMENT/' > tests/demo/golden.txt
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["demo"])
    # Verify the first game in a new process and the others in this process, because starting a process is slow.
    verifications = itertools.chain([verify_game], itertools.repeat(verify_in_process))
    monkeypatch.setattr(demo, "verify_game", lambda *game: next(verifications)(*game))

    assert demo.main() == 0

    printed = capsys.readouterr()
    assert printed.err == ""
    assert lines(printed.out) == lines(GOLDEN.read_text(encoding="utf-8"))


def verify_in_process(target: str, game_id: str, commitment: bytes) -> str:
    """Run `python -m service verify` in this process; return its output."""
    output = StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        arguments = ["--target", target, "--commitment", commitment.hex(), game_id]
        patch.setattr(sys, "argv", ["service", "verify", *arguments])
        patch.delitem(sys.modules, "service.__main__", raising=False)
        with pytest.raises(SystemExit) as end:
            runpy.run_module("service", run_name="__main__")
    assert not end.value.code, output.getvalue()
    return output.getvalue().strip()


@pytest.mark.long
@pytest.mark.timeout(600)
def test_with_the_option_moves_the_demo_prints_every_move(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(juices, "GAMES", juices.GAMES[-1:])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["demo", "--moves"])

    assert demo.main() == 0

    out = capsys.readouterr().out
    printed, verified_lines = (
        [line for line in out[: out.index(" Juices: ")].splitlines() if re.match(pattern, line)]
        for pattern in (r"Seat \d (?:places|flips) .*\.$", r"Verified: Soda Jerk, ")
    )
    assert len(printed) == sum(int(each) for line in verified_lines for each in re.findall(r"(\d+) moves", line)) > 0
    assert len(re.findall(r"^Seat \d packs .*\.$", out, re.MULTILINE)) == 5 * 4


def test_if_the_service_does_not_start_its_output_is_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.own_service.SERVICE", (sys.executable, "-c", "import sys; sys.exit('out of soda')"))
    with pytest.raises(ServiceError, match=r"^The service did not start\.\nout of soda$"), own_service():
        pass


def test_if_the_service_does_not_stop_cleanly_its_output_is_in_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import signal, sys; from pathlib import Path\n"
    program += "signal.signal(signal.SIGTERM, lambda *_: sys.exit('syrup everywhere'))\n"
    program += "port = next(each.partition('=')[2] for each in sys.argv if each.startswith('--port-file='))\n"
    program += "Path(port + '.new').write_text('1'); Path(port + '.new').rename(port); signal.pause()"
    monkeypatch.setattr("clients.own_service.SERVICE", (sys.executable, "-c", program))
    with (
        pytest.raises(ServiceError, match=r"^The service ended with status 1\.\nsyrup everywhere$"),
        own_service() as target,
    ):
        assert target == "localhost:1"


def test_an_exception_in_the_game_ends_the_spectator(target: str) -> None:
    with sodafountain.connect(target) as host:
        game = host.new_game(SodaSmugglersOptions(), 3)
        with pytest.raises(EOFError), spectator(Console(), target, game.id):
            raise EOFError


def test_a_game_that_cannot_be_verified_is_an_error(target: str) -> None:
    with pytest.raises(ServiceError, match=r"^The game could not be verified\.\n."):
        verify_game(target, "a" * 26, bytes(32))
