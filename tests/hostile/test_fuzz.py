"""A little of what `make fuzz` does a lot of."""

import pytest

from tests.hostile.fuzz import fuzz


@pytest.mark.timeout(300)  # a quarter of a minute where nothing else runs
def test_twenty_thousand_hostile_requests_do_no_harm() -> None:
    result = fuzz(20_000, seed=1)

    assert result.problems == []
    assert result.codes["OK"] > 2000, "what is sent is near enough to what is valid"
    assert result.accepted > 300, "games go on meanwhile"
    assert len(result.codes) > 8, result.codes
