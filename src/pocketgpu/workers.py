"""Helper threads for fragments. They sleep on a lock and run one native call at a time, without the GIL. They end when
what they work for is gone.

Waking them takes as long as a small draw. So work is shared only if earlier work of the same kind took long enough, and
the first helper may stay awake for a while after its work (`Between`).
"""

from __future__ import annotations

import contextlib
import math
import threading
import weakref
from collections.abc import Callable, Hashable
from time import perf_counter
from typing import Protocol

Work = Callable[[int, int], None]
# Seconds of work from which two threads are faster than one (waking a thread takes 50 to 100 microseconds).
WORTH = 0.0004
# Seconds for each unit of work that are assumed before the first measurement: those of a pixel.
FIRST_PACE = 2e-9
_MOST_KINDS = 1024


class Between(Protocol):
    """What the first helper does after each job, before it sleeps."""

    def ready(self) -> None:
        """The job is done, and its caller still waits."""

    def run(self) -> None:
        """Stay awake: until nothing has come for a while, or `stop` was called after `ready`."""

    def stop(self) -> None:
        """There is another job. Called by another thread."""


class Workers:
    """Runs one job at a time in `threads` parts; the calling thread runs one part."""

    def __init__(self, threads: int) -> None:
        self.threads = max(1, threads)
        self._helpers: list[_Helper] = []
        self._paces: dict[Hashable, float] = {}
        self._roused = False
        self.between: Between | None = None

    def run(self, work: Work, kind: Hashable, amount: int) -> None:
        """Call work(part, parts) for every part, or work(0, 1) if that is probably faster.

        kind, amount: the time of work of one kind is proportional to its amount.
        """
        if self.threads == 1 or not amount:
            work(0, 1)
            return
        pace = self._paces.get(kind, FIRST_PACE)
        shared = amount * pace >= WORTH
        started = perf_counter()
        if shared:
            self._share(work)
        else:
            work(0, 1)
        found = (perf_counter() - started) / amount
        if len(self._paces) >= _MOST_KINDS:
            self._paces.clear()
        # The time of all threads together is an upper bound for one thread: it corrects an estimate that was too high.
        self._paces[kind] = min(pace, self.threads * found) if shared else found

    def least(self, kind: Hashable) -> int:
        """The amount of work of a kind from which it is shared, as far as is known."""
        return math.ceil(WORTH / self._paces.get(kind, FIRST_PACE))

    def rouse(self) -> None:
        """Wake the first helper without a job. There must be a helper."""
        self._need_helpers()
        self._settle()
        self._helpers[0].start(lambda _, __: None, 1, 1, self.between)
        self._roused = True

    def _need_helpers(self) -> None:
        if not self._helpers:
            self._helpers = [_Helper() for _ in range(self.threads - 1)]
            for helper in self._helpers:
                weakref.finalize(self, helper.end).atexit = False

    def _settle(self) -> None:
        """Wait until the first helper is awake, if it was roused."""
        if self._roused:
            self._roused = False
            self._helpers[0].wait()

    def _share(self, work: Work) -> None:
        parts = self.threads
        self._need_helpers()
        self._settle()
        if self.between is not None:
            self.between.stop()
        for part, helper in enumerate(self._helpers, start=1):
            helper.start(work, part, parts, self.between if part == 1 else None)
        try:
            work(0, parts)
        finally:
            errors = [helper.wait() for helper in self._helpers]
        for error in errors:
            if error is not None:
                raise error


class _Helper:
    """One daemon thread and two locks used as signals. While it sleeps it keeps nothing of what it works for."""

    def __init__(self) -> None:
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._job: tuple[Work, int, int, Between | None] | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._loop, daemon=True, name="pocketgpu-raster").start()

    def _loop(self) -> None:
        while True:
            self._go.acquire()
            job, self._job = self._job, None
            if job is None:
                return
            work, part, parts, between = job
            try:
                work(part, parts)
            except BaseException as error:  # raised again in `run`
                self._error = error
            del job, work
            if between is not None:
                between.ready()
            self._done.release()
            if between is not None:
                between.run()
            del between

    def start(self, work: Work, part: int, parts: int, between: Between | None) -> None:
        self._job, self._error = (work, part, parts, between), None
        self._go.release()

    def end(self) -> None:
        """Let the thread end, after what it may be at: nobody has work for it any more."""
        with contextlib.suppress(RuntimeError):  # a job has not begun: then it stays
            self._go.release()

    def wait(self) -> BaseException | None:
        self._done.acquire()
        return self._error
