"""The executor: every task runs once, threads survive their tasks, and callbacks are called exactly once."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.threads import LeanExecutor
from service.threads import executor as executor_module
from tests.support.store_servers import eventually

SECONDS = 10.0


@pytest.fixture
def executor() -> Iterator[LeanExecutor]:
    """An executor with four threads."""
    lean_executor = LeanExecutor(4, name="test")
    yield lean_executor
    lean_executor.shutdown()


@pytest.fixture
def at_every_line() -> Iterator[LeanExecutor]:
    """An executor whose threads yield at random lines, to provoke race conditions."""
    rng = random.Random(1)

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != executor_module.__file__:
            return None
        if event == "line" and rng.random() < 0.5:
            time.sleep(0)
        return trace

    threading.settrace(trace)
    lean_executor = LeanExecutor(4, name="traced")
    threading.settrace(None)
    yield lean_executor
    lean_executor.shutdown()


def finished(handle: Any) -> bool:
    """Wait until a task is done; return False on a timeout."""
    done = threading.Event()
    handle.add_done_callback(lambda _: done.set())
    return done.wait(SECONDS)


def threads_named(name: str) -> list[threading.Thread]:
    """Return the running threads with a prefix of their name."""
    return [thread for thread in threading.enumerate() if thread.name.startswith(name)]


def test_a_task_runs_with_its_arguments(executor: LeanExecutor) -> None:
    ran: list[Any] = []

    assert finished(executor.submit(lambda *args, **kwargs: ran.append((args, kwargs)), 1, 2, three=3))

    assert ran == [((1, 2), {"three": 3})]


def test_every_task_runs_once(executor: LeanExecutor) -> None:
    ran: Counter[int] = Counter()
    lock = threading.Lock()

    def task(number: int) -> None:
        with lock:
            ran[number] += 1

    handles = [executor.submit(task, number) for number in range(2000)]

    assert all(finished(handle) for handle in handles)
    assert ran == Counter(range(2000))


def test_each_thread_runs_a_task_concurrently(executor: LeanExecutor) -> None:
    assert all_threads_work(executor)


def test_threads_can_be_added(executor: LeanExecutor) -> None:
    executor.resize(6)

    assert executor.size == 6
    assert all_threads_work(executor, 6)


def test_idle_threads_can_be_removed(executor: LeanExecutor) -> None:
    before = len(threads_named("test"))

    executor.resize(1)

    eventually(lambda: len(threads_named("test")) == before - 3)
    assert finished(executor.submit(threading.Barrier(1).wait))


@pytest.mark.parametrize("error", [ValueError, SystemExit, KeyboardInterrupt])
def test_threads_survive_exceptions_of_tasks(executor: LeanExecutor, error: type[BaseException]) -> None:
    def task() -> None:
        raise error("the secret card")

    with capture_logs() as logs:
        assert all(finished(executor.submit(task)) for _ in range(20))
        assert all_threads_work(executor)
        executor.shutdown()

    assert [(line["event"], line["error"]) for line in logs] == [("executor_task_failed", error.__name__)] * 20
    assert "secret" not in str(logs)


def test_threads_survive_exceptions_of_callbacks(executor: LeanExecutor) -> None:
    def callback(_: object) -> None:
        raise ValueError("the secret card")

    with capture_logs() as logs:
        for _ in range(20):
            go = threading.Event()
            executor.submit(go.wait, SECONDS).add_done_callback(callback)
            go.set()
        assert all_threads_work(executor)
        executor.shutdown()

    assert [line["event"] for line in logs] == ["executor_task_failed"] * 20
    assert "secret" not in str(logs)


def all_threads_work(executor: LeanExecutor, threads: int = 4) -> bool:
    """Return whether this many tasks can run concurrently."""
    together = threading.Barrier(threads)
    handles = [executor.submit(together.wait, SECONDS) for _ in range(threads)]
    return all(finished(handle) for handle in handles) and not together.broken


def test_a_callback_is_called_with_the_handle_of_its_task(executor: LeanExecutor) -> None:
    called: list[Any] = []
    go = threading.Event()
    handle = executor.submit(go.wait, SECONDS)

    handle.add_done_callback(called.append)
    go.set()

    assert finished(handle)
    assert called == [handle]


@pytest.mark.parametrize("before", [True, False], ids=["added before the end", "added after the end"])
def test_a_callback_is_called_once(executor: LeanExecutor, before: bool) -> None:
    called: list[Any] = []
    go = threading.Event()
    handle = executor.submit(go.wait, SECONDS)

    if before:
        handle.add_done_callback(called.append)
    go.set()
    assert finished(handle)
    if not before:
        handle.add_done_callback(called.append)

    assert len(called) == 1


def test_callbacks_are_called_once_whenever_they_are_added(at_every_line: LeanExecutor) -> None:
    called: Counter[int] = Counter()
    lock = threading.Lock()
    rounds, adders = 300, 3

    def counted(number: int) -> Callable[[Any], None]:
        def callback(_: Any) -> None:
            with lock:
                called[number] += 1

        return callback

    def add_when(together: threading.Barrier, task: Any, callback: Callable[[Any], None]) -> None:
        together.wait(SECONDS)
        task.add_done_callback(callback)

    for number in range(rounds):
        together = threading.Barrier(adders + 1)
        task = at_every_line.submit(together.wait, SECONDS)
        adding = [at_every_line.submit(add_when, together, task, counted(number)) for _ in range(adders)]
        assert all(finished(handle) for handle in adding)

    at_every_line.shutdown()
    assert called == Counter(dict.fromkeys(range(rounds), adders))


def test_shutdown_finishes_queued_tasks(executor: LeanExecutor) -> None:
    go = threading.Event()
    ran: list[int] = []
    for _ in range(4):
        executor.submit(go.wait, SECONDS)
    for number in range(100):
        executor.submit(ran.append, number)

    threading.Timer(0.01, go.set).start()
    executor.shutdown()

    assert sorted(ran) == list(range(100))


def test_shutdown_ends_the_threads() -> None:
    executor = LeanExecutor(4, name="to-be-ended")

    executor.shutdown()

    assert not threads_named("to-be-ended")


def test_shutdown_without_waiting_returns_immediately(executor: LeanExecutor) -> None:
    go = threading.Event()
    handle = executor.submit(go.wait, SECONDS)

    executor.shutdown(wait=False)
    go.set()

    assert finished(handle)


def test_tasks_above_the_limit_run_immediately_and_can_detect_it() -> None:
    executor = LeanExecutor(1, limit=2)
    go = threading.Event()
    results: list[bool] = []

    def task() -> None:
        go.wait(SECONDS)
        results.append(executor.is_over_limit())

    running_tasks = [executor.submit(task) for _ in range(2)]
    assert finished(executor.submit(lambda: results.append(executor.is_over_limit())))
    assert results == [True]
    go.set()

    assert all(finished(handle) for handle in running_tasks)
    assert results == [True, False, False]
    executor.shutdown()


def test_finished_tasks_make_room_for_others() -> None:
    executor = LeanExecutor(2, limit=1)
    results: list[bool] = []

    for _ in range(20):
        assert finished(executor.submit(lambda: results.append(executor.is_over_limit())))

    assert results == [False] * 20
    executor.shutdown()


def test_the_executor_continues_if_no_more_threads_can_be_started(
    executor: LeanExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", start)
        executor.resize(8)
    assert executor.size == 4
    executor.resize(6)

    assert executor.size == 6
    assert finished(executor.submit(int))
