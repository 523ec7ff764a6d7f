"""The heads of games: version and nonce."""

import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.games import game as module
from service.games import nonce_of, version_of
from service.games.game import first_head


@pytest.fixture(autouse=True)
def no_buffered_nonces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the test begin with an empty buffer."""
    monkeypatch.setattr(module, "_nonces", type(module._nonces)())


def test_a_head_has_a_version_and_a_nonce_of_16_hexadecimal_digits() -> None:
    head = first_head()

    assert re.fullmatch("1-[0-9a-f]{16}", head)
    assert (version_of(head), nonce_of(head)) == (1, head[2:])


def test_nonces_are_the_output_of_the_operating_system(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other generator could be predicted from the etags and resume tokens that a caller sees."""
    blocks: list[bytes] = []
    generate = os.urandom

    def recorded(size: int) -> bytes:
        blocks.append(generate(size))
        return blocks[-1]

    monkeypatch.setattr(os, "urandom", recorded)
    nonces = [nonce_of(first_head()) for _ in range(2000)]

    assert "".join(nonces) == b"".join(blocks).hex()[: 2000 * 16]
    assert len(blocks) < 10, "a system call for each nonce is too expensive"


def test_concurrent_threads_never_get_the_same_nonce() -> None:
    start = threading.Barrier(8)

    def generate() -> list[str]:
        start.wait()
        return [first_head() for _ in range(2000)]

    with ThreadPoolExecutor(8) as pool:
        heads = [head for future in [pool.submit(generate) for _ in range(8)] for head in future.result()]

    assert len(set(heads)) == 16_000
