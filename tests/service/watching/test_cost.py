"""What a crowd of watchers costs everybody else."""

import pytest

from tests.support import stores
from tests.support.long import thoroughly
from tools.bench import watched
from tools.bench.games import variants
from tools.bench.server import served

MOST = 1.1


@pytest.mark.parametrize("rounds", [thoroughly(9)])
def test_a_call_costs_no_more_beside_a_thousand_watchers(rounds: int) -> None:
    """CPU of the serving process for a GetGame, beside a crowd and at a service that nobody watches, in turn."""
    with stores.server("valkey") as url, served(url) as crowded, served(url) as alone:
        found = watched.watched(crowded, alone, next(variants()), rounds=rounds, seconds=1.5)

    assert found.messages_per_second > found.moves_per_second > 0
    assert found.threads < 100
    assert found.call_ratio <= MOST, found
