"""Making code while the program runs: by compiler processes where there is a cache, or else by a thread.

**Processes.** llvmlite holds one lock in a process, and tracing needs Python's own, so processes of their own make code
(`compilers.py`): as many as there are processors, at low priority. They put it into the cache, and a thread here loads
it from there. Short runs don't pay for them: the first process starts some time after the first order. A process that
has nothing to do for a while ends. Together they have a budget: after it, general code draws what is new. At exit they
are ended, in the middle of their work if need be.

**The thread** makes what has no name in the cache, first come first served. While it compiles, every other thread that
needs LLVM waits. So a job begins only when no other thread has used LLVM for a while. At exit the job under way is
finished, and the others are dropped.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from time import monotonic, sleep
from typing import NamedTuple

from pocketgpu.lanes import compilers
from pocketgpu.lanes.compilers import CompilerProcess

# Seconds without another use of the compiler before a job begins; seconds after which it begins anyway.
QUIET, PATIENCE = 0.4, 5.0
# Seconds from the first order to the start of processes (infinite: they start when somebody waits for orders, and work
# only then); those without work after which one ends.
DELAY, IDLE = 1.0, 10.0
# The most processes; orders and seconds of work of all processes together.
MOST_PROCESSES, MOST_ORDERS, MOST_SECONDS = 8, 4000, 900.0
_NEVER = float("inf")
_LAST_WORDS = 1.0
"""Seconds that threads have at exit; without their processes they need some milliseconds."""
_last_use = 0.0
Job = Callable[[], None]


class _Work(NamedTuple):
    order: compilers.Order
    take: Callable[[], object]
    make: Job


def processors() -> int:
    """How many this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Processes:
    """Orders, and a thread for each process, which waits for its answers."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[_Work] = deque()
        self._threads: set[threading.Thread] = set()
        self._processes: set[CompilerProcess] = set()
        self._busy, self._idle, self._orders, self._seconds = 0, 0, 0, 0.0
        self._begins = _NEVER
        self._hurried = False
        self._stopping = False

    def add(self, work: _Work) -> None:
        with self._changed:
            if self._stopping or self._orders >= MOST_ORDERS or self._seconds >= MOST_SECONDS:
                return
            if not self._orders:
                self._begins = monotonic() + DELAY
                atexit.register(self.stop)
            self._orders += 1
            self._waiting.append(work)
            if self._begins < _NEVER:
                self._staff()
            self._changed.notify()

    def _staff(self) -> None:
        """Start threads for orders that find none idle."""
        missing = min(len(self._waiting) - self._idle, min(processors(), MOST_PROCESSES) - len(self._threads))
        for _ in range(missing):
            thread = threading.Thread(target=self._serve, name="pocketgpu-compiler-process", daemon=True)
            self._threads.add(thread)
            thread.start()

    def wait(self) -> None:
        """Wait until all orders are done; processes start at once."""
        with self._changed:
            self._hurried = True
            self._staff()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not (self._waiting or self._busy))
            self._hurried = False

    def drop(self) -> None:
        """Drop the orders that no process has begun."""
        with self._changed:
            self._waiting.clear()
            self._changed.notify_all()

    def stop(self) -> None:
        with self._changed:
            self._stopping = True
            self._waiting.clear()
            processes, threads = list(self._processes), list(self._threads)
            self._changed.notify_all()
        compilers.end(processes)
        for thread in threads:
            thread.join(_LAST_WORDS)

    def forget(self) -> None:
        """After a fork: threads and processes are the parent's."""
        for process in self._processes:
            process.abandon()
        self._begin()

    def _next(self) -> _Work | None:
        """The next order, or None after some time without."""
        with self._changed:
            self._idle += 1
            try:
                end = monotonic() + IDLE
                while not self._stopping:
                    now = monotonic()
                    late = self._hurried or now >= self._begins
                    if late and self._waiting:
                        self._busy += 1
                        return self._waiting.popleft()
                    until = end if late or self._begins == _NEVER else self._begins
                    if now >= until:
                        break
                    self._changed.wait(until - now)
                self._threads.discard(threading.current_thread())
                return None
            finally:
                self._idle -= 1

    def _serve(self) -> None:
        process: CompilerProcess | None = None
        while (work := self._next()) is not None:
            begun = monotonic()
            try:
                process = self._start() if process is None else process
                if process.make(work.order):
                    work.take()
            except OSError:
                self._end(process)
                if process is None and not self._stopping:
                    submit(work.make)  # no process can be started
                process = None
            except Exception:  # the same code fails again when it is needed
                pass
            with self._changed:
                self._busy -= 1
                self._seconds += monotonic() - begun
                self._changed.notify_all()
        self._end(process)

    def _start(self) -> CompilerProcess:
        with self._changed:  # so `stop` sees it
            if self._stopping:
                raise OSError("the program ends")
            process = CompilerProcess()
            self._processes.add(process)
            return process

    def _end(self, process: CompilerProcess | None) -> None:
        if process is not None:
            compilers.end([process])
            process.close_output()
            with self._changed:
                self._processes.discard(process)


_processes = _Processes()
_jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
_thread: threading.Thread | None = None
_start_lock = threading.Lock()
_stopping = False


def in_use() -> None:
    """Note that a thread uses the compiler now. Uses by the compiling thread itself do not count."""
    global _last_use
    if threading.current_thread() is not _thread:
        _last_use = monotonic()


def order(what: compilers.Order, take: Callable[[], object], make: Job) -> None:
    """Let a compiler process make code, and then run `take` on another thread.

    Without processes `make` does both, on the compiling thread. Errors are dropped as `submit` drops them.
    """
    if compilers.possible():
        _processes.add(_Work(what, take, make))
    else:
        submit(make)


def submit(job: Job) -> None:
    """Run `job` on the compiling thread later. Errors are dropped: the same code fails again when it is needed."""
    global _thread
    with _start_lock:
        if _stopping:
            return
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_work, name="pocketgpu-compiler", daemon=True)
            _thread.start()
            atexit.register(_stop)
    _jobs.put(job)


def wait() -> None:
    """Wait until all jobs and orders so far are done (for tests and measurements)."""
    _processes.wait()
    if _thread is not None and _thread.is_alive():
        done = threading.Event()
        _jobs.put(done.set)
        done.wait()


def drop() -> None:
    """Drop the jobs and orders that nothing has begun."""
    _processes.drop()
    with contextlib.suppress(queue.Empty):
        while True:
            _jobs.get_nowait()


def _work() -> None:
    while not _stopping:
        job = _jobs.get()
        if job is None:
            return
        _wait_for_quiet()
        if _stopping:
            return
        try:
            job()
        except Exception:  # see `submit`
            continue


def _wait_for_quiet() -> None:
    began = monotonic()
    while not _stopping and monotonic() - _last_use < QUIET and monotonic() - began < PATIENCE:
        sleep(QUIET / 8)


def _stop() -> None:
    global _stopping
    _stopping = True
    _jobs.put(None)
    if _thread is not None:
        _thread.join()


def _begin_again() -> None:
    """In a process that a fork has made."""
    global _start_lock
    _processes.forget()
    _start_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
