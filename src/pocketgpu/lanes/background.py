"""Compiling behind the program's back: one thread, first come first served.

LLVM and the interpreter lock are shared, so more threads would not compile faster, and a job at work makes everybody
wait who needs LLVM. So jobs begin only when nobody has for a while. At exit the job at work is finished (what it makes
is cached on disk) and the rest is forgotten.
"""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Callable
from time import monotonic, sleep

# Seconds for which nobody may have used the compiler before a job begins, and the longest that a job is put off.
QUIET, PATIENCE = 0.4, 5.0
_last_use = 0.0
Job = Callable[[], None]
_jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
_thread: threading.Thread | None = None
_start_lock = threading.Lock()
_stopping = False


def in_use() -> None:
    """Somebody outside of the compiling thread uses the compiler now."""
    global _last_use
    if threading.current_thread() is not _thread:
        _last_use = monotonic()


def submit(job: Job) -> None:
    """Run `job` on the compiling thread some time. What it raises is dropped: the caller will meet it in the open."""
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
        except Exception:  # the same kernel fails again, and visibly, when it is asked for directly
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
