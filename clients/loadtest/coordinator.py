"""Looks after the runs of one process: begins them, lets their games end, brings together what was taken down."""

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
from clients.loadtest.generator import look_on
from clients.loadtest.metrics import lost_races
from clients.loadtest.options import mix_of
from clients.loadtest.recorder import Recorder
from clients.loadtest.summary import Outcome, progress, summary
from clients.loadtest.game_session import Run
from clients.loadtest.replay_process import replayed
from clients.loadtest.formatting import several

FINISH: Final = "let the games end"
FINISHED: Final = "the games have ended"
TAKEN: Final = "taken"
PROGRESS_SECONDS: Final = 5.0
SLICES: Final = 120
MISSING: Final = "missing"


class Conductor:
    """Looks after the runs of a process, be it alone, a master or a worker."""

    def __init__(self, environment: Environment, tables: Mapping[str, type[User]]) -> None:
        self._environment = environment
        # Any: both are there by now, which Locust's types do not say.
        self._runner: Any = environment.runner
        assert environment.parsed_options is not None
        self._options: Any = environment.parsed_options
        self._recorder = Recorder()
        self._run = Run(self._recorder, self._tell)
        self._playing = 0
        self._nobody_plays = Event()
        # Of a master, by id: the workers that take part, and those whose games have ended.
        self._workers: set[str] = set()
        self._finished: set[str] = set()
        self._greenlets: list[gevent.Greenlet[..., object]] = []
        self._seconds: float | None = None
        self._under_way = self._ending = False
        self._races_before: float | None = None
        mix = mix_of(str(self._options.mix))
        for game, user in tables.items():
            user.weight = mix.get(game, 0)
        environment.user_classes = [user for user in environment.user_classes if user.weight]
        environment.events.test_start.add_listener(self._start)
        # gevent counts timers from its loop's last turn; that was before all imports, which --run-time would include.
        gevent.get_hub().loop.update_now()
        gevent.signal_handler(signal.SIGINT, self._interrupted)
        runner = self._runner
        if isinstance(runner, WorkerRunner):
            environment.events.report_to_master.add_listener(self._report)
            runner.register_message(FINISH, self._finish_for_master, concurrent=True)
            return
        # Its tables of figures lack whole moves, and what they have is in our report.
        logging.getLogger("locust.stats_logger").setLevel(logging.WARNING)
        environment.events.test_stopping.add_listener(self._finish)
        environment.events.test_stop.add_listener(self._conclude)
        environment.events.quitting.add_listener(self._conclude)
        if isinstance(runner, MasterRunner):
            environment.events.worker_report.add_listener(self._reported)
            runner.register_message(FINISHED, self._worker_finished)

    @contextmanager
    def at_a_table(self) -> Iterator[Run]:
        """Lets a user play a game; when the time is up, waits until it is killed instead."""
        if self._run.hurry.is_set():
            Event().wait()
        self._playing += 1
        self._nobody_plays.clear()
        try:
            yield self._run
        finally:
            self._playing -= 1
            if not self._playing:
                self._nobody_plays.set()

    def _interrupted(self) -> None:
        """Ends the process as SIGTERM does, with a report, and at once when it is asked again.

        What Python does by itself would hit any greenlet. A worker that has a run leaves this to its master, whose
        terminal it may share.
        """
        if isinstance(self._runner, WorkerRunner) and self._under_way:
            return
        if self._ending:
            os._exit(128 + signal.SIGINT)
        self._ending = True
        os.kill(os.getpid(), signal.SIGTERM)

    def _start(self, **_: Any) -> None:
        self._options = self._environment.parsed_options
        self._recorder.begin(time.monotonic(), max(1.0, (self._options.run_time or 5 * SLICES) / SLICES))
        self._run.hurry.clear()
        self._nobody_plays.set()
        self._finished.clear()
        self._seconds = None
        self._under_way = True
        runner = self._runner
        if isinstance(runner, MasterRunner):
            self._workers = self._present()
        else:
            process = f"worker {runner.worker_index}" if isinstance(runner, WorkerRunner) else "generator"
            self._greenlets.append(gevent.spawn(look_on, self._recorder, process))
        if not isinstance(runner, WorkerRunner):
            self._races_before = lost_races(self._options.metrics)
            self._greenlets.append(gevent.spawn(self._show_progress))

    def _tell(self, kind: str, name: str, seconds: float, error: Exception | None) -> None:
        """Lets Locust know too, for its page and its tables."""
        self._environment.events.request.fire(
            request_type=kind, name=name, response_time=seconds * 1000, response_length=0, exception=error, context={}
        )

    def _let_games_end(self) -> None:
        """Ends the measuring, and waits until every game has been played to its end, of a master by its workers."""
        self._recorder.until = time.monotonic()
        if isinstance(self._runner, MasterRunner):
            self._wait_for_workers()
        else:
            self._run.hurry.set()
            within = self._options.finish_within
            if not self._nobody_plays.wait(within):
                self._recorder.fault(f"{several(self._playing, 'game')} did not end within {within:g} seconds.")
                for table in self._run.tables:
                    table.give_up()
        gevent.killall(self._greenlets)
        self._greenlets.clear()

    def _wait_for_workers(self) -> None:
        self._runner.send_message(FINISH)
        self._workers |= self._present()
        give_up = time.monotonic() + self._options.finish_within + 10
        while waited_for := self._workers - self._finished:
            if (lost := waited_for.isdisjoint(self._present())) or time.monotonic() > give_up:
                self._recorder.fault(
                    f"Workers lost{'' if lost else ' or too slow'}: {len(waited_for)}, with what they had taken down "
                    "since their last reports, and the games that they played then, which nobody has checked."
                )
                break
            gevent.sleep(0.1)

    def _present(self) -> set[str]:
        """The workers that a master hears of. Locust forgets those that say goodbye at once, the others in a minute."""
        return {worker.id for worker in self._runner.clients.all if worker.state != MISSING}

    def _report(self, data: dict[str, Any], **_: Any) -> None:
        data[TAKEN] = self._recorder.take()

    def _reported(self, client_id: str, data: dict[str, Any], **_: Any) -> None:
        if TAKEN in data and self._under_way:
            self._workers.add(client_id)
            self._recorder.add(data[TAKEN])

    def _finish_for_master(self, **_: Any) -> None:
        self._let_games_end()
        self._under_way = False
        self._runner.send_message(FINISHED, self._recorder.take())

    def _worker_finished(self, msg: Any, **_: Any) -> None:
        self._recorder.add(msg.data)
        self._finished.add(msg.node_id)

    def _finish(self, **_: Any) -> None:
        if not self._under_way or self._seconds is not None:
            return
        self._seconds = time.monotonic() - self._recorder.began
        print(
            f"{progress(self._recorder, self._seconds)}. The time is up; the games are played to their end …",
            flush=True,
        )
        self._let_games_end()

    def _conclude(self, **_: Any) -> None:
        """Replays the games, writes the report and tells the verdict; once a run."""
        if not self._under_way:
            return
        self._finish()
        self._under_way = False
        # Whatever goes wrong from here on is no good end.
        self._environment.process_exit_code = 2
        recorder, target = self._recorder, str(self._environment.host)
        print(f"Replaying {several(len(recorder.games), 'game')} …", flush=True)
        outcome = Outcome(
            target=target,
            seconds=self._seconds or 0.0,
            options=vars(self._options),
            lost_races=self._races_since(),
            replays=replayed(target, recorder.games, secure=self._options.secure),
            exceptions=tuple(row["msg"] for row in self._runner.exceptions.values()),
            ended=time.strftime("%Y-%m-%d %H:%M:%S %z"),
        )
        told = summary(recorder, outcome)
        folder = Path(self._options.report)
        report.write(told, folder)
        print(report.in_words(told), flush=True)
        print(f"The whole report: {folder / 'report.html'}", flush=True)
        self._environment.process_exit_code = 0 if told["passed"] else 1

    def _show_progress(self) -> None:
        while True:
            gevent.sleep(PROGRESS_SECONDS)
            if self._recorder.is_under_way:
                print(progress(self._recorder, time.monotonic() - self._recorder.began), flush=True)
            else:
                print(f"{several(self._runner.user_count, 'table')}, some of which still play …", flush=True)

    def _races_since(self) -> int | None:
        now = lost_races(self._options.metrics)
        return None if now is None or self._races_before is None else int(now - self._races_before)
