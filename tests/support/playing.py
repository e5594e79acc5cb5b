"""Plays conversations of real programs through a kernel, and compares what it answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pocketgpu.guests.kernel.kernel import Kernel
from pocketgpu.guests.kernel.threads import State, Thread
from pocketgpu.guests.kernel.timeline import Due
from pocketgpu.guests.processors.recorded import Conversation, Line, RecordedGuest, RecordEndError


@dataclass
class Difference:
    """Something that is not as recorded. line: its number."""

    line: int
    what: str
    found: Any
    wanted: Any

    def __str__(self) -> str:
        return f"s{self.line}: {self.what}: {self.found!r}, recorded {self.wanted!r}"


class Player:
    """A conversation that is being played: it follows the kernel, call by call.

    talk: the recording. waiting: the lines of threads that wait. compared: how many lines were. A console's player
    sets `guest`, and `kernel`, which it follows, and compares what answers are in `answered` and `after`.
    """

    guest: RecordedGuest
    kernel: Kernel

    def __init__(self, path: Path) -> None:
        self.path, self.talk = path, Conversation.read(path)
        self.differences: list[Difference] = []
        self.waiting: dict[Thread, Line] = {}
        self.compared = 0

    def differ(self, line: Line, what: str, found: Any, wanted: Any) -> None:
        """Note a difference if there is one."""
        if found != wanted:
            self.differences.append(Difference(line["s"], what, found, wanted))

    def play(self, most: int = 20) -> None:
        """Go on to the end, or until there are too many differences."""
        try:
            while len(self.differences) < most and self.kernel.step():
                pass
        except (RecordEndError, StopIteration):
            pass

    # -- the kernel's listener --------------------------------------------------------------------------------------
    def call_starts(self, thread: Thread, number: int) -> None:
        """A call is to be made."""
        raise NotImplementedError

    def call_ended(self, thread: Thread, number: int) -> None:
        """A call is done, or its thread waits."""
        line = self.guest.line
        assert line is not None
        self.compared += 1
        blocked = thread.state is State.WAITING
        self.differ(line, "waits", blocked, "block" in line)
        if blocked:
            self.waiting[thread] = line
        else:
            self.answered(thread, line)
        self.after(line)

    def thread_woken(self, thread: Thread) -> None:
        """A thread that waited goes on; its call is done now."""
        self.answered(thread, self.waiting.pop(thread))

    def event_starts(self, due: Due) -> None:
        """One thing that is due is about to happen."""

    def event_ended(self, due: Due) -> None:
        """It has happened."""

    # -- the console's ----------------------------------------------------------------------------------------------
    def answered(self, thread: Thread, line: Line) -> None:
        """Compare the answer of a call."""
        raise NotImplementedError

    def after(self, line: Line) -> None:
        """Compare what has happened by a line."""
