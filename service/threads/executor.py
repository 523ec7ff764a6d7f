"""The threads that run the calls."""

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
    """As much of a future as gRPC uses: somebody to call, once, when the task is done."""

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
                callback = self._callbacks.pop()  # atomic: whoever pops it calls it
            except IndexError:
                return
            callback(self)


class LeanExecutor(Executor):
    """A pool of threads behind a `SimpleQueue`.

    gRPC hands every call to an executor, and `ThreadPoolExecutor` spends a sixth of a small call's time on futures,
    locks and idle semaphores that gRPC never looks at.

    Tasks that come while `most` are open already are run by a thread of their own, and are to ask `is_one_too_many`
    and end at once: so calls can be refused in our own words however many wait.
    """

    def __init__(self, threads: int, *, name: str = "rpc", most: int = sys.maxsize) -> None:
        self._tasks: _Tasks = queue.SimpleQueue()
        self._too_many: _Tasks = queue.SimpleQueue()
        self._name = name
        self._most = most
        self._open: set[_Handle] = set()
        self._threads: set[threading.Thread] = set()
        self._lock = threading.Lock()
        self._refuser = self._start(self._too_many)
        self.size = 0
        self.resize(threads)

    def is_one_too_many(self) -> bool:
        """Tells the task that asks whether too many were open when it came."""
        return threading.get_ident() == self._refuser.ident

    def resize(self, threads: int) -> None:
        """Starts threads, or ends some as soon as they are idle, until there are so many.

        Where the system gives no more threads, those that there are must do.
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
        """Queues a task. What comes back knows `add_done_callback` and nothing else of a future."""
        handle = _Handle()
        task = (fn, args, kwargs, handle)
        if len(self._open) < self._most:
            self._open.add(handle)
            self._tasks.put(task)
        else:
            self._too_many.put(task)
        return cast("Future[T]", handle)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002 - the interface's
        """Lets the queued tasks finish and ends the threads."""
        self.resize(0)
        self._too_many.put(_STOP)
        if wait:
            for thread in tuple(self._threads):
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
            except BaseException as error:  # noqa: BLE001 - a thread must outlive whatever it ran
                _log.error("executor_task_failed", error=type(error).__name__, frames=frames(error))
        self._threads.discard(threading.current_thread())
