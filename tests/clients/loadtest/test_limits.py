"""Limits: read from a text, and held against what was measured."""

from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest.limits import Limit, limits_of
from clients.loadtest.recorder import MOVE, Recorder
from clients.loadtest.summary import Outcome, progress, summary
from clients.loadtest.formatting import DASH
from sodafountain import Contention, Reason


def recorded(*milliseconds: float, failed: int = 0) -> Recorder:
    """A recorder after one finished game, with ApplyMove and whole moves that took so long."""
    recorder = Recorder()
    recorder.begin(0.0, slice_seconds=1.0)
    for span in milliseconds:
        recorder.took("ApplyMove", 0.0, span / 1000)
        recorder.moved("juices", 0.0, span / 1000)
    for _ in range(failed):
        recorder.failed(
            "ApplyMove", 0.0, Contention("Others were faster.", code=StatusCode.ABORTED, reason=Reason.CONTENTION)
        )
    recorder.ended("juices", "a", "finished")
    return recorder


def told(recorder: Recorder, limits: str = "", **known: Any) -> dict[str, Any]:
    """The summary of a run of ten seconds."""
    values: dict[str, Any] = {"target": "localhost:1", "seconds": 10.0, "lost_races": None, "replays": {}} | known
    options = {"limits": limits, "metrics": values.pop("metrics", "")}
    return summary(recorder, Outcome(options=options, **values))


def test_limits_are_read_in_milliseconds_and_errors_in_percent() -> None:
    assert limits_of("ApplyMove p99 100, whole move p99.9 250ms , whole move juices max 1000, errors 0.1 %") == [
        Limit("ApplyMove", "p99", 100),
        Limit("whole move", "p99.9", 250),
        Limit("whole move juices", "max", 1000),
        Limit("errors", "", 0.1),
    ]


@pytest.mark.parametrize(
    "text", ["ApplyMove", "ApplyMove 100", "ApplyMove p98 100", "p99 100 ApplyMove", "errors p99 x"]
)
def test_what_is_no_limit_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="is not a limit such as 'ApplyMove p99 100'"):
        limits_of(text)


def test_a_run_within_its_limits_passes() -> None:
    result = told(recorded(10, 20, 30), "ApplyMove p99 31, whole move max 31, errors 0")
    assert (result["passed"], result["failures"]) == (True, [])


@pytest.mark.parametrize(
    ("limit", "failure"),
    [
        ("ApplyMove p50 19", "The limit ApplyMove p50 19 was exceeded: 20"),
        ("whole move juices max 29", "The limit whole move juices max 29 was exceeded: 30"),
        ("errors 20", "The limit errors 20 was exceeded: 25."),
        ("Score p50 5", "Of the limit Score p50 5 nothing was measured."),
    ],
)
def test_a_run_fails_by_a_limit_that_it_exceeds_or_says_nothing_of(limit: str, failure: str) -> None:
    result = told(recorded(10, 20, 30, failed=1), limit)
    assert not result["passed"]
    assert result["failures"][0].startswith(failure)


@pytest.mark.parametrize(
    ("harm", "failure"),
    [
        ({"replays": {"a": "the seed is not the one"}}, "1 game of 1 did not hold when replayed."),
        ({"exceptions": ["KeyError"]}, "1 thing happened that never should; the report lists them all."),
    ],
)
def test_a_run_fails_without_any_limit_when_something_is_wrong(harm: dict[str, Any], failure: str) -> None:
    assert told(recorded(10), **harm)["failures"] == [failure]


def test_a_run_fails_that_finished_no_game_or_gave_one_up() -> None:
    recorder = Recorder()
    recorder.ended("juices", "a", "abandoned")
    assert told(recorder)["failures"] == [
        "No game was played to its end.",
        "1 game was abandoned: calls failed for good, or there was no end.",
    ]


def test_the_generator_says_plainly_that_it_was_the_bottleneck() -> None:
    busy, idle, tardy = recorded(10), recorded(10), recorded(10)
    busy.samples = [("worker 0", 1.0, 40.0, 0.01), ("worker 1", 1.0, 99.0, 0.2)]
    idle.samples = [("generator", 1.0, 40.0, 0.01)]
    tardy.took("late", 0.0, 0.2)
    assert told(busy)["generator"]["warning"].startswith("The generator was the bottleneck: a process of it took 99 %")
    assert told(tardy)["generator"]["warning"].startswith("The generator was the bottleneck: one in a hundred moves")
    assert (told(idle)["generator"]["warning"], told(idle)["generator"]["bottleneck"]) == ("", False)
    assert told(busy)["passed"], "it is a warning: what was measured may still be within limits"


def test_percentiles_are_told_where_the_count_can_bear_them() -> None:
    few, some, many = (told(recorded(*range(1, count + 1)))["moves"][MOVE] for count in (99, 100, 1000))
    assert (few["p95"], few["p99"], few["p99.9"], few["max"]) == (pytest.approx(94, rel=0.01), None, None, few["max"])
    assert (some["p99"], some["p99.9"]) == (pytest.approx(99, rel=0.01), None)
    assert many["p99.9"] == pytest.approx(999, rel=0.01)


def test_a_limit_is_held_against_few_values_too() -> None:
    (limit,) = told(recorded(10, 20, 30), "ApplyMove p99 29")["limits"]
    assert (limit["held"], limit["measured"]) == (False, pytest.approx(30, rel=0.01))


def test_progress_tells_p99_once_there_are_values_enough() -> None:
    assert f"1 move | ApplyMove p50 10.0 ms, p99 {DASH} | whole move p99 {DASH} | 0 errors" in progress(recorded(10), 5)
    assert "1 game finished | 100 moves | ApplyMove p50 10.0 ms, p99 10.0 ms" in progress(recorded(*[10] * 100), 5)


def test_what_was_run_tells_how_long_and_against_what() -> None:
    known = {"run_time": 300, "finish_within": 60.0, "secure": True, "metrics": "https://there:9/metrics"}
    options = summary(recorded(10), Outcome("there:1", 10.0, known | {"limits": ""}, None, {}))["options"]
    assert options.items() >= known.items()


def test_moves_are_told_for_all_games_and_for_each() -> None:
    result = told(recorded(10, 20))
    assert result["moves"].keys() == {MOVE, f"{MOVE} juices"}
    assert result["moves"][MOVE]["per_second"] == 0.2
