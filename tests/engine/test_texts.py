"""Formatting of texts that all games use."""

import pytest

from engine.texts import format_count, format_list, format_points, victory_sentence


@pytest.mark.parametrize(("points", "written"), [(-3, "−3"), (0, "0"), (12, "12")])  # noqa: RUF001 - a real minus sign
def test_negative_points_have_a_typographic_minus_sign(points: int, written: str) -> None:
    assert format_points(points) == written


@pytest.mark.parametrize(("number", "written"), [(0, "no caps"), (1, "1 cap"), (2, "2 caps"), (11, "11 caps")])
def test_a_count_has_the_singular_or_plural_form(number: int, written: str) -> None:
    assert format_count(number, "cap") == written


@pytest.mark.parametrize(
    ("items", "written"), [(["one"], "one"), (["one", "two"], "one and two"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_have_a_conjunction_before_the_last_item(items: list[str], written: str) -> None:
    assert format_list(items) == written
    assert format_list(items, "or") == written.replace(" and ", " or ")


@pytest.mark.parametrize(
    ("winners", "sentence"),
    [
        ((2,), "Seat 2 wins."),
        ((0, 1), "Seats 0 and 1 share the victory."),
        ((0, 1, 3), "Seats 0, 1 and 3 share the victory."),
        ((None,), "The automaton wins."),
    ],
)
def test_the_victory_sentence_names_one_or_several_winners(winners: tuple[int | None, ...], sentence: str) -> None:
    assert victory_sentence(winners) == sentence
