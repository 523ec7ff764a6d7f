"""A short run of the fuzzer. `make fuzz` runs it longer."""

import pytest

from tests.hostile.fuzz import fuzz
from tests.support.long_cases import long_case


@pytest.mark.parametrize("requests", [1_500, long_case(20_000)])
def test_hostile_requests_cause_no_errors_or_leaks(requests: int) -> None:
    result = fuzz(requests, seed=1)

    assert result.problems == []
    assert result.codes["OK"] * 10 > requests, "too few requests are valid"
    assert result.accepted * 66 > requests, "too few moves are accepted"
    assert len(result.codes) > 8, result.codes
