"""The programs and commands of the README work as printed."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.service import running

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()


def test_the_first_game_of_the_readme_plays(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in program.splitlines() if line and "import" not in line]) <= 10

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}") as service:
        result = subprocess.run(
            [sys.executable, "-c", program.replace("localhost:50051", service.target)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    *moves, last = result.stdout.splitlines()
    assert len(moves) > 20
    assert all(re.match(r"Seat \d: (Place|Flip) ", line) for line in moves)
    assert re.search("(wins|share the victory).* Game [a-z2-7]{26} commitment [0-9a-f]{64}$", last)


def test_the_command_of_the_readme_generates_working_stubs(tmp_path: Path) -> None:
    (command,) = re.findall(r"```sh\n(mkdir.*?)```", README, re.DOTALL)
    command = command.replace("build/stubs", str(tmp_path)).replace(".venv/bin/python ", f"{sys.executable} ")

    subprocess.run(command, shell=True, cwd=ROOT, timeout=60, check=True)

    program = (
        f"import sys; sys.path = [{str(tmp_path)!r}, *(path for path in sys.path if 'clients' not in path)]\n"
        "from sodafountain.v1 import game_service_pb2_grpc as stubs\n"
        "print(stubs.GameServiceStub.__name__, stubs.__file__)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.startswith(f"GameServiceStub {tmp_path}")
