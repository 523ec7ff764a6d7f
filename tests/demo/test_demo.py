"""The demo, run as a person runs it."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

import sodafountain
from clients.demo import __main__ as demo
from clients.demo import juices
from clients.demo.spectator import spectator
from clients.own_service import ServiceTrouble, own_service, verified
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).with_name("golden.txt")


def lines(text: str) -> list[str]:
    """The lines of a text without the spaces that fill tables up."""
    return [line.rstrip() for line in text.splitlines()]


def test_the_demo_tells_the_games_that_it_always_tells() -> None:
    # After a change that is meant: python -m clients.demo | sed 's/ *$//' > tests/demo/golden.txt
    done = subprocess.run(
        [sys.executable, "-m", "clients.demo"], cwd=ROOT, capture_output=True, encoding="utf-8", timeout=100
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert lines(done.stdout) == lines(GOLDEN.read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_demo_tells_every_move_when_asked_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(juices, "PROGRAMME", juices.PROGRAMME[-1:])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "argv", ["demo", "--moves"])

    assert demo.main() == 0

    out = capsys.readouterr().out
    told, made = (
        [line for line in out[: out.index(" Juices: ")].splitlines() if re.match(pattern, line)]
        for pattern in (r"Seat \d (?:places|flips) .*\.$", r"Verified: Soda Jerk, ")
    )
    assert len(told) == sum(int(each) for line in made for each in re.findall(r"(\d+) moves", line)) > 0
    assert len(re.findall(r"^Seat \d packs .*\.$", out, re.MULTILINE)) == 5 * 4


def test_a_service_that_does_not_start_is_told_with_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.own_service.SERVICE", (sys.executable, "-c", "import sys; sys.exit('out of soda')"))
    with pytest.raises(ServiceTrouble, match=r"^The service did not start\.\nout of soda$"), own_service():
        pass


def test_a_service_that_does_not_stop_cleanly_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import signal, sys; from pathlib import Path\n"
    program += "signal.signal(signal.SIGTERM, lambda *_: sys.exit('syrup everywhere'))\n"
    program += "port = next(each.partition('=')[2] for each in sys.argv if each.startswith('--port-file='))\n"
    program += "Path(port + '.new').write_text('1'); Path(port + '.new').rename(port); signal.pause()"
    monkeypatch.setattr("clients.own_service.SERVICE", (sys.executable, "-c", program))
    with (
        pytest.raises(ServiceTrouble, match=r"^The service ended with status 1\.\nsyrup everywhere$"),
        own_service() as target,
    ):
        assert target == "localhost:1"


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """The address of a service."""
    with own_service() as address:
        yield address


def test_a_spectator_leaves_when_the_players_do(target: str) -> None:
    with sodafountain.connect(target) as host:
        game = host.new_game(SodaSmugglersOptions(), 3)
        with pytest.raises(EOFError), spectator(Console(), target, game.id):
            raise EOFError


def test_a_game_that_cannot_be_verified_is_told(target: str) -> None:
    with pytest.raises(ServiceTrouble, match=r"^The game could not be verified\.\n."):
        verified(target, "a" * 26)
