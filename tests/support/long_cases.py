"""The proofs that take long: `make verify` runs them, `make test` a shorter variant."""

from typing import Any

import pytest

_SECONDS = 1800


def long_case(*values: Any) -> Any:
    """Marks values of a parameter that make a test long."""
    return pytest.param(*values, marks=[pytest.mark.long, pytest.mark.timeout(_SECONDS)])
