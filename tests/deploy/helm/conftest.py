"""The chart with the values of each example."""

import pytest

from tests.deploy.helm.charts import EXAMPLES, Rendered, rendered


@pytest.fixture(params=EXAMPLES)
def chart(request: pytest.FixtureRequest) -> Rendered:
    """The chart, with the values of one example after the other."""
    example: str = request.param
    return rendered(example)
