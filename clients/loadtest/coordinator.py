"""Coordinate the runs of one process: start them, let their games finish, merge the measurements, write the report."""

import logging
import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import gevent
from gevent.event import Event
from locust import User
from locust.env import Environment
from locust.runners import MasterRunner, WorkerRunner

from clients.loadtest import report
from clients.loadtest.formatting import pluralize
from clients.loadtest.game_session import RunContext
from clients.loadtest.generator import sample_process
from clients.loadtest.metrics import read_lost_races
from clients.loadtest.options import parse_mix
from clients.loadtest.recorder import Recorder
from clients.loadtest.replay_process import replay_games
from clients.loadtest.summary import Outcome, format_progress, summarize

# Messages between master and workers, and the key of the measurements in a worker's periodic report.
FINISH: Final = "finish games"
FINISHED: Final = "games finished"
RECORDED: Final = "recorded"
PROGRESS_SECONDS: Final = 5.0
SLICES: Final = 120
MISSING: Final = "missing"


class RunCoordinator:
    """Coordinates the runs of a standalone, master or worker process."""

    def __init__(self, environment: Environment, user_classes: Mapping[str, type[User]]) -> None:
        self._environment = environment
        # Any: Locust sets both before it fires the init event; its types declare them optional.
        self._runner: Any = environment.runner
        assert environment.parsed_options is not None
        self._options: Any = environment.parsed_options
        self._recorder = Recorder()
        self._run = RunContext(self._recorder, self._fire_request)
        self._playing = 0
        self._all_finished = Event()
        # On a master: the ids of the workers that take part, and of those whose games have finished.
        self._workers: set[str] = set()
        self._finished: set[str] = set()
        self._greenlets: list[gevent.Greenlet[..., object]] = []
        self._seconds: float | None = None
        self._is_running = self._is_stopping = False
        self._races_before: float | None = None
        mix = parse_mix(str(self._options.mix))
        for game, user in user_classes.items():
            user.weight = mix.get(game, 0)
        environment.user_classes = [user for user in environment.user_classes if user.weight]
        environment.events.test_start.add_listener(self._start)
        # gevent's timers count from the last turn of its loop. Without this, --run-time would include all imports.
        gevent.get_hub().loop.update_now()
        gevent.signal_handler(signal.SIGINT, self._interrupt)
        runner = self._runner
        if isinstance(runner, WorkerRunner):
            environment.events.report_to_master.add_listener(self._add_to_report)
            runner.register_message(FINISH, self._finish_for_master, concurrent=True)
            return
        # Locust's own statistics omit whole moves; our report has the others as well.
        logging.getLogger("locust.stats_logger").setLevel(logging.WARNING)
        environment.events.test_stopping.add_listener(self._finish)
        environment.events.test_stop.add_listener(self._conclude)
        environment.events.quitting.add_listener(self._conclude)
        if isinstance(runner, MasterRunner):
            environment.events.worker_report.add_listener(self._merge_report)
            runner.register_message(FINISHED, self._worker_finished)

    @contextmanager
    def playing(self) -> Iterator[RunContext]:
        """Provide the context for one game. After the run time, block until the user is killed instead."""
        if self._run.time_up.is_set():
            Event().wait()
        self._playing += 1
        self._all_finished.clear()
        try:
            yield self._run
        finally:
            self._playing -= 1
            if not self._playing:
                self._all_finished.set()

    def _interrupt(self) -> None:
        """Handle SIGINT like SIGTERM, with a report; exit immediately on the second SIGINT.

        Python's own handler would raise KeyboardInterrupt in an arbitrary greenlet. A worker with a run ignores the
        signal: it may share a terminal with its master, which stops it.
        """
        if isinstance(self._runner, WorkerRunner) and self._is_running:
            return
        if self._is_stopping:
            os._exit(128 + signal.SIGINT)
        self._is_stopping = True
        os.kill(os.getpid(), signal.SIGTERM)

    def _start(self, **_: Any) -> None:
        self._options = self._environment.parsed_options
        self._recorder.start(time.monotonic(), max(1.0, (self._options.run_time or 5 * SLICES) / SLICES))
        self._run.time_up.clear()
        self._all_finished.set()
        self._finished.clear()
        self._seconds = None
        self._is_running = True
        runner = self._runner
        if isinstance(runner, MasterRunner):
            self._workers = self._connected_workers()
        else:
            process = f"worker {runner.worker_index}" if isinstance(runner, WorkerRunner) else "generator"
            self._greenlets.append(gevent.spawn(sample_process, self._recorder, process))
        if not isinstance(runner, WorkerRunner):
            self._races_before = read_lost_races(self._options.metrics)
            self._greenlets.append(gevent.spawn(self._print_progress))

    def _fire_request(self, kind: str, name: str, seconds: float, error: Exception | None) -> None:
        """Report a call or a whole move to Locust, for its web page and statistics."""
        self._environment.events.request.fire(
            request_type=kind, name=name, response_time=seconds * 1000, response_length=0, exception=error, context={}
        )

    def _finish_games(self) -> None:
        """End the measured time, and wait until all games are finished; on a master, those of its workers."""
        self._recorder.measured_until = time.monotonic()
        if isinstance(self._runner, MasterRunner):
            self._wait_for_workers()
        else:
            self._run.time_up.set()
            timeout = self._options.finish_within
            if not self._all_finished.wait(timeout):
                self._recorder.record_fault(
                    f"{pluralize(self._playing, 'game')} did not finish within {timeout:g} seconds."
                )
                for session in self._run.sessions:
                    session.report_unfinished()
        gevent.killall(self._greenlets)
        self._greenlets.clear()

    def _wait_for_workers(self) -> None:
        self._runner.send_message(FINISH)
        self._workers |= self._connected_workers()
        deadline = time.monotonic() + self._options.finish_within + 10
        while pending := self._workers - self._finished:
            if (lost := pending.isdisjoint(self._connected_workers())) or time.monotonic() > deadline:
                self._recorder.record_fault(
                    f"Workers lost{'' if lost else ' or too slow'}: {len(pending)}. Their measurements since their "
                    "last report are missing, and their unfinished games were not checked."
                )
                break
            gevent.sleep(0.1)

    def _connected_workers(self) -> set[str]:
        """Return the connected workers. Locust drops a worker when it quits, or after a minute without a heartbeat."""
        return {worker.id for worker in self._runner.clients.all if worker.state != MISSING}

    def _add_to_report(self, data: dict[str, Any], **_: Any) -> None:
        data[RECORDED] = self._recorder.drain()

    def _merge_report(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        if RECORDED in data and self._is_running:
            self._workers.add(client_id)
            self._recorder.merge(data[RECORDED])

    def _finish_for_master(self, **_: Any) -> None:
        self._finish_games()
        self._is_running = False
        self._runner.send_message(FINISHED, self._recorder.drain())

    def _worker_finished(self, msg: Any, **_: Any) -> None:
        self._recorder.merge(msg.data)
        self._finished.add(msg.node_id)

    def _finish(self, **_: Any) -> None:
        if not self._is_running or self._seconds is not None:
            return
        self._seconds = time.monotonic() - self._recorder.started
        print(f"{format_progress(self._recorder, self._seconds)}. Run time is over; finishing the games …", flush=True)
        self._finish_games()

    def _conclude(self, **_: Any) -> None:
        """Replay the games, write the report and print the verdict, once per run."""
        if not self._is_running:
            return
        self._finish()
        self._is_running = False
        # Status 2 remains if an exception interrupts the following steps.
        self._environment.process_exit_code = 2
        recorder, target = self._recorder, str(self._environment.host)
        print(f"Replaying {pluralize(len(recorder.games), 'game')} …", flush=True)
        outcome = Outcome(
            target=target,
            seconds=self._seconds or 0.0,
            options=vars(self._options),
            lost_races=self._lost_races(),
            replays=replay_games(
                target,
                recorder.games,
                secure=self._options.secure,
                allow_insecure=self._options.allow_insecure,
            ),
            exceptions=tuple(row["msg"] for row in self._runner.exceptions.values()),
            ended=time.strftime("%Y-%m-%d %H:%M:%S %z"),
        )
        summary = summarize(recorder, outcome)
        folder = Path(self._options.report)
        report.write(summary, folder)
        print(report.format_text(summary), flush=True)
        print(f"Full report: {folder / 'report.html'}", flush=True)
        self._environment.process_exit_code = 0 if summary["passed"] else 1

    def _print_progress(self) -> None:
        while True:
            gevent.sleep(PROGRESS_SECONDS)
            if self._recorder.is_measuring:
                print(format_progress(self._recorder, time.monotonic() - self._recorder.started), flush=True)
            else:
                print(f"Waiting for the games of {pluralize(self._runner.user_count, 'user')} to finish …", flush=True)

    def _lost_races(self) -> int | None:
        now = read_lost_races(self._options.metrics)
        return None if now is None or self._races_before is None else int(now - self._races_before)
