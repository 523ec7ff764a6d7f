"""Links in the documentation lead to existing files and headings."""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    page.relative_to(ROOT).as_posix()
    for pattern in ("*.md", "docs/**/*.md", "clients/*/README.md", "third_party/README.md")
    for page in ROOT.glob(pattern)
)
LINK = re.compile(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]+))?\)")


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of the headings of a page, as repository hosts derive them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_links_of_a_page_lead_to_existing_files_and_headings(name: str) -> None:
    page = ROOT / name
    broken = []
    for path, anchor in LINK.findall(page.read_text()):
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{path}#{anchor}")

    assert broken == []


def test_links_are_found() -> None:
    assert LINK.findall("[a](b.md), [c](#d), [e](f/g.md#h), [i](https://j.example)") == [
        ("b.md", ""),
        ("", "d"),
        ("f/g.md", "h"),
    ]
