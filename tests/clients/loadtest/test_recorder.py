"""Measurements of several processes add up, no matter how they are split."""

import json
import random

import msgpack
import pytest
from grpc import StatusCode

from clients.loadtest.limits import FIGURES
from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import Outcome, figures_of, summarize
from sodafountain import StoreUnavailable


def record_everything(recorder: Recorder, rng: random.Random, moves: int) -> None:
    for move in range(moves):
        recorder.record_span("ApplyMove", move / 10, move / 10 + rng.expovariate(100))
        recorder.record_move("juices", move / 10, move / 10 + rng.expovariate(50))
    recorder.record_error("ApplyMove", 1.0, StoreUnavailable("Away.", code=StatusCode.UNAVAILABLE))
    recorder.record_game("juices", f"game {moves}", bytes([moves % 256]), "finished")
    recorder.record_fault(f"fault {moves}")
    recorder.samples.append(("worker", 1.0, 50.0, 0.1))


def test_merged_workers_give_the_same_summary_as_one_process() -> None:
    single, master, workers = Recorder(), Recorder(), (Recorder(), Recorder())
    for recorder in (single, *workers):
        recorder.start(0.0, slice_seconds=1.0)
    for part, moves in enumerate((300, 200, 100)):
        record_everything(single, random.Random(part), moves)
        record_everything(workers[part % 2], random.Random(part), moves)
        # Locust's own encoding.
        master.merge(msgpack.unpackb(msgpack.packb(workers[part % 2].drain()), strict_map_key=False))
    outcome = Outcome("localhost:1", 60.0, {"limits": ""}, None, {})
    assert json.dumps(summarize(master, outcome)) == json.dumps(summarize(single, outcome))
    assert summarize(master, outcome)["calls"]["ApplyMove"]["count"] == 600


def test_measurements_are_drained_only_once() -> None:
    recorder, master = Recorder(), Recorder()
    recorder.start(0.0, slice_seconds=1.0)
    record_everything(recorder, random.Random(1), 10)
    master.merge(recorder.drain())
    master.merge(recorder.drain())
    assert master.spans["ApplyMove"].get_total_count() == 10
    assert master.games == {"game 10": "0a"}


def test_percentiles_are_those_of_the_recorded_durations() -> None:
    recorder = Recorder()
    recorder.start(0.0, slice_seconds=1.0)
    for milliseconds in range(1, 1001):
        recorder.record_span("ApplyMove", 0.0, milliseconds / 1000)
    figures = figures_of(recorder.spans["ApplyMove"], seconds=100)
    assert [round(figures[figure]) for figure in FIGURES] == [500, 900, 950, 990, 999, 1000]
    assert (figures["count"], figures["per_second"]) == (1000, 10)


def test_only_what_starts_during_the_measured_time_is_recorded_whenever_it_ends() -> None:
    error = StoreUnavailable("Away.", code=StatusCode.UNAVAILABLE)
    recorder = Recorder()
    recorder.record_span("NewGame", 9.0, 9.1)
    recorder.start(10.0, slice_seconds=1.0)
    recorder.measured_until = 20.0
    for started in (9.9, 19.9, 20.0):
        recorder.record_span("ApplyMove", started, 25.0)
        recorder.record_move("juices", started, 25.0)
        recorder.record_error("ApplyMove", started, error)
    assert recorder.spans.keys() == {"ApplyMove", "whole move", "whole move juices"}
    assert [figures_of(spans, 10.0)["count"] for spans in recorder.spans.values()] == [1, 1, 1]
    assert round(figures_of(recorder.spans["whole move"], 10.0)["max"]) == pytest.approx(5100, rel=0.01)
    assert list(recorder.counts_of("error")) == [("ApplyMove", "StoreUnavailable", 1)]
    assert list(recorder.counts_of("late error")) == [("ApplyMove", "StoreUnavailable", 2)]


def test_a_game_that_finishes_after_the_measured_time_is_kept_for_the_replay() -> None:
    recorder = Recorder()
    recorder.start(10.0, slice_seconds=1.0)
    recorder.measured_until = 20.0
    recorder.record_game("juices", "late", bytes(32), "finished")
    assert list(recorder.counts_of("game")) == [("juices", "finished late", 1)]
    assert recorder.games.keys() == {"late"}
