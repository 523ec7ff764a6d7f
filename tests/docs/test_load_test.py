"""docs/load-test.md tells of every option that a load test has beside Locust's own, and its links lead somewhere."""

import re
from argparse import ArgumentParser
from pathlib import Path

from clients.loadtest.options import add_options

PAGE = Path(__file__).parents[2] / "docs" / "load-test.md"
LOCUSTS = {"--host", "--users", "--spawn-rate", "--run-time"}


def test_every_option_is_told_and_no_other() -> None:
    parser = ArgumentParser(add_help=False)
    add_options(parser)
    declared = {flag for action in parser._actions for flag in action.option_strings}
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE)
    told = {flag for row in rows for flag in re.findall(r"`(--[a-z-]+)", row)}
    assert told == declared | LOCUSTS


def test_its_links_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", PAGE.read_text()):
        assert "://" in link or (PAGE.parent / link).exists(), link
