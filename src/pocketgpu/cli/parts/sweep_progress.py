"""Progress of a sweep: a bar with rate, time left and failures on a terminal; a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final, Self

from pocketgpu.wording import counted

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from pocketgpu.sweeps.model.rows import Row

QUIET: Final = 30.0
"""Seconds between two lines where there is no terminal."""


class SweepProgress:
    """Shows how far a sweep is, on stderr. count: its captures; done: those that an earlier run has finished."""

    def __init__(self, count: int, done: int) -> None:
        self._count, self._before = count, done
        self._rows = self._failed = 0
        self._begin = self._last = time.monotonic()
        self._bar: Bar | None = None
        self._dashboard: str | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._bar = self._new_bar()
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._rows:
            self._line()

    def _new_bar(self) -> Bar:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        bar = Progress(
            BarColumn(bar_width=None), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn(),
            TextColumn("{task.fields[failed]}"), console=Console(stderr=True), transient=True,
        )  # fmt: skip
        bar.add_task("", total=self._count, completed=self._before, rate="starting", failed="")
        return bar

    def add(self, row: Row, dashboard: str | None) -> None:
        """Count a row that has come. dashboard: the address of the page about the cluster, if there is one."""
        self._rows += 1
        self._failed += row.failed
        if dashboard is not None and self._dashboard is None:
            self._dashboard = dashboard
            print(f"dashboard: {dashboard}", file=sys.stderr, flush=True)
        if self._bar is not None:
            failed = f"[red]{self._failed} failed" if self._failed else ""
            self._bar.update(
                self._bar.task_ids[0], completed=self._before + self._rows, rate=f"{self._rate:.1f}/s", failed=failed
            )
        elif time.monotonic() - self._last >= QUIET:
            self._line()

    @property
    def _rate(self) -> float:
        return self._rows / max(time.monotonic() - self._begin, 1e-6)

    def _line(self) -> None:
        self._last = time.monotonic()
        print(
            f"{self._before + self._rows} of {counted(self._count, 'capture')}, {self._rate:.1f}/s, "
            f"{self._failed} failed", file=sys.stderr, flush=True,
        )  # fmt: skip
