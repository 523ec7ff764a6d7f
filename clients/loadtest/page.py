"""The report as a page: one file, with its charts drawn in it, that needs no network."""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from clients.loadtest.limits import FIGURES
from clients.loadtest.formatting import FEW, contention, replays

WIDTH: Final = 860
HEIGHT: Final = 200
LEFT: Final = 60
RIGHT: Final = 24
BOTTOM: Final = 24


def page(told: Mapping[str, Any]) -> str:
    """Draws the page of a run."""
    environment = Environment(loader=PackageLoader("clients.loadtest", "."), autoescape=True, undefined=StrictUndefined)
    environment.trim_blocks = environment.lstrip_blocks = True
    timeline = told["timeline"]
    seconds = [point["second"] for point in timeline]
    charts = [
        {
            "title": "Whole moves a second",
            **chart(seconds, {"moves": [point["moves_per_second"] for point in timeline]}),
        },
        {
            "title": "Whole moves: milliseconds from the intended start until every seat has seen it",
            **chart(seconds, {name: [point[name] for point in timeline] for name in ("p50", "p99")}),
        },
    ]
    return environment.get_template("report.html.j2").render(
        told=told,
        figures=FIGURES,
        few=FEW,
        replays=replays(told),
        contention=contention(told),
        charts=charts,
        width=WIDTH,
        height=HEIGHT,
        left=LEFT,
        right=RIGHT,
    )


def chart(seconds: Sequence[float], lines: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """Lays a chart out: lines as points of an SVG, broken where a value is None, and the marks on its axes."""
    highest = nice(max((value for line in lines.values() for value in line if value is not None), default=1.0))
    last = max(seconds, default=0.0) or 1.0

    def across(second: float) -> float:
        return round(LEFT + second / last * (WIDTH - LEFT - RIGHT), 1)

    def up(value: float) -> float:
        return round((HEIGHT - BOTTOM) - value / highest * (HEIGHT - BOTTOM - 10), 1)

    def pieces(line: Iterable[float | None]) -> list[str]:
        found: list[list[str]] = [[]]
        for second, value in zip(seconds, line, strict=True):
            if value is None:
                found.append([])
            else:
                found[-1].append(f"{across(second)},{up(value)}")
        # A point alone is a line to itself, whose round ends show.
        return [" ".join(piece if len(piece) > 1 else 2 * piece) for piece in found if piece]

    return {
        "lines": {name: pieces(line) for name, line in lines.items()},
        "values": [(up(highest * part / 4), f"{highest * part / 4:g}") for part in range(5)],
        "seconds": [(across(second), f"{second} s") for second in ticks(last)],
    }


def ticks(last: float) -> range:
    """The whole seconds that a time axis is marked at, seven spaces or fewer between them."""
    return range(0, int(last) + 1, next(step for step in steps() if last / step <= 7))


def steps() -> Iterator[int]:
    """Numbers of seconds that people count in: to a minute, to an hour, and hours beyond it."""
    yield from (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800)
    yield from itertools.count(3600, 3600)


def nice(value: float) -> float:
    """The next number upwards that an axis may end with."""
    step = 1.0
    while True:
        for digit in (1, 2, 4, 8):
            if digit * step >= value:
                return digit * step
        step *= 10
