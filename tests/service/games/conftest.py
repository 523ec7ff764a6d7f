"""Fixtures for tests of games."""

from collections.abc import Iterator

import pytest

from service.store import Store, connect


@pytest.fixture
def game_store(store_url: str) -> Iterator[Store]:
    """The store of the tests."""
    store = connect(store_url)
    yield store
    store.close()
