"""Keeps a child process for a worker: starts it, gives it tasks, ends it when it takes too long or too much.

    with Keeper(Limits(seconds=60, bytes=2 << 30)) as keeper:
        answer = keeper.ask({"paths": ["scene.pgc"], "what": {"work": "check"}})

A capture that brings its process down so does no harm to the worker, and to no other capture.
"""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic
from typing import IO, Any, Final, Self

import pocketgpu
from pocketgpu.displayed import line_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.sweeps.child import messages

COMMAND: Final = (sys.executable, "-P", "-m", "pocketgpu.sweeps.child")
"""-P: what lies in the working folder of a worker is no module."""
_SOURCE: Final = str(Path(pocketgpu.__file__).parents[1])
LOOK: Final = 0.05
"""Seconds between two looks at the memory of a child."""
_PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_LAST_WORDS: Final = 2000
"""Most bytes of what a child printed last that a message quotes."""


@dataclass(frozen=True)
class Limits:
    """What a task may take: seconds, and bytes of memory that is in use."""

    seconds: float
    bytes: int


@dataclass(frozen=True)
class Ended:
    """A task without an answer. state: as in `rows.STATES`. message: what happened to its process."""

    state: str
    message: str


class Keeper:
    """One child process at a time. It is started with the first task, and kept until a task ends it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._child: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[messages.Message | None] = queue.SimpleQueue()
        self._errors: IO[bytes] | None = None
        self._said = 0  # bytes that the child had printed before the task

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return line_of(self, "no child" if self._child is None else f"child {self._child.pid}")

    @property
    def pid(self) -> int | None:
        """The number of the child's process, None if there is none."""
        return None if self._child is None else self._child.pid

    def ask(
        self, request: Mapping[str, Any], stopped: Callable[[], bool] = lambda: False
    ) -> messages.Message | Ended:
        """Do a task. Returns the child's answer, or what became of it; the next task then gets a new child.

        stopped: asked now and then whether nobody wants the answer any more.
        """
        if stopped():
            return Ended("lost", "its sweep was left")
        child = self._started()
        assert child.stdin is not None and self._errors is not None
        self._said = os.fstat(self._errors.fileno()).st_size
        try:
            messages.write(child.stdin, request)
        except OSError:
            return self._crashed(child)
        begin = monotonic()
        while True:
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=LOOK)
                return self._crashed(child) if answer is None else answer
            if stopped():
                self.close()
                return Ended("lost", "its sweep was left")
            if monotonic() - begin > self.limits.seconds:
                self.close()
                return Ended("timeout", f"it took more than {self.limits.seconds:g} s")
            if resident(child.pid) > self.limits.bytes:
                self.close()
                return Ended("memory", f"it took more than {self.limits.bytes / (1 << 20):,.0f} MiB of memory")

    def replace_if_above(self, part: float) -> None:
        """End the child if it uses more than that part of the limit of memory. The next task gets a new one."""
        if self._child is not None and resident(self._child.pid) > part * self.limits.bytes:
            self.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115  (closed by `close`)
            self._child = subprocess.Popen(
                COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=_environment()
            )
            self._answers = queue.SimpleQueue()
            assert self._child.stdout is not None
            # A thread reads, because waiting for a pipe with a limit of time is different on each system.
            threading.Thread(target=_read_all, args=(self._child.stdout, self._answers), daemon=True).start()
        return self._child

    def _crashed(self, child: subprocess.Popen[bytes]) -> Ended:
        """The child ended by itself, or the system ended it."""
        code = child.wait()
        words = self._last_words()
        self.close()
        if code < 0:
            with contextlib.suppress(ValueError):
                how = f"its process was ended by {signal.Signals(-code).name}"
                return Ended("crashed", how + words)
        return Ended("crashed", f"its process ended with {code}{words}")

    def _last_words(self) -> str:
        """The last line that the child printed during this task. Which tasks came before depends on the order of
        arrival, and a row does not."""
        if self._errors is None:
            return ""
        self._errors.seek(max(self._said, os.fstat(self._errors.fileno()).st_size - _LAST_WORDS))
        lines = self._errors.read().decode(errors="replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return f": {said[-1]}" if said else ""

    def close(self) -> None:
        """End the child, at once."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            if child.stdin is not None:
                with contextlib.suppress(OSError):
                    child.stdin.close()
        if self._errors is not None:
            self._errors.close()
            self._errors = None


def _environment() -> dict[str, str]:
    """Of a child: it finds this package where the worker found it, also if that was by a relative path."""
    before = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([_SOURCE, *([before] if before else [])])}


def _read_all(stream: IO[bytes], answers: queue.SimpleQueue[messages.Message | None]) -> None:
    """Pass on the messages of a child; None after the last one."""
    with contextlib.suppress(OSError, ValueError), stream:
        while (answer := messages.read(stream)) is not None:
            answers.put(answer)
    answers.put(None)


def resident(pid: int) -> int:
    """Bytes of memory that a process has in use; 0 where the system does not tell."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except (OSError, ValueError, IndexError):
        return _resident_elsewhere(pid)


def _resident_elsewhere(pid: int) -> int:
    """By psutil, which Dask brings, where there is no /proc."""
    try:
        import psutil

        return int(psutil.Process(pid).memory_info().rss)
    except (ImportError, OSError, ValueError):
        return 0
    except Exception as error:  # psutil has exceptions of its own
        if type(error).__module__.startswith("psutil"):
            return 0
        raise


__all__ = ["Ended", "Keeper", "Limits", "resident"]


def __dir__() -> list[str]:
    return [*__all__]
