"""The report contains every part of the summary, and its page needs only a browser."""

import csv
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from grpc import StatusCode

from clients.loadtest import report
from clients.loadtest.formatting import NO_VALUE
from clients.loadtest.limits import FIGURES
from clients.loadtest.page import chart, ticks
from sodafountain import Unreachable
from tests.clients.loadtest.test_limits import recorded, summary_of


def failed_run() -> dict[str, Any]:
    """Return the summary of a run with every kind of failure."""
    recorder = recorded(10, 20, 30, failed=2)
    recorder.samples = [("worker 0", 1.0, 99.0, 0.2)]
    recorder.measured_until = 10.0
    recorder.record_error("ListGameKinds", 10.0, Unreachable("Gone.", code=StatusCode.UNAVAILABLE))
    recorder.record_fault("juices a: seats [1] never received version <3>.")
    return summary_of(
        recorder,
        "ApplyMove p50 1",
        lost_races=4,
        replays={"a": "version 2 is missing"},
    )


def test_the_page_shows_figures_errors_contention_generator_and_failures(tmp_path: Path) -> None:
    report.write(failed_run(), tmp_path)
    page = (tmp_path / "report.html").read_text()
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))
    for expected in (
        *FIGURES,
        "Failed",
        "The limit ApplyMove p50 1 was exceeded: 20",
        "whole move juices 3",
        "ApplyMove CONTENTION 2",
        "4 commits lost a race and had to be retried; 2 moves were rejected with CONTENTION.",
        "0 games verified, 1 failed.",
        "too few values; p99 needs 100",
        "worker 0 99.0",
        "The generator was the bottleneck",
        "ListGameKinds Unreachable after the run time 1",
        "a: version 2 is missing",
        "never received version &lt;3&gt;",
    ):
        assert expected in text, expected
    assert page.count("<polyline") == 3


def test_slices_without_moves_are_in_the_timeline_and_interrupt_the_lines(tmp_path: Path) -> None:
    recorder = recorded(10, 20)
    for second in (2.5, 3.5):
        recorder.record_move("juices", second - 0.03, second)
    summary = summary_of(recorder, seconds=5.5)
    timeline = summary["timeline"]
    assert [point["second"] for point in timeline] == [0, 1, 2, 3, 4]
    assert [point["moves_per_second"] for point in timeline] == [2, 0, 1, 1, 0]
    assert [point["p50"] and round(point["p50"]) for point in timeline] == [10, None, 30, 30, None]

    report.write(summary, tmp_path)
    lines = re.findall(r'<polyline class="(\w+)" points="([^"]*)"', (tmp_path / "report.html").read_text())
    assert [(series, len(points.split())) for series, points in lines] == [
        ("series0", 5),
        *(("series0", 2), ("series0", 2)),
        *(("series1", 2), ("series1", 2)),
    ]
    single = lines[1][1].split()
    assert single[0] == single[1], "a single point is a line of length 0"


def test_the_page_needs_no_network(tmp_path: Path) -> None:
    report.write(failed_run(), tmp_path)
    assert not re.findall(r"https?:|//|src=|url\(|@import|<script|<link", (tmp_path / "report.html").read_text())


def test_json_and_csv_have_the_same_figures(tmp_path: Path) -> None:
    summary = failed_run()
    report.write(summary, tmp_path)
    written = json.loads((tmp_path / "report.json").read_text())
    with (tmp_path / "report.csv").open() as file:
        rows = {row["name"]: row for row in csv.DictReader(file)}
    assert written == summary
    assert float(rows["ApplyMove"]["p95_ms"]) == written["calls"]["ApplyMove"]["p95"]
    assert (rows["ApplyMove"]["p99.9_ms"], written["calls"]["ApplyMove"]["p99.9"]) == ("", None)
    assert rows["ApplyMove"]["errors"] == "2"
    assert rows.keys() == {"ApplyMove", "whole move", "whole move juices"}


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ({}, "lost races are unknown because --metrics is not set; 0 moves were rejected with CONTENTION."),
        (
            {"metrics": "http://gone:1/metrics"},
            "because the service's metrics could not be read; 0 moves were rejected with CONTENTION.",
        ),
        ({"metrics": "http://there:1/metrics", "lost_races": 1}, "1 commit lost a race and had to be retried; 0"),
    ],
)
def test_the_report_shows_contention_or_why_it_is_unknown(known: dict[str, Any], expected: str, tmp_path: Path) -> None:
    summary = summary_of(recorded(10), **known)
    report.write(summary, tmp_path)
    assert expected in report.format_text(summary)
    assert expected in html.unescape((tmp_path / "report.html").read_text())


def test_tables_omit_percentiles_with_too_few_values() -> None:
    text = report.format_text(summary_of(recorded(10)))
    (line,) = (line for line in text.splitlines() if line.startswith("ApplyMove"))
    assert line.split() == ["ApplyMove", "1", "0.1", "10.0", "10.0", "10.0", NO_VALUE, NO_VALUE, "10.0"]
    assert "too few values" in text
    assert "too few values" not in report.format_text(summary_of(recorded(*[10] * 1000)))


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
    labels = chart([0, last], {"moves": [1, 1]})["seconds"]
    assert [label for _, label in labels] == [f"{mark} s" for mark in marks]


def test_a_run_without_measurements_has_a_report(tmp_path: Path) -> None:
    summary = summary_of(recorded())
    report.write(summary, tmp_path)
    assert "Passed" in report.format_text(summary)
