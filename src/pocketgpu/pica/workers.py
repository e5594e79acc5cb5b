"""Helper threads for the fragment side. They sleep on a lock and run one native call at a time, without the GIL."""

from __future__ import annotations

import threading
from collections.abc import Callable

Work = Callable[[int, int], None]


class Workers:
    """`threads` parts of one job at a time; the caller is one of them."""

    def __init__(self, threads: int) -> None:
        self.threads = max(1, threads)
        self._helpers: list[_Helper] = []

    def run(self, work: Work) -> None:
        """Call work(part, parts) for every part."""
        parts = self.threads
        if parts > 1 and not self._helpers:
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
            except BaseException as error:  # handed to the caller of `run`
                self._error = error
            job = None
            self._done.release()

    def start(self, work: Work, part: int, parts: int) -> None:
        self._job, self._error = (work, part, parts), None
        self._go.release()

    def wait(self) -> BaseException | None:
        self._done.acquire()
        return self._error
