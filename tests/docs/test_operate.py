"""docs/operate.md documents exactly the settings and metrics of the service."""

import re
from pathlib import Path

from service.commands.serve import serve
from service.observability.metrics import Metrics

PAGE = (Path(__file__).parents[2] / "docs/operate.md").read_text()


def section(title: str) -> str:
    """Return the part of the page below a heading."""
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_the_page_documents_exactly_the_settings_of_the_service() -> None:
    rows = set(re.findall(r"^\| (`--.*?) \|", section("Settings"), re.MULTILINE))
    flags = {flag for row in rows for flag in re.findall(r"--[a-z-]+", row)}

    assert flags == {option for parameter in serve.params for option in parameter.opts} - {"--help"}


def test_the_page_documents_exactly_the_metrics_of_the_service() -> None:
    documented = set(re.findall(r"^\| `(sodafountain_\w+)` \|", section("Metrics"), re.MULTILINE))
    families = Metrics().registry.collect()

    assert documented == {family.name + ("_total" if family.type == "counter" else "") for family in families}
