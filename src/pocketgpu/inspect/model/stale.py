"""Bytes that a GPU or a display reads and that would still be in the cache of a console's processor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pocketgpu.displayed import Displayed
from pocketgpu.guests.kernel.report import Step
from pocketgpu.inspect.model.rules import Found
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.guests.kernel.kernel import Kernel

MOST_CALLERS: Final = 3
"""Functions that a finding names, if nothing else is said: the library's own, and who called it."""


@dataclass(frozen=True, slots=True, repr=False)
class Stale(Displayed):
    """Bytes that somebody read and that were not flushed.

    at: the event, or the frame of a display. kind, what: who read them, such as "texture" and "texture unit 0".
    address: of the first one, as the reader sees it. size: how many. count: how often they were read. trace: the
    function that let the GPU work the first time, with its callers; empty for a display of the 3DS.
    callers: how many of these the text has.
    """

    at: str
    kind: str
    what: str
    address: int
    size: int
    count: int = 1
    trace: tuple[Step, ...] = ()
    callers: int = MOST_CALLERS

    def __str__(self) -> str:
        functions = " < ".join(str(one) for one in self.trace[: self.callers])
        by = f"; by {functions}" if functions else ""
        were = "was" if self.size == 1 else "were"
        times = f", {counted(self.count, 'time')}" if self.count > 1 else ""
        what = f"{self.what} reads {counted(self.size, 'byte')} at {self.address:#010x}"
        return f"{self.at}: {what} that {were} written and not flushed{times}{by}"

    @property
    def finding(self) -> Found:
        """It as a rule's finding, at its frame: a live run has no events for what the processor writes."""
        message = str(replace(self, count=1)).removeprefix(f"{self.at}: ")
        return Found(message, self.at.partition("/")[0], self.count)

def trace_of(kernel: Kernel) -> tuple[Step, ...]:
    """Where the thread is whose call lets the GPU work, with its callers; empty where that is not known."""
    registers = None if kernel.current is None else kernel.processor.registers(kernel.current)
    if registers is None or kernel.tracer is None:
        return ()
    return kernel.tracer.trace(registers, in_call=True)


__all__ = ["MOST_CALLERS", "Stale", "trace_of"]
