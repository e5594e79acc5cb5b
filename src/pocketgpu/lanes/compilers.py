"""A compiler process, from the side of the process that asks it: it makes code for the cache, at low priority.

    process = CompilerProcess()
    made = process.make(("pocketgpu.pica.front.command_list", "walk", {...}))     # True: the code is in the cache
    end([process])

The process is `compiling.py`. It ends when its input ends: so none stays, however this process ends.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
from collections.abc import Iterable
from time import monotonic
from typing import Any, Final

Order = tuple[str, str, dict[str, Any]]
"""What is to be made: module and name of a kernel, static values."""
LENGTH: Final = struct.Struct("<I")
"""Before each message."""
MADE, FAILED = b"\1", b"\0"
"""Answers."""
_ROOT: Final = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
_PROGRAM: Final = "import sys; sys.path[:] = {path!r}; from pocketgpu.lanes.compiling import serve; serve()"
_GRACE: Final = 0.1
"""Seconds that processes have to end by themselves, which takes some milliseconds."""


def possible() -> bool:
    """Whether this Python can start others: one that is built into a program has no file to start."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class CompilerProcess:
    """One process.

    :raises OSError: the system starts none.
    """

    def __init__(self) -> None:
        import subprocess  # slow to import, and most commands end before anything is compiled

        path = [*sys.path, *([] if _ROOT in sys.path else [_ROOT])]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM.format(path=path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, bufsize=0, creationflags=getattr(subprocess, "BELOW_NORMAL_PRIORITY_CLASS", 0),
        )  # fmt: skip

    def make(self, order: Order) -> bool:
        """Make code and keep it in the cache. False: it can't be made.

        :raises OSError: the process has ended.
        """
        message = pickle.dumps((os.environ.get("POCKETGPU_CACHE"), *order))
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        rest = memoryview(LENGTH.pack(len(message)) + message)
        while rest:
            rest = rest[process.stdin.write(rest) :]
        answer = process.stdout.read(1)
        if not answer:
            raise BrokenPipeError("the process that compiles has ended")
        return bool(answer == MADE)

    def abandon(self) -> None:
        """After a fork: it is the parent's."""
        self.close_input()
        self.close_output()
        self._process.returncode = 0  # or Python warns that it is still running

    def close_input(self) -> None:
        """Let it end, in the middle of its work if need be."""
        if self._process.stdin is not None:
            self._process.stdin.close()

    def close_output(self) -> None:
        """Nothing reads its answers any more."""
        if self._process.stdout is not None:
            self._process.stdout.close()

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; after some seconds the system ends it."""
        import subprocess

        try:
            self._process.wait(max(seconds, 0))
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def end(processes: Iterable[CompilerProcess]) -> None:
    """End processes: those that are still starting have no files open, and are not waited for."""
    ending = list(processes)
    for process in ending:
        process.close_input()
    last = monotonic() + _GRACE
    for process in ending:
        process.wait(last - monotonic())
