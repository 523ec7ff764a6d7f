"""The heads of games: a version, and a nonce that follows from everything before it."""

import re
from typing import Final

import pytest

from service.games import version_of
from service.games.heads import first_head, leads_to, next_head

SEED: Final = bytes(range(32))
MOVES: Final = [(0, b"first"), (1, b"second"), (0, b"third")]


def heads(seed: bytes, moves: list[tuple[int, bytes]], game_id: str = "a" * 26) -> list[str]:
    """Return the head of a new game and those after each move."""
    found = [first_head(seed, game_id)]
    for seat, move in moves:
        found.append(next_head(seed, found[-1], seat, move))
    return found


def test_a_head_has_a_version_and_a_nonce_of_16_hexadecimal_digits() -> None:
    for version, head in enumerate(heads(SEED, MOVES), start=1):
        assert re.fullmatch(f"{version}-[0-9a-f]{{16}}", head)
        assert version_of(head) == version


def test_equal_histories_have_equal_heads_in_every_process() -> None:
    """Stored decisions and the resume tokens of callers contain heads, so that the chain may never change."""
    assert heads(SEED, MOVES) == [
        "1-d3ada1a550493216",
        "2-ce14b8be9d78202f",
        "3-b85f54390137afef",
        "4-51da42ab1d9ddb76",
    ]


@pytest.mark.parametrize(
    "other",
    [
        heads(b"\1" + SEED[1:], MOVES),
        heads(SEED, MOVES, "b" * 26),
        heads(SEED, [(1, b"first"), *MOVES[1:]]),
        heads(SEED, [(0, b"First"), *MOVES[1:]]),
    ],
    ids=["seed", "game", "seat", "move"],
)
def test_everything_before_a_head_changes_it(other: list[str]) -> None:
    """Without the seed, no caller can compute a nonce from those that callers see."""
    assert heads(SEED, MOVES)[-1] != other[-1]


def test_moves_lead_from_a_head_to_later_ones_of_the_same_branch_only() -> None:
    one, two = heads(SEED, MOVES), heads(SEED, [(0, b"other"), *MOVES[1:]])

    assert leads_to(SEED, one[0], MOVES, one[3])
    assert leads_to(SEED, one[1], MOVES[1:], one[3])
    assert leads_to(SEED, one[3], [], one[3])
    assert not leads_to(SEED, one[3], [], two[3])
    assert not leads_to(SEED, two[1], MOVES[1:], one[3])
    assert not leads_to(SEED, one[0], MOVES[:2], one[3])
    assert not leads_to(SEED, one[0], MOVES[1:], one[3])
