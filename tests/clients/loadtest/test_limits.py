"""Limits are parsed from a text and compared with the measurements; the summary reports the result."""

from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest.formatting import NO_VALUE
from clients.loadtest.limits import Limit, parse_limits
from clients.loadtest.recorder import MOVE, Recorder
from clients.loadtest.summary import Outcome, format_progress, summarize
from sodafountain import Contention, Reason


def recorded(*milliseconds: float, failed: int = 0) -> Recorder:
    """Create a recorder with one finished game and these durations of ApplyMove and whole moves."""
    recorder = Recorder()
    recorder.start(0.0, slice_seconds=1.0)
    for span in milliseconds:
        recorder.record_span("ApplyMove", 0.0, span / 1000)
        recorder.record_move("juices", 0.0, span / 1000)
    for _ in range(failed):
        error = Contention("Other moves were faster.", code=StatusCode.ABORTED, reason=Reason.CONTENTION)
        recorder.record_error("ApplyMove", 0.0, error)
    recorder.record_game("juices", "a", bytes(32), "finished")
    return recorder


def summary_of(recorder: Recorder, limits: str = "", **known: Any) -> dict[str, Any]:
    """Return the summary of a run of ten seconds."""
    values: dict[str, Any] = {"target": "localhost:1", "seconds": 10.0, "lost_races": None, "replays": {}} | known
    options = {"limits": limits, "metrics": values.pop("metrics", "")}
    return summarize(recorder, Outcome(options=options, **values))


def test_limits_are_parsed_in_milliseconds_and_errors_in_percent() -> None:
    assert parse_limits("ApplyMove p99 100, whole move p99.9 250ms , whole move juices max 1000, errors 0.1 %") == [
        Limit("ApplyMove", "p99", 100),
        Limit("whole move", "p99.9", 250),
        Limit("whole move juices", "max", 1000),
        Limit("errors", "", 0.1),
    ]


@pytest.mark.parametrize(
    "text", ["ApplyMove", "ApplyMove 100", "ApplyMove p98 100", "p99 100 ApplyMove", "errors p99 x"]
)
def test_an_invalid_limit_is_rejected_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a limit; expected .* for example 'ApplyMove p99 100'"):
        parse_limits(text)


def test_a_run_within_its_limits_passes() -> None:
    summary = summary_of(recorded(10, 20, 30), "ApplyMove p99 31, whole move max 31, errors 0")
    assert (summary["passed"], summary["failures"]) == (True, [])


@pytest.mark.parametrize(
    ("limit", "failure"),
    [
        ("ApplyMove p50 19", "The limit ApplyMove p50 19 was exceeded: 20"),
        ("whole move juices max 29", "The limit whole move juices max 29 was exceeded: 30"),
        ("errors 20", "The limit errors 20 was exceeded: 25."),
        ("Score p50 5", "The limit Score p50 5 could not be checked: nothing was measured."),
    ],
)
def test_a_run_fails_if_a_limit_is_exceeded_or_cannot_be_checked(limit: str, failure: str) -> None:
    summary = summary_of(recorded(10, 20, 30, failed=1), limit)
    assert not summary["passed"]
    assert summary["failures"][0].startswith(failure)


@pytest.mark.parametrize(
    ("known", "failure"),
    [
        ({"replays": {"a": "the seed is not the one"}}, "The replay failed for 1 of 1 game."),
        ({"exceptions": ["KeyError"]}, "1 invariant was violated; see the report."),
    ],
)
def test_without_limits_a_run_fails_by_replays_and_faults(known: dict[str, Any], failure: str) -> None:
    assert summary_of(recorded(10), **known)["failures"] == [failure]


def test_a_run_fails_if_no_game_is_finished_or_a_game_is_abandoned() -> None:
    recorder = Recorder()
    recorder.record_game("juices", "a", bytes(32), "abandoned")
    assert summary_of(recorder)["failures"] == [
        "No game was finished.",
        "1 game was abandoned because a call failed permanently or the game did not finish.",
    ]


def test_the_summary_warns_if_the_generator_was_the_bottleneck() -> None:
    busy, idle, delayed = recorded(10), recorded(10), recorded(10)
    busy.samples = [("worker 0", 1.0, 40.0, 0.01), ("worker 1", 1.0, 99.0, 0.2)]
    idle.samples = [("generator", 1.0, 40.0, 0.01)]
    delayed.record_span("late", 0.0, 0.2)
    warnings = [summary_of(recorder)["generator"]["warning"] for recorder in (busy, delayed)]
    assert warnings[0].startswith("The generator was the bottleneck: one of its processes used 99 % of a core")
    assert warnings[1].startswith("The generator was the bottleneck: 1 % of the moves started 200 ms late or more")
    generator = summary_of(idle)["generator"]
    assert (generator["warning"], generator["bottleneck"]) == ("", False)
    assert summary_of(busy)["passed"], "a warning does not fail the run"


def test_percentiles_are_shown_only_with_enough_values() -> None:
    few, some, many = (summary_of(recorded(*range(1, count + 1)))["moves"][MOVE] for count in (99, 100, 1000))
    assert (few["p95"], few["p99"], few["p99.9"], few["max"]) == (pytest.approx(94, rel=0.01), None, None, few["max"])
    assert (some["p99"], some["p99.9"]) == (pytest.approx(99, rel=0.01), None)
    assert many["p99.9"] == pytest.approx(999, rel=0.01)


def test_a_limit_also_applies_to_few_values() -> None:
    (limit,) = summary_of(recorded(10, 20, 30), "ApplyMove p99 29")["limits"]
    assert (limit["held"], limit["measured"]) == (False, pytest.approx(30, rel=0.01))


def test_progress_shows_p99_once_there_are_enough_values() -> None:
    few = f"1 move | ApplyMove p50 10.0 ms, p99 {NO_VALUE} | whole move p99 {NO_VALUE} | 0 errors"
    assert few in format_progress(recorded(10), 5)
    many = "1 game finished | 100 moves | ApplyMove p50 10.0 ms, p99 10.0 ms"
    assert many in format_progress(recorded(*[10] * 100), 5)


def test_the_summary_contains_the_options_of_the_run() -> None:
    known = {"run_time": 300, "finish_within": 60.0, "secure": True, "metrics": "https://there:9/metrics"}
    options = summarize(recorded(10), Outcome("there:1", 10.0, known | {"limits": ""}, None, {}))["options"]
    assert options.items() >= known.items()


def test_moves_are_summarized_for_all_games_and_for_each_game() -> None:
    summary = summary_of(recorded(10, 20))
    assert summary["moves"].keys() == {MOVE, f"{MOVE} juices"}
    assert summary["moves"][MOVE]["per_second"] == 0.2
