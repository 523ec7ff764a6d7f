"""Render the report as an HTML page: one file with embedded charts that needs no network."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from clients.loadtest.formatting import TOO_FEW_VALUES, format_contention, format_replays
from clients.loadtest.limits import FIGURES

WIDTH: Final = 860
HEIGHT: Final = 200
LEFT: Final = 60
RIGHT: Final = 24
BOTTOM: Final = 24


def render_page(report: Mapping[str, Any]) -> str:
    """Return the HTML page of a report."""
    environment = Environment(loader=PackageLoader("clients.loadtest", "."), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    timeline = report["timeline"]
    seconds = [point["second"] for point in timeline]
    charts = [
        {
            "title": "Whole moves per second",
            **chart(seconds, {"moves": [point["moves_per_second"] for point in timeline]}),
        },
        {
            "title": "Whole moves: milliseconds from the intended start until every seat has received it",
            **chart(seconds, {name: [point[name] for point in timeline] for name in ("p50", "p99")}),
        },
    ]
    return environment.get_template("report.html.j2").render(
        report=report,
        figures=FIGURES,
        too_few_values=TOO_FEW_VALUES,
        replays=format_replays(report),
        contention=format_contention(report),
        charts=charts,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=RIGHT,
    )


def chart(seconds: Sequence[float], lines: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """Return the layout of a chart: each line as SVG points, interrupted where a value is None, and the axis labels."""
    highest = axis_end(max((value for line in lines.values() for value in line if value is not None), default=1.0))
    last = max(seconds, default=0.0) or 1.0

    def x_of(second: float) -> float:
        return round(LEFT + second / last * (WIDTH - LEFT - RIGHT), 1)

    def y_of(value: float) -> float:
        return round((HEIGHT - BOTTOM) - value / highest * (HEIGHT - BOTTOM - 10), 1)

    def pieces(line: Iterable[float | None]) -> list[str]:
        found: list[list[str]] = [[]]
        for second, value in zip(seconds, line, strict=True):
            if value is None:
                found.append([])
            else:
                found[-1].append(f"{x_of(second)},{y_of(value)}")
        # A single point becomes a line of length 0, which its round caps make visible.
        return [" ".join(piece if len(piece) > 1 else 2 * piece) for piece in found if piece]

    return {
        "lines": {name: pieces(line) for name, line in lines.items()},
        "values": [(y_of(highest * part / 4), f"{highest * part / 4:g}") for part in range(5)],
        "seconds": [(x_of(second), f"{second} s") for second in ticks(last)],
    }


def ticks(last: float) -> range:
    """Return the seconds to mark on a time axis, with at most seven intervals between them."""
    return range(0, int(last) + 1, next(step for step in steps() if last / step <= 7))


def steps() -> Iterator[int]:
    """Yield readable intervals in seconds: up to an hour, then whole hours."""
    yield from (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800)
    yield from itertools.count(3600, 3600)


def axis_end(value: float) -> float:
    """Return the smallest readable number that is not below a value, as the end of an axis."""
    step = 1.0
    while True:
        for digit in (1, 2, 4, 8):
            if digit * step >= value:
                return digit * step
        step *= 10
