"""What the tests of the REST surface share."""

from collections.abc import Iterator

import pytest

from tests.support.rest import running_with_rest


@pytest.fixture(scope="package")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A service's REST."""
    folder = tmp_path_factory.mktemp("rest")
    with running_with_rest(folder, f"--data-dir={folder / 'data'}", "--log-level=error") as found:
        yield found
