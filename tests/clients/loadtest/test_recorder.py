"""What processes take down adds up, whichever of them took it down and in however many parts."""

import json
import random

import msgpack
from grpc import StatusCode

from clients.loadtest.limits import FIGURES
from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import Outcome, figures, summary
from sodafountain import StoreUnavailable


def noted(recorder: Recorder, chance: random.Random, moves: int) -> None:
    recorder.measuring = True
    for move in range(moves):
        recorder.took("ApplyMove", chance.expovariate(100))
        recorder.moved("juices", chance.expovariate(50), now=move / 10)
    recorder.failed("ApplyMove", StoreUnavailable("Away.", code=StatusCode.UNAVAILABLE))
    recorder.ended("juices", f"game {moves}", "finished")
    recorder.fault(f"fault {moves}")
    recorder.samples.append(("worker", 1.0, 50.0, 0.1))


def test_workers_in_parts_tell_what_one_process_would_have_told() -> None:
    alone, master, workers = Recorder(), Recorder(), (Recorder(), Recorder())
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
    noted(recorder, random.Random(1), 10)
    master.add(recorder.take())
    master.add(recorder.take())
    assert master.spans["ApplyMove"].get_total_count() == 10
    assert master.games == ["game 10"]


def test_percentiles_are_those_of_the_spans() -> None:
    recorder = Recorder()
    recorder.measuring = True
    for milliseconds in range(1, 1001):
        recorder.took("ApplyMove", milliseconds / 1000)
    told = figures(recorder.spans["ApplyMove"], seconds=100)
    assert [round(told[figure]) for figure in FIGURES] == [500, 900, 950, 990, 999, 1000]
    assert (told["count"], told["per_second"]) == (1000, 10)


def test_what_comes_after_the_time_is_not_measured_but_its_games_are_kept() -> None:
    recorder = Recorder()
    recorder.took("ApplyMove", 0.1)
    recorder.moved("juices", 0.1, now=1.0)
    recorder.ended("juices", "late", "finished")
    assert not recorder.spans
    assert list(recorder.counted("game")) == [("juices", "finished after the time", 1)]
    assert recorder.games == ["late"]
