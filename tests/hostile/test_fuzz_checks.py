"""The checks of the fuzzer report every problem."""

from pathlib import Path

import grpc
import pytest

from service.transport.errors import STATUS_KEY, StatusError
from sodafountain.v1 import errors_pb2 as reasons
from tests.hostile import checks
from tests.hostile.fuzz_model import API_KEY
from tests.support import forging

SENTENCE = "There is no such game here."
GOOD = StatusError(reasons.ERROR_REASON_GAME_NOT_FOUND, SENTENCE).status()
REQUEST_ID = "1f0c5b5e-9d0e-4c33-8a51-0d2a6d1f3b11"


def problem_of(
    status: bytes | None, *, code: grpc.StatusCode = grpc.StatusCode.NOT_FOUND, details: str = SENTENCE
) -> str:
    trailing = () if status is None else ((STATUS_KEY, status),)
    return checks.error_problem(code, details, trailing, ours=True)


def test_a_valid_error_is_accepted() -> None:
    assert not problem_of(GOOD.SerializeToString())


@pytest.mark.parametrize("code", checks.FORBIDDEN)
def test_a_forbidden_status_is_reported(code: grpc.StatusCode) -> None:
    assert code.name in problem_of(GOOD.SerializeToString(), code=code)


def test_an_error_without_a_status_is_reported() -> None:
    assert "without one status" in problem_of(None)


def test_an_error_without_a_reason_is_reported() -> None:
    bare = type(GOOD)(code=GOOD.code, message=GOOD.message)

    assert "0 reasons" in problem_of(bare.SerializeToString())


def test_an_error_with_two_reasons_is_reported() -> None:
    doubled = type(GOOD)(code=GOOD.code, message=GOOD.message, details=[*GOOD.details, *GOOD.details])

    assert "2 reasons" in problem_of(doubled.SerializeToString())


def test_an_error_with_two_messages_is_reported() -> None:
    assert "differs from its code or message" in problem_of(
        GOOD.SerializeToString(), details="Something else is wrong."
    )


def test_an_error_without_a_sentence_is_reported() -> None:
    assert "without a sentence" in problem_of(GOOD.SerializeToString(), details="no")


@pytest.mark.parametrize(
    "secret",
    [forging.token({"game": "a"}), REQUEST_ID, bytes(range(32)).hex(), API_KEY, forging.KEYS.partition(":")[2]],
    ids=["a token", "a request id", "a seed", "an API key", "a signing key"],
)
class TestASecret:
    """A secret is reported wherever it is."""

    def test_in_an_error_is_reported(self, secret: str) -> None:
        assert "a secret" in problem_of(GOOD.SerializeToString(), details=f"This is secret: {secret}")

    def test_in_a_log_is_reported(self, secret: str, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.write_text(f'{{"level":"info","event":"rpc","game_id":"{secret}"}}\n')

        assert len(list(checks.log_problems(log))) == 1


@pytest.mark.parametrize(
    "line", ['{"level":"error","event":"rpc_failed"}', "Traceback (most recent call last):", "E0101 something odd"]
)
def test_an_unexpected_log_line_is_reported(line: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(line + "\n")

    assert len(list(checks.log_problems(log))) == 1


def test_the_log_line_of_a_valid_call_is_accepted(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"timestamp":"2026-01-01T00:00:00Z","level":"info","event":"rpc","call_id":"0a1b2c3d-4f"}\n')

    assert list(checks.log_problems(log)) == []
