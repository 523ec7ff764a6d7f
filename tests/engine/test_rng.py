"""The seeded generator: the same results in every release, and a uniform distribution."""

from collections import Counter
from hashlib import blake2b
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.rng import Rng, below, choice, draw, shuffle

SEED = bytes(range(32))


def number(position: int) -> int:
    """Return draw number `position`, from RFC 7693 and the documentation of the generator."""
    digest = blake2b(position.to_bytes(8, "big"), digest_size=8, key=SEED, person=b"sodafountain.rng").digest()
    return int.from_bytes(digest, "big")


def draws(bound: int, count: int) -> list[int]:
    rng, numbers = Rng(SEED), []
    for _ in range(count):
        number, rng = below(rng, bound)
        numbers.append(number)
    return numbers


def chi_square(counts: Counter[object], kinds: int) -> float:
    expected = counts.total() / kinds
    return sum((count - expected) ** 2 / expected for count in counts.values()) + (kinds - len(counts)) * expected


def test_a_known_seed_gives_known_numbers() -> None:
    """A change of these numbers changes the games of all seeds: the rules version of every game must be raised."""
    assert draws(1 << 64, 3) == [11365540070855323383, 12634800638218452228, 13710239086545276221]
    assert draws(100, 10) == [83, 28, 21, 33, 53, 12, 1, 8, 1, 90]
    assert shuffle(Rng(SEED), range(10)) == ((0, 8, 4, 7, 6, 1, 2, 5, 9, 3), Rng(SEED, 9))


def test_numbers_are_the_keyed_hashes_of_their_positions() -> None:
    assert draws(1 << 64, 50) == [number(position) for position in range(50)]


def test_a_number_of_the_incomplete_last_interval_is_drawn_again() -> None:
    """With the bound 2^63 + 1, about half of all numbers are rejected."""
    bound = (1 << 63) + 1
    accepted = [number(position) for position in range(200) if number(position) < bound]
    assert 80 < len(accepted) < 120
    assert draws(bound, len(accepted)) == accepted


def test_a_rejected_number_counts_as_drawn() -> None:
    bound = (1 << 63) + 1
    first = next(position for position in range(200) if number(position) < bound)
    rejected = next(position for position in range(200) if number(position) >= bound)
    _, rng = below(Rng(SEED, rejected), bound)
    assert rng.position > rejected + 1
    assert below(Rng(SEED, first), bound) == (number(first), Rng(SEED, first + 1))


@pytest.mark.parametrize("bound", [2, 5, 6, 45])
def test_every_number_is_equally_likely(bound: int) -> None:
    """For 20,000 draws, chi-square is below its mean (bound - 1) plus four standard deviations."""
    degrees = bound - 1
    assert chi_square(Counter(draws(bound, 20_000)), bound) < degrees + 4 * (2 * degrees) ** 0.5


def test_every_order_is_equally_likely() -> None:
    rng, orders = Rng(SEED), Counter[object]()
    for _ in range(12_000):
        order, rng = shuffle(rng, "abcd")
        orders[order] += 1
    assert set(orders) == set(permutations("abcd"))
    assert chi_square(orders, 24) < 23 + 4 * (2 * 23) ** 0.5


@given(st.binary(min_size=32, max_size=32), st.lists(st.integers(), max_size=60))
def test_a_shuffle_keeps_the_items(seed: bytes, items: list[int]) -> None:
    order, rng = shuffle(Rng(seed), items)
    assert Counter(order) == Counter(items)
    assert rng.position >= max(0, len(items) - 1)


@given(st.lists(st.integers(), max_size=60), st.data())
def test_drawn_items_are_the_last_of_a_shuffle(items: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(items)))
    drawn, rng = draw(Rng(SEED), items, count)
    order, _ = shuffle(Rng(SEED), items)
    assert drawn == order[::-1][:count]
    assert rng.position <= count


def test_every_selection_and_order_is_equally_likely() -> None:
    rng, counts = Rng(SEED), Counter[object]()
    for _ in range(12_000):
        selection, rng = draw(rng, "abcd", 2)
        counts[selection] += 1
    assert set(counts) == set(permutations("abcd", 2))
    assert chi_square(counts, 12) < 11 + 4 * (2 * 11) ** 0.5


@pytest.mark.parametrize("count", [-1, 4])
def test_drawing_too_many_or_negative_items_is_an_error(count: int) -> None:
    with pytest.raises(ValueError, match=f"cannot draw {count} of 3 items"):
        draw(Rng(SEED), "abc", count)


@given(st.binary(min_size=32, max_size=32), st.integers(1, 1 << 64))
def test_a_draw_is_below_its_bound_and_repeatable(seed: bytes, bound: int) -> None:
    number, rng = below(Rng(seed), bound)
    assert 0 <= number < bound
    assert below(Rng(seed), bound) == (number, rng)


def test_a_choice_is_the_item_at_the_drawn_place() -> None:
    index, rng = below(Rng(SEED), 5)
    assert choice(Rng(SEED), "abcde") == ("abcde"[index], rng)


def test_another_seed_or_position_gives_another_number() -> None:
    numbers = [below(Rng(seed, position), 1 << 64)[0] for seed in (SEED, bytes(32)) for position in (0, 1, 1 << 40)]
    assert len(set(numbers)) == 6


@pytest.mark.parametrize("bound", [-1, 0, (1 << 64) + 1])
def test_an_impossible_bound_is_an_error(bound: int) -> None:
    with pytest.raises(ValueError, match="cannot draw a number below"):
        below(Rng(SEED), bound)


@pytest.mark.parametrize("seed", [b"", b"short", bytes(33), bytes(64)])
def test_a_seed_of_another_length_is_an_error(seed: bytes) -> None:
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        below(Rng(seed), 2)


def test_a_choice_from_no_items_is_an_error() -> None:
    with pytest.raises(ValueError, match="cannot draw"):
        choice(Rng(SEED), ())


def test_the_repr_of_a_generator_does_not_show_its_seed() -> None:
    assert repr(Rng(SEED, 5)) == "Rng(seed=SECRET, position=5)"
