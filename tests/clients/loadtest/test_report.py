"""The report: all that was asked for is in it, and a browser needs nothing else to show it."""

import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest import report
from clients.loadtest.limits import FIGURES
from clients.loadtest.page import chart, ticks
from clients.loadtest.formatting import DASH
from sodafountain import Unreachable
from tests.clients.loadtest.test_limits import recorded, told


def run() -> dict[str, Any]:
    """What is told of a run that went wrong in every way."""
    recorder = recorded(10, 20, 30, failed=2)
    recorder.samples = [("worker 0", 1.0, 99.0, 0.2)]
    recorder.until = 10.0
    recorder.failed("ListGameKinds", 10.0, Unreachable("Gone.", code=StatusCode.UNAVAILABLE))
    recorder.fault("juices a: seats [1] never saw version <3>.")
    return told(
        recorder,
        "ApplyMove p50 1",
        lost_races=4,
        replays={"a": "version 2 is missing"},
    )


def test_the_page_shows_figures_errors_contention_the_generator_and_what_failed(tmp_path: Path) -> None:
    report.write(run(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    for expected in (
        *FIGURES,
        "Failed",
        "The limit ApplyMove p50 1 was exceeded: 20",
        "whole move juices 3",
        "ApplyMove CONTENTION 2",
        "4 commits lost a race and had to be tried again; 2 moves were refused for it.",
        "1 game replayed, 1 wrong.",
        "too few values for that: p99 needs 100",
        "worker 0 99.0",
        "The generator was the bottleneck",
        "ListGameKinds Unreachable, after the time 1",
        "a: version 2 is missing",
        "never saw version &lt;3&gt;",
    ):
        assert expected in text, expected
    assert page.count("<polyline") == 3


def test_time_without_a_move_is_in_the_timeline_and_breaks_the_lines_of_the_page(tmp_path: Path) -> None:
    recorder = recorded(10, 20)
    for second in (2.5, 3.5):
        recorder.moved("juices", second - 0.03, second)
    timeline = told(recorder, seconds=5.5)["timeline"]
    assert [point["second"] for point in timeline] == [0, 1, 2, 3, 4]
    assert [point["moves_per_second"] for point in timeline] == [2, 0, 1, 1, 0]
    assert [point["p50"] and round(point["p50"]) for point in timeline] == [10, None, 30, 30, None]

    report.write(told(recorder, seconds=5.5), tmp_path)
    lines = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', (tmp_path / "report.html").read_text())
    assert [(series, len(points.split())) for series, points in lines] == [
        ("series0", 5),
        *(("series0", 2), ("series0", 2)),
        *(("series1", 2), ("series1", 2)),
    ]
    alone = lines[1][1].split()
    assert alone[0] == alone[1], "a point alone is a line to itself"


def test_the_page_needs_no_network(tmp_path: Path) -> None:
    report.write(run(), tmp_path)
    assert not re.findall(r"https?:|//|src=|url\(|@import|<script|<link", (tmp_path / "report.html").read_text())


def test_json_and_csv_have_the_same_figures(tmp_path: Path) -> None:
    report.write(run(), tmp_path)
    kept = json.loads((tmp_path / "report.json").read_text())
    with (tmp_path / "report.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert kept == run()
    assert float(rows["ApplyMove"]["p95_ms"]) == kept["calls"]["ApplyMove"]["p95"]
    assert (rows["ApplyMove"]["p99.9_ms"], kept["calls"]["ApplyMove"]["p99.9"]) == ("", None)
    assert rows["ApplyMove"]["errors"] == "2"
    assert rows.keys() == {"ApplyMove", "whole move", "whole move juices"}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, "how often moves met is not known, for want of --metrics; 0 moves were refused for it."),
        ({"metrics": "http://gone:1/metrics"}, "since the service's metrics could not be read; 0 moves were refused"),
        ({"metrics": "http://there:1/metrics", "lost_races": 1}, "1 commit lost a race and had to be tried again; 0"),
    ],
)
def test_contention_is_told_or_why_it_is_not_known(known: dict[str, Any], expected: str, tmp_path: Path) -> None:
    result = told(recorded(10), **known)
    report.write(result, tmp_path)
    assert expected in report.in_words(result)
    assert expected in html.unescape((tmp_path / "report.html").read_text())


def test_figures_that_few_values_cannot_bear_are_left_out_of_the_tables() -> None:
    (line,) = (line for line in report.in_words(told(recorded(10))).splitlines() if line.startswith("ApplyMove"))
    assert line.split() == ["ApplyMove", "1", "0.1", "10.0", "10.0", "10.0", DASH, DASH, "10.0"]
    assert "too few values" in report.in_words(told(recorded(10)))
    assert "too few values" not in report.in_words(told(recorded(*[10] * 1000)))


@pytest.mark.parametrize(
    ("last", "marks"),
    [
        (1, [0, 1]),
        (4, [0, 1, 2, 3, 4]),
        (29, [0, 5, 10, 15, 20, 25]),
        (297.5, [0, 60, 120, 180, 240]),
        (86400, [0, 14400, 28800, 43200, 57600, 72000, 86400]),
    ],
)
def test_the_time_axis_is_marked_at_whole_seconds(last: float, marks: list[int]) -> None:
    assert list(ticks(last)) == marks
    told = chart([0, last], {"moves": [1, 1]})["seconds"]
    assert [label for _, label in told] == [f"{mark} s" for mark in marks]


def test_a_run_without_anything_in_it_has_a_report_too(tmp_path: Path) -> None:
    recorder = recorded()
    report.write(told(recorder), tmp_path)
    assert "Passed" in report.in_words(told(recorder))
