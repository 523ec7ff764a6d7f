"""Options and checks for all tests. Every numbered rule has a test, and every test names rules that exist.

`pytest --rule SJ-T3` runs the tests of a rule.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.support import stores

RULES = Path(__file__).parent.parent / "docs" / "rules"

# Examples are the same on every run, so that a failure is caused by the change. A slow machine is not a failure.
# `--hypothesis-profile=thorough` tries more examples.
settings.register_profile(
    "default", derandomize=True, deadline=None, max_examples=24, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("default")


def pytest_report_header() -> str:
    """Report the store servers that the service is tested against."""
    return stores.describe()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rule", action="append", default=[], metavar="ID", help="run the tests of this rule only")
    parser.addoption("--soak-minutes", type=float, default=30.0, metavar="N", help="how long the soak takes")


class RuleCheck(pytest.Item):
    """A test that always fails. It is added if rules and tests do not match."""

    def __init__(self, *, problem: str, **known: Any) -> None:
        super().__init__(**known)
        self.problem = problem

    def runtest(self) -> None:
        """Fail."""
        pytest.fail(self.problem, pytrace=False)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return the location and name for the report."""
        return RULES, None, self.name


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Iterator[None]:
    problems = list(_problems(config, items))
    if config.option.rule:
        rules = set(config.option.rule)
        config.hook.pytest_deselected(items=[item for item in items if rules.isdisjoint(_rules(item))])
        items[:] = [item for item in items if not rules.isdisjoint(_rules(item))]
    yield
    items += [
        RuleCheck.from_parent(session, name=name, nodeid=f"docs/rules::{name}", problem=problem)
        for name, problem in problems
    ]


def _problems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[tuple[str, str]]:
    pages = "".join(page.read_text(encoding="utf-8") for page in sorted(RULES.glob("*.md")))
    defined = set(re.findall(r"\*\*([A-Z]{2}-[A-Z]+\d+)\*\*", pages))
    named = {rule for item in items for rule in _rules(item)}
    if unknown := sorted((named | set(config.option.rule)) - defined):
        yield "tests name rules that exist", f"docs/rules defines no {', '.join(unknown)}."
    if _whole_suite(config) and (untested := sorted(defined - named)):
        yield "every rule has a test", f"No test names {', '.join(untested)}: mark one with @pytest.mark.rule(…)."


def _rules(item: pytest.Item) -> Iterator[str]:
    for mark in item.iter_markers("rule"):
        yield from mark.args


def _whole_suite(config: pytest.Config) -> bool:
    option = config.option
    default = config.getini("addopts")
    if option.markexpr not in {"", default[default.index("-m") + 1]}:
        return False
    if option.keyword or option.rule or option.ignore or option.ignore_glob or option.deselect:
        return False
    collected = {(config.invocation_params.dir / arg).resolve() for arg in config.args}
    return collected == {config.rootpath / path for path in config.getini("testpaths")}
