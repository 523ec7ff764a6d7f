"""Cases that take minutes: `make verify` runs them, and `make test` runs a shorter variant."""

from typing import Any

import pytest

_SECONDS = 1800


def long_case(*values: Any) -> Any:
    """Mark values of a parameter as a long case."""
    return pytest.param(*values, marks=[pytest.mark.long, pytest.mark.timeout(_SECONDS)])
