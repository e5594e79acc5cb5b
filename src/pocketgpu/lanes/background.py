"""Compiling in the background: one thread, first come first served.

LLVM and Python's interpreter lock are shared, so more threads would not compile faster. While a job compiles, every
other thread that needs LLVM waits. So a job begins only when no other thread has used LLVM for a while. At exit the job
under way is finished, because its code goes into the cache on disk; the other jobs are dropped.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable
from time import monotonic, sleep

# Seconds without another use of the compiler before a job begins; seconds after which it begins anyway.
QUIET, PATIENCE = 0.4, 5.0
_last_use = 0.0
Job = Callable[[], None]
_jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
_thread: threading.Thread | None = None
_start_lock = threading.Lock()
_stopping = False


def in_use() -> None:
    """Note that a thread uses the compiler now. Uses by the compiling thread itself do not count."""
    global _last_use
    if threading.current_thread() is not _thread:
        _last_use = monotonic()


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
    """Wait until all jobs so far are done (for tests and measurements)."""
    if _thread is not None and _thread.is_alive():
        done = threading.Event()
        _jobs.put(done.set)
        done.wait()


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
