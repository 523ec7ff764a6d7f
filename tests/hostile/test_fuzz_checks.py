"""The fuzzer's own judgement: what it must find fault with."""

from pathlib import Path

import grpc
import pytest

from service.errors import STATUS_KEY, Refusal
from sodafountain.v1 import errors_pb2 as reasons
from tests.hostile import checks
from tests.hostile.fuzz_model import API_KEY
from tests.support import forging

SENTENCE = "There is no such game here."
GOOD = Refusal(reasons.ERROR_REASON_GAME_NOT_FOUND, SENTENCE).status()
REQUEST_ID = "1f0c5b5e-9d0e-4c33-8a51-0d2a6d1f3b11"


def judged(status: bytes | None, *, code: grpc.StatusCode = grpc.StatusCode.NOT_FOUND, details: str = SENTENCE) -> str:
    trailing = () if status is None else ((STATUS_KEY, status),)
    return checks.error_problem(code, details, trailing, ours=True)


def test_a_good_refusal_is_none() -> None:
    assert not judged(GOOD.SerializeToString())


@pytest.mark.parametrize("code", checks.FORBIDDEN)
def test_a_forbidden_status_is_found(code: grpc.StatusCode) -> None:
    assert code.name in judged(GOOD.SerializeToString(), code=code)


def test_a_refusal_without_a_status_is_found() -> None:
    assert "without one status" in judged(None)


def test_a_refusal_without_a_reason_is_found() -> None:
    bare = type(GOOD)(code=GOOD.code, message=GOOD.message)

    assert "0 reasons" in judged(bare.SerializeToString())


def test_a_refusal_with_two_reasons_is_found() -> None:
    double = type(GOOD)(code=GOOD.code, message=GOOD.message, details=[*GOOD.details, *GOOD.details])

    assert "2 reasons" in judged(double.SerializeToString())


def test_a_refusal_that_says_two_things_is_found() -> None:
    assert "another status" in judged(GOOD.SerializeToString(), details="Something else is wrong.")


def test_a_refusal_that_is_no_sentence_is_found() -> None:
    assert "without a sentence" in judged(GOOD.SerializeToString(), details="no")


@pytest.mark.parametrize(
    "secret",
    [forging.token({"game": "a"}), REQUEST_ID, bytes(range(32)).hex(), API_KEY, forging.KEYS.partition(":")[2]],
    ids=["a token", "a request id", "a seed", "an API key", "a signing key"],
)
class TestASecret:
    """It is found wherever it is told."""

    def test_in_a_refusal_is_found(self, secret: str) -> None:
        assert "a secret" in judged(GOOD.SerializeToString(), details=f"This is told: {secret}")

    def test_in_a_log_is_found(self, secret: str, tmp_path: Path) -> None:
        log = tmp_path / "log"
        log.write_text(f'{{"level":"info","event":"rpc","game_id":"{secret}"}}\n')

        assert len(list(checks.log_problems(log))) == 1


@pytest.mark.parametrize(
    "line", ['{"level":"error","event":"rpc_failed"}', "Traceback (most recent call last):", "E0101 something odd"]
)
def test_a_log_line_that_should_not_be_is_found(line: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text(line + "\n")

    assert len(list(checks.log_problems(log))) == 1


def test_the_log_of_a_good_call_is_none(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text('{"timestamp":"2026-01-01T00:00:00Z","level":"info","event":"rpc","call_id":"0a1b2c3d-4f"}\n')

    assert list(checks.log_problems(log)) == []
