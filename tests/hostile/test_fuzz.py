"""A little of what `make fuzz` does a lot of."""

from tests.hostile.fuzz import fuzz


def test_twenty_thousand_hostile_requests_do_no_harm() -> None:
    problems, codes = fuzz(20_000, seed=1)

    assert problems == []
    assert codes["OK"] > 500, "what is sent is near enough to what is valid"
    assert len(codes) > 4, codes
