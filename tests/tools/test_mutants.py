"""Tests of `tools.mutants`: it finds the code of a mutant by its syntax, and replaces it."""

import sys
from collections.abc import Collection
from pathlib import Path
from textwrap import dedent

import pytest

from tools.mutants import __main__ as tool
from tools.mutants.mutant import Mutant
from tools.mutants.mutations import MUTANTS, Mutation, defined_rules, find_mutations
from tools.mutants.syntax import Code, CodeError

RULES = '''
    """Rules: deal the cards, then score."""

    from typing import Final

    LIMITS: Final = {2: 13, 4: 10}


    def deal(deck, seats):
        """Deal the cards."""
        hands = [
            deck[seat]  # one card each
            for seat in range(seats)
            if seat < LIMITS[2]
        ]
        hands.sort()
        return hands


    def score(hand, *, final=True):
        if not hand and final:
            return 0
        points = sum(hand) + bonus(hand, final=final, limit=3)
        return points if final else 0
'''
TEXTS = """
    def score(points):
        return f"{points} points, {'no' if points else 'a'} bonus"

    def describe(event):
        match event:
            case Dealt(seat) if seat > 0:
                return "Seat deals."
            case _:
                return ""
"""


@pytest.fixture
def code(tmp_path: Path) -> Code:
    files = {tmp_path / "game/rules.py": RULES, tmp_path / "texts.py": TEXTS}
    for file, text in files.items():
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text), encoding="utf-8")
    return Code(files, tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("not hand and final", "final", "    if final:"),
        ("sum(hand)+bonus( hand,final=final,\n limit = 3)", "0", "    points = 0"),
        (
            "sum(hand)",
            "hand if final else 1",
            "    points = (hand if final else 1) + bonus(hand, final=final, limit=3)",
        ),
        ("sum(hand)", "1, 2", "    points = (1, 2) + bonus(hand, final=final, limit=3)"),
        ("limit=3", "limit=4, more=5", "    points = sum(hand) + bonus(hand, final=final, limit=4, more=5)"),
        ("limit=3", "", "    points = sum(hand) + bonus(hand, final=final)"),
        ("4: 10", "4: 11", "LIMITS: Final = {2: 13, 4: 11}"),
        ("2: 13", "", "LIMITS: Final = {4: 10}"),
        ("hands.sort()", "hands.sort()\nhands.clear()", "    hands.clear()"),
        ("hands.sort()", "", "    pass"),
        ("hands.sort()\nreturn hands", "return []", "    return []"),
        ("if not hand and final: return 0", "return 1", "    return 1"),
        (
            "for seat in range(seats) if seat < LIMITS[2]",
            "for seat in deck",
            "    hands = [deck[seat] for seat in deck]",
        ),
    ],
)
def test_code_is_replaced_whatever_its_layout(code: Code, old: str, new: str, line: str) -> None:
    found = code.find(old, new)
    assert found.file == Path("game/rules.py")
    assert line in found.text().splitlines()


def test_adjacent_expressions_are_replaced(tmp_path: Path) -> None:
    file = tmp_path / "rules.py"
    file.write_text("PHASES = (DEAL, PLACE, SCORE, END)\n", encoding="utf-8")
    assert Code([file], tmp_path).find("PLACE, SCORE", "PLACE").text() == "PHASES = (DEAL, PLACE, END)\n"


def test_cases_of_a_match_are_replaced(code: Code) -> None:
    found = code.find(
        "case Dealt(seat) if seat > 0: return 'Seat deals.'", "case Dealt(seat) if seat > 1: return 'Seat deals.'"
    )
    assert "        case Dealt(seat) if seat > 1:" in found.text().splitlines()


def test_a_string_stands_for_its_text_in_a_longer_string(code: Code) -> None:
    assert (
        '''return f"{points} caps, {('no' if points else 'a')} bonus"''' in code.find("' points, '", "' caps, '").text()
    )
    assert 'return "Seat draws."' in code.find('"deals"', '"draws"').text().replace("'", '"')


def test_a_string_does_not_stand_for_a_docstring(code: Code) -> None:
    with pytest.raises(CodeError, match="does not occur"):
        code.find('"Deal the cards"', '"Deal no card"')


def test_a_replacement_leaves_the_code_unchanged(code: Code) -> None:
    code.find("sum(hand)", "0").text()
    assert "points = sum(hand) + bonus(hand, final=final, limit=4)" in code.find("limit=3", "limit=4").text()


def test_within_selects_a_function_or_a_constant(code: Code) -> None:
    assert "{3: 13, 4: 10}" in code.find("2", "3", within="LIMITS").text()
    assert "LIMITS[3]" in code.find("2", "3", within="deal").text()


def test_ambiguous_code_is_reported_with_its_places(code: Code) -> None:
    with pytest.raises(CodeError) as error:
        code.find("2", "3")
    assert str(error.value) == dedent(
        """\
        This code occurs 2 times:
            2
          Set `within`, or include more of the code. It is here:
          game/rules.py:6 in LIMITS
          game/rules.py:14 in deal"""
    )


def test_missing_code_is_reported_with_similar_code(code: Code) -> None:
    with pytest.raises(CodeError) as error:
        code.find("sum(hands)", "0", within="score")
    assert str(error.value) == dedent(
        """\
        This code does not occur in score:
            sum(hands)
          The most similar code:
          game/rules.py:23 in score
            sum(hand)"""
    )


def test_a_missing_function_is_reported_with_similar_names(code: Code) -> None:
    with pytest.raises(CodeError, match=r"No function, class or constant is named scores\.\n.*\n  score$"):
        code.find("sum(hand)", "0", within="scores")


@pytest.mark.parametrize(("old", "new"), [("sum(hand", "0"), ("sum(hand)", "while"), ("limit=3", "case _: pass")])
def test_code_and_replacement_must_be_of_the_same_kind(code: Code, old: str, new: str) -> None:
    with pytest.raises(CodeError, match="not Python code of the same kind"):
        code.find(old, new)


# --- The mutants of the games -----------------------------------------------------------------------------------------


def test_the_code_of_every_mutant_occurs_once_in_its_game() -> None:
    _, problems = find_mutations(defined_rules())
    assert not problems, "\n\n".join(problems)


def test_every_rule_has_a_mutant_and_no_mutant_occurs_twice() -> None:
    mutants = [mutant for of_game in MUTANTS.values() for mutant in of_game]
    assert {mutant.rule for mutant in mutants} == defined_rules()
    assert len(set(mutants)) == len(mutants)


# --- The result -------------------------------------------------------------------------------------------------------


class CopyStub:
    """A copy of the tree whose tests have the same exit code for every mutant."""

    code = tool.FAILED_TESTS

    def __init__(self, folder: Path) -> None:
        pass

    def check(self, rules: Collection[str]) -> str:
        return ""

    def test_with(self, file: Path, text: str, rules: Collection[str]) -> tuple[int, str]:
        return self.code, "no tests ran"


@pytest.fixture
def found(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Mutation], list[str]]:
    """The mutations and problems that the tool finds."""
    mutant = Mutant("SJ-C3", "SWITCHEROO", "0")
    found: tuple[list[Mutation], list[str]] = [Mutation(mutant, Path("rules.py"), lambda: "")], []
    monkeypatch.setattr(tool, "find_mutations", lambda _: found)
    monkeypatch.setattr(tool, "Copy", CopyStub)
    monkeypatch.setattr(sys, "argv", ["mutants", "SJ-C3"])
    return found


@pytest.mark.parametrize(
    ("code", "result", "printed"),
    [(1, 0, "1 of 1 mutants killed"), (0, 1, "SURVIVED"), (5, 1, "the tests did not run: no tests ran")],
)
def test_the_tool_fails_unless_a_test_fails_for_every_mutant(
    found: object,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    code: int,
    result: int,
    printed: str,
) -> None:
    monkeypatch.setattr(CopyStub, "code", code)
    assert tool.main() == result
    assert printed in capsys.readouterr().out


def test_the_tool_fails_if_it_does_not_find_a_mutant(
    found: tuple[list[Mutation], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    found[1].append("This code does not occur: SWITCHEROO")
    assert tool.main() == 1
    assert "This code does not occur: SWITCHEROO" in capsys.readouterr().out


def test_the_tool_fails_if_a_rule_has_no_mutant(
    found: tuple[list[Mutation], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    found[0].clear()
    assert tool.main() == 1
    assert "1 rules without a mutant" in capsys.readouterr().out
