"""Fixtures for the tests of REST."""

from collections.abc import Iterator

import pytest

from tests.support.rest import running_with_rest


@pytest.fixture(scope="package")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the REST gateway of a running service."""
    folder = tmp_path_factory.mktemp("rest")
    with running_with_rest(folder, f"--data-dir={folder / 'data'}", "--log-level=error") as base_url:
        yield base_url
