"""A service for all tests of the demo."""

from collections.abc import Iterator

import pytest

from clients.own_service import own_service


@pytest.fixture(scope="package")
def target() -> Iterator[str]:
    """The address of a service."""
    with own_service() as address:
        yield address
