"""What runs a program's instructions: the kernel asks for a piece of a thread and gets the next supervisor call.

    stop = processor.run(thread, budget, now)
    if stop.call is not None:
        ...  # thread.registers has the first 8; thread.answer[0] = 0 is what the first will be when the thread goes on

The kernel knows nothing else of a processor, so one that plays a recorded conversation does as well as one that
executes code.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from pocketgpu.guests.kernel.memory import Area
from pocketgpu.guests.kernel.report import Registers, VectorRegisters
from pocketgpu.guests.kernel.threads import Thread
from pocketgpu.late_dataclass import dataclass


class Wrong(StrEnum):
    """What can be wrong with an instruction, in words for people."""

    READ_NOWHERE = "read of no memory"
    WRITE_NOWHERE = "write to no memory"
    JUMP_NOWHERE = "jump to no memory"
    READ_FORBIDDEN = "read that is not allowed"
    WRITE_FORBIDDEN = "write that is not allowed"
    JUMP_FORBIDDEN = "jump that is not allowed"
    MISALIGNED = "misaligned access"
    MISALIGNED_JUMP = "misaligned jump"
    MISALIGNED_STACK = "misaligned stack pointer"
    BAD_CALL = "supervisor call that does not exist"
    UNDEFINED = "undefined instruction"
    BREAKPOINT = "breakpoint"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a program cannot go on. what: one of `Wrong`, or a processor's own words; address: of the access, or of the
    instruction itself."""

    what: str
    address: int
    pc: int


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a piece of a thread ended. used: instructions executed. call: the number of a supervisor call; None if the
    budget was used up or there was a fault. fault: what was wrong; a call is not made then."""

    used: int
    call: int | None = None
    fault: Fault | None = None


class Processor(Protocol):
    """Executes threads of one program."""

    def run(self, thread: Thread, budget: int, now: int) -> Stop:
        """Apply `thread.answer`, then run the thread until its next supervisor call, for at most `budget` instructions
        (a few more, up to the end of a block). Sets `thread.registers` where it ends in a call.

        :param now: the tick at which it begins, for processors with a counter that programs read.
        """
        ...

    def registers(self, thread: Thread) -> Registers | None:
        """All registers of a thread as they are now; None if this processor has none."""
        ...

    def vectors(self, thread: Thread) -> VectorRegisters | None:
        """Vector registers of a thread, for a kernel that tells them to programs; None if this processor has none."""
        ...

    def watch(self, base: int, size: int, told: Callable[[int], None]) -> Callable[[], None]:
        """Call `told` with the address of each store of the program to a range, in the middle of the instruction; the
        returned function ends that. `registers` can be asked meanwhile."""
        ...

    def start(self, thread: Thread, entry: int, argument: int, stack: int) -> None:
        """Registers of a new thread: the first is the argument; the stack pointer, the program counter (of 32-bit ARM
        bit 0: Thumb code)."""
        ...

    def mapped(self, area: Area) -> None:
        """An area is new."""
        ...

    def unmapped(self, base: int, size: int) -> None:
        """An area, all of it, is gone; parts that stay are mapped again."""
        ...

    def settle(self) -> None:
        """Put what it holds of threads into their contexts, for a checkpoint.

        :raises UsageError: it cannot go back.
        """
        ...

    def replaced(self) -> None:
        """Threads and memory were put back: forget registers and translated code."""
        ...
