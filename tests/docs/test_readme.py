"""The README's first game is played as it is printed there."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.service import running

ROOT = Path(__file__).parents[2]


def test_the_readmes_first_game_plays(tmp_path: Path) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
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
    assert re.search("wins|share the victory", last)


def test_the_readmes_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#]+)\)", (ROOT / "README.md").read_text())

    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []
