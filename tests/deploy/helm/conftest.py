"""A fixture with the chart, rendered with the values of each example."""

import pytest

from tests.deploy.helm.charts import EXAMPLES, Rendered, render_example


@pytest.fixture(params=EXAMPLES)
def chart(request: pytest.FixtureRequest) -> Rendered:
    """The chart, rendered with the values of one example."""
    example: str = request.param
    return render_example(example)
