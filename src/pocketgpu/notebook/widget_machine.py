"""The machine of a widget: a thread of its own, which starts with the first question and ends when nobody looks.

    machine = LentMachine(source, lambda: "f0/d3")
    machine.answer(lambda desk: desk.side("a").why("f0/d3"))
    machine.end()                                              # frees its memory; the next question starts another one
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, TypeVar

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.inspection import again, opened
from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.view.machine_thread import MachineThread
from pocketgpu.view.questions import desk as desks
from pocketgpu.view.questions.desk import MAIN, Desk
from pocketgpu.view.questions.preparing import Preparing

if TYPE_CHECKING:
    from pocketgpu.capture import Capture

Answer = TypeVar("Answer")


class LentMachine:
    """A machine's thread for a capture.

    An inspection is used by one thread only. So the caller keeps the one that was given, and another one of the same
    capture is made here, with the same choices and overrides.

    :param source: the path of a capture, an opened capture, or an inspection. at: the address that is asked for first,
        whenever the thread starts.
    :raises CaptureError: the file is no capture, or is damaged.
    """

    def __init__(self, source: str | os.PathLike[str] | Capture | Inspection, at: Callable[[], str]) -> None:
        from pocketgpu.capture import Capture

        self.capture: Capture
        self._opens: Callable[[], AbstractContextManager[Inspection]]
        if isinstance(source, Inspection):
            given = source
            self.capture = source.capture
            self._opens = lambda: nullcontext(again(given))
        elif isinstance(source, Capture | str | os.PathLike):
            self.capture = source if isinstance(source, Capture) else opened(source)
            self._opens = lambda: desks.opened(self.capture, {})
        else:
            raise UsageError(
                f"{source!r} is no capture", location="capture_or_path",
                hint="Give the path of a file, what pocketgpu.open returns, or what pocketgpu.debug returns.",
            )  # fmt: skip
        self._at = at
        self._lock = threading.Lock()
        self._thread: MachineThread[Desk] | None = None

    def __repr__(self) -> str:
        return line_of(self, f"{self.capture.path}, {'running' if self.runs else 'not running'}")

    @property
    def runs(self) -> bool:
        """Whether the thread is there."""
        return self._thread is not None

    @property
    def thread(self) -> MachineThread[Desk]:
        """The thread, which is started if it is not there. It may end before the caller asks it."""
        with self._lock:
            if self._thread is None:
                self._thread = MachineThread(lambda: desks.desk_of((MAIN, self._opens())), Preparing(self._at()))
            return self._thread

    def answer(self, question: Callable[[Desk], Answer], seconds: float | None = None) -> Answer:
        """Ask a question and wait for its answer. seconds: how long at most; None: until it is there.

        :raises TimeoutError: it was not there in time; it is given up, unless it has begun.
        """
        asking: Future[Answer] = self.thread.put("", question)
        try:
            return asking.result(seconds)
        finally:
            asking.cancel()

    def end(self) -> None:
        """Free the machine as soon as the question that runs is answered. It is not waited for."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.working.give_up()
            thread.end()


__all__ = ["LentMachine"]
