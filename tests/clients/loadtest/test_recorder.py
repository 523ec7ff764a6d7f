"""What processes take down adds up, whichever of them took it down and in however many parts."""

import json
import random

import msgpack
import pytest
from grpc import StatusCode

from clients.loadtest.limits import FIGURES
from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import Outcome, figures, summary
from sodafountain import StoreUnavailable


def noted(recorder: Recorder, chance: random.Random, moves: int) -> None:
    for move in range(moves):
        recorder.took("ApplyMove", move / 10, move / 10 + chance.expovariate(100))
        recorder.moved("juices", move / 10, move / 10 + chance.expovariate(50))
    recorder.failed("ApplyMove", 1.0, StoreUnavailable("Away.", code=StatusCode.UNAVAILABLE))
    recorder.ended("juices", f"game {moves}", "finished")
    recorder.fault(f"fault {moves}")
    recorder.samples.append(("worker", 1.0, 50.0, 0.1))


def test_workers_in_parts_tell_what_one_process_would_have_told() -> None:
    alone, master, workers = Recorder(), Recorder(), (Recorder(), Recorder())
    for recorder in (alone, *workers):
        recorder.begin(0.0, slice_seconds=1.0)
    for part, moves in enumerate((300, 200, 100)):
        noted(alone, random.Random(part), moves)
        noted(workers[part % 2], random.Random(part), moves)
        # As Locust sends it.
        master.add(msgpack.unpackb(msgpack.packb(workers[part % 2].take()), strict_map_key=False))
    outcome = Outcome("localhost:1", 60.0, {"limits": ""}, None, {})
    assert json.dumps(summary(master, outcome)) == json.dumps(summary(alone, outcome))
    assert summary(master, outcome)["calls"]["ApplyMove"]["count"] == 600


def test_what_was_taken_is_not_taken_again() -> None:
    recorder, master = Recorder(), Recorder()
    recorder.begin(0.0, slice_seconds=1.0)
    noted(recorder, random.Random(1), 10)
    master.add(recorder.take())
    master.add(recorder.take())
    assert master.spans["ApplyMove"].get_total_count() == 10
    assert master.games == ["game 10"]


def test_percentiles_are_those_of_the_spans() -> None:
    recorder = Recorder()
    recorder.begin(0.0, slice_seconds=1.0)
    for milliseconds in range(1, 1001):
        recorder.took("ApplyMove", 0.0, milliseconds / 1000)
    told = figures(recorder.spans["ApplyMove"], seconds=100)
    assert [round(told[figure]) for figure in FIGURES] == [500, 900, 950, 990, 999, 1000]
    assert (told["count"], told["per_second"]) == (1000, 10)


def test_what_began_in_time_is_measured_whenever_it_ends_and_nothing_else_is() -> None:
    away = StoreUnavailable("Away.", code=StatusCode.UNAVAILABLE)
    recorder = Recorder()
    recorder.took("NewGame", 9.0, 9.1)
    recorder.begin(10.0, slice_seconds=1.0)
    recorder.until = 20.0
    for began in (9.9, 19.9, 20.0):
        recorder.took("ApplyMove", began, 25.0)
        recorder.moved("juices", began, 25.0)
        recorder.failed("ApplyMove", began, away)
    assert recorder.spans.keys() == {"ApplyMove", "whole move", "whole move juices"}
    assert [figures(spans, 10.0)["count"] for spans in recorder.spans.values()] == [1, 1, 1]
    assert round(figures(recorder.spans["whole move"], 10.0)["max"]) == pytest.approx(5100, rel=0.01)
    assert list(recorder.counted("error")) == [("ApplyMove", "StoreUnavailable", 1)]
    assert list(recorder.counted("late error")) == [("ApplyMove", "StoreUnavailable", 2)]


def test_a_game_that_ends_after_the_time_is_kept_to_be_replayed() -> None:
    recorder = Recorder()
    recorder.begin(10.0, slice_seconds=1.0)
    recorder.until = 20.0
    recorder.ended("juices", "late", "finished")
    assert list(recorder.counted("game")) == [("juices", "finished after the time", 1)]
    assert recorder.games == ["late"]
