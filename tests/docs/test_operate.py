"""docs/operate.md tells of every setting and every metric, and of none that is not there."""

import re
from pathlib import Path

import pytest

from service.commands.serve import serve
from service.observability.metrics import Metrics

PAGE = (Path(__file__).parents[2] / "docs/operate.md").read_text()


def section(title: str) -> str:
    """The part under a heading."""
    return PAGE.partition(f"## {title}\n")[2].partition("\n## ")[0]


def test_every_setting_is_told_and_no_other() -> None:
    told = set(re.findall(r"^\| (`--.*?) \|", section("Settings"), re.MULTILINE))
    flags = {flag for row in told for flag in re.findall(r"--[a-z-]+", row)}

    assert flags == {option for parameter in serve.params for option in parameter.opts} - {"--help"}


def test_every_metric_is_told_and_no_other() -> None:
    told = set(re.findall(r"^\| `(sodafountain_\w+)` \|", section("Metrics"), re.MULTILINE))
    families = Metrics().registry.collect()

    assert told == {family.name + ("_total" if family.type == "counter" else "") for family in families}


@pytest.mark.parametrize("link", re.findall(r"\]\(([^)#]+)\)", PAGE))
def test_its_links_lead_somewhere(link: str) -> None:
    assert (Path(__file__).parents[2] / "docs" / link).exists()


def test_its_links_within_the_page_lead_to_a_heading() -> None:
    headings = re.findall(r"^#+ (.*)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}

    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors
