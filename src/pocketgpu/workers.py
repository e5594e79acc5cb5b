"""Helper threads for the fragment side. They sleep on a lock and run one native call at a time, without the GIL.

Waking them takes as long as a small draw. The time of earlier work of the same kind decides whether they are used.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from time import perf_counter

Work = Callable[[int, int], None]
# From this many seconds of work on, two threads finish sooner than one (waking one takes 50 to 100 microseconds).
WORTH = 0.0004
# Assumed time per unit of a kind of work that has not run yet: nanoseconds per pixel.
FIRST_PACE = 2e-9
_MOST_KINDS = 1024


class Workers:
    """`threads` parts of one job at a time; the caller is one of them."""

    def __init__(self, threads: int) -> None:
        self.threads = max(1, threads)
        self._helpers: list[_Helper] = []
        self._paces: dict[Hashable, float] = {}

    def run(self, work: Work, kind: Hashable, amount: int) -> None:
        """Call work(part, parts) for every part, or work(0, 1) if that probably ends sooner.

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
        # The sum over all threads is larger than the time of one thread: work that was slow once is measured again.
        self._paces[kind] = min(pace, self.threads * found) if shared else found

    def _share(self, work: Work) -> None:
        parts = self.threads
        if not self._helpers:
            self._helpers = [_Helper() for _ in range(self.threads - 1)]
        for part, helper in enumerate(self._helpers, start=1):
            helper.start(work, part, parts)
        try:
            work(0, parts)
        finally:
            errors = [helper.wait() for helper in self._helpers]
        for error in errors:
            if error is not None:
                raise error


class _Helper:
    """One daemon thread and two locks used as signals."""

    def __init__(self) -> None:
        self._go, self._done = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._done.acquire()
        self._job: tuple[Work, int, int] | None = None
        self._error: BaseException | None = None
        threading.Thread(target=self._loop, daemon=True, name="pocketgpu-raster").start()

    def _loop(self) -> None:
        while True:
            self._go.acquire()
            job, self._job = self._job, None
            try:
                if job is not None:
                    job[0](job[1], job[2])
            except BaseException as error:  # raised again in the caller of `run`
                self._error = error
            job = None
            self._done.release()

    def start(self, work: Work, part: int, parts: int) -> None:
        self._job, self._error = (work, part, parts), None
        self._go.release()

    def wait(self) -> BaseException | None:
        self._done.acquire()
        return self._error
