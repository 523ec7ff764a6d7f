"""The thread pool that runs calls."""

import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from typing import Any, Final, ParamSpec, TypeAlias, TypeVar, cast

import structlog

from service.observability.logs import frames

P = ParamSpec("P")
T = TypeVar("T")

_STOP: Final = None
_log = structlog.get_logger()
_Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any], "_Handle"]
_Tasks: TypeAlias = "queue.SimpleQueue[_Task | None]"


class _Handle:
    """The part of a future that gRPC uses: callbacks that run once, when the task is done."""

    __slots__ = ("_callbacks", "_finished")

    def __init__(self) -> None:
        self._callbacks: list[Callable[[Any], None]] = []
        self._finished = False

    def add_done_callback(self, callback: Callable[[Any], None]) -> None:
        self._callbacks.append(callback)
        if self._finished:
            self._call()

    def finish(self) -> None:
        self._finished = True
        self._call()

    def _call(self) -> None:
        while True:
            try:
                callback = self._callbacks.pop()  # atomic: each callback is popped, and so called, by one thread
            except IndexError:
                return
            callback(self)


class LeanExecutor(Executor):
    """A resizable thread pool behind a `SimpleQueue`.

    gRPC submits every call to an executor. `ThreadPoolExecutor` spends a sixth of the time of a small call on futures,
    locks and idle semaphores that gRPC never uses.

    Tasks submitted while `limit` tasks are open run on a separate thread. Such a task must call `is_over_limit` and
    return immediately. So the service can reject a call with a reason even if all threads are busy.
    """

    def __init__(self, threads: int, *, name: str = "rpc", limit: int = sys.maxsize) -> None:
        self._tasks: _Tasks = queue.SimpleQueue()
        self._excess: _Tasks = queue.SimpleQueue()
        self._name = name
        self._limit = limit
        self._open: set[_Handle] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._excess_thread = self._start(self._excess)
        self.size = 0
        self.resize(threads)

    def is_over_limit(self) -> bool:
        """Return whether the calling task was submitted while the limit was reached."""
        return threading.get_ident() == self._excess_thread.ident

    def resize(self, threads: int) -> None:
        """Start threads, or end idle threads, until the pool has `threads` of them.

        If the system cannot start another thread, the pool stays smaller.
        """
        with self._lock:
            for _ in range(threads, self.size):
                self._tasks.put(_STOP)
            self.size = min(self.size, threads)
            with suppress(RuntimeError):
                while self.size < threads:
                    self._start(self._tasks)
                    self.size += 1

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a task. The returned object supports only `add_done_callback`."""
        handle = _Handle()
        task = (fn, args, kwargs, handle)
        if len(self._open) < self._limit:
            self._open.add(handle)
            self._tasks.put(task)
        else:
            self._excess.put(task)
        return cast("Future[T]", handle)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - the interface's
        """Run the queued tasks, then end the threads."""
        self.resize(0)
        self._excess.put(_STOP)
        if wait:
            for thread in self._threads.copy():  # atomic, while threads end
                thread.join()

    def _start(self, tasks: _Tasks) -> threading.Thread:
        thread = threading.Thread(target=self._work, args=(tasks,), name=self._name, daemon=True)
        self._threads.add(thread)
        try:
            thread.start()
        except RuntimeError:
            self._threads.discard(thread)
            raise
        return thread

    def _work(self, tasks: _Tasks) -> None:
        while (task := tasks.get()) is not _STOP:
            fn, args, kwargs, handle = task
            try:
                try:
                    fn(*args, **kwargs)
                finally:
                    self._open.discard(handle)
                    handle.finish()
            except BaseException as error:  # noqa: BLE001 - the thread must survive any error of a task
                _log.error("executor_task_failed", error=type(error).__name__, frames=frames(error))
        self._threads.discard(threading.current_thread())
