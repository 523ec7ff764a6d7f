"""docs/load-test.md documents every option that the load test adds to Locust's."""

import re
from argparse import ArgumentParser
from pathlib import Path

from clients.loadtest.options import add_options

PAGE = Path(__file__).parents[2] / "docs" / "load-test.md"
OPTIONS_OF_LOCUST = {"--host", "--users", "--spawn-rate", "--run-time"}


def test_the_page_documents_exactly_the_options_of_the_load_test() -> None:
    parser = ArgumentParser(add_help=False)
    add_options(parser)
    declared = {flag for action in parser._actions for flag in action.option_strings}
    rows = re.findall(r"^\| (`.*?) \|", PAGE.read_text(), re.MULTILINE)
    documented = {flag for row in rows for flag in re.findall(r"`(--[a-z-]+)", row)}
    assert documented == declared | OPTIONS_OF_LOCUST
