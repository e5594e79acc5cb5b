"""What a program's end tells: registers and back traces of threads, with functions and source lines.

    print(app.end)

    The program ended: fault: write to no memory at 0x00000004, thread 1
    It was in store+0x8 (faults.c:23).
    ...

Both consoles fill the same types; what is theirs are the registers' names and the way to find callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Final, Protocol

from pocketgpu.displayed import plain
from pocketgpu.guests.symbols.places import Place
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

_COLUMN: Final = 4
"""Registers in a line of the text."""
_REPEATS: Final = 2
"""So often a line of a back trace is shown that is repeated."""


@dataclass(frozen=True, slots=True)
class Registers:
    """The registers of a thread. values: by the processor's numbers and names, in the order in which people list them.
    flags: the status register. bits: 32 or 64."""

    values: tuple[int, ...]
    names: tuple[str, ...]
    pc: int
    flags: int
    flags_name: str
    flags_text: str
    bits: int = 32

    def __repr__(self) -> str:
        return f"<Registers pc {self.pc:#0{2 + self.bits // 4}x}>"

    def __getitem__(self, name: str) -> int:
        """A register by its name. Raises KeyError."""
        if name == self.flags_name:
            return self.flags
        try:
            return self.values[self.names.index(name)]
        except ValueError:
            raise KeyError(name) from None

    @property
    def lines(self) -> list[str]:
        """A block of text, below 80 columns."""
        digits = self.bits // 4
        cells = [f"{name:4}{value:0{digits}x}" for name, value in zip(self.names, self.values, strict=True)]
        across = max(1, _COLUMN * 32 // self.bits)
        rows = ["  ".join(cells[at : at + across]) for at in range(0, len(cells), across)]
        return [*rows, f"{self.flags_name} {self.flags:08x}  {self.flags_text}"]


@dataclass(frozen=True, slots=True)
class VectorRegisters:
    """Vector registers of a thread of 64-bit ARM. values: 32 numbers of 128 bits. control, status: FPCR and FPSR. own:
    TPIDR_EL0, which programs may write."""

    values: tuple[int, ...]
    control: int
    status: int
    own: int

    def __repr__(self) -> str:
        return f"<VectorRegisters: {len(self.values)}>"


class Found(Enum):
    """How a place of a back trace was found."""

    RUNNING = "running"
    TABLE = "table"
    FRAME_POINTER = "frame pointer"
    LINK = "link register"
    SCAN = "scan"

    @property
    def sure(self) -> bool:
        """Whether the program's own tables say so. The others are good guesses."""
        return self in (Found.RUNNING, Found.TABLE)


@dataclass(frozen=True, slots=True)
class Step:
    """One function of a back trace: where it is, and how that was found. The first one runs, each next one called the
    one before; its place is that of the call. sure: neither it nor one before it was guessed."""

    place: Place
    found: Found
    sure: bool = True

    def __str__(self) -> str:
        return str(self.place) + ("" if self.sure else f" (guessed: {self.found.value})")


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread at the end of a run. waits: what for, empty if it was ready."""

    number: int
    priority: int
    registers: Registers
    trace: tuple[Step, ...]
    waits: str = ""

    def __repr__(self) -> str:
        return f"<ThreadState {self.number}: {self.trace[0].place if self.trace else 'nowhere'}>"

    @property
    def trace_lines(self) -> list[str]:
        """The back trace as text, below 80 columns where names allow."""
        lines: list[str] = []
        names = [one.place.name if one.place.function else "(no function)" for one in self.trace]
        width = min(40, max((len(name) for name in names), default=0))
        for number, (one, name) in enumerate(zip(self.trace, names, strict=True)):
            line = f" {one.place.address:08x}  {name:{width}}  {one.place.source}".rstrip()
            before = self.trace[max(0, number - _REPEATS) : number]
            if len(before) == _REPEATS and all(other.place == one.place for other in before):
                if number + 1 == len(self.trace) or self.trace[number + 1].place != one.place:
                    lines.append(f"{number:3} the same until here")
                continue
            lines.append(f"{' ' if one.sure else '?'}{number:2}{line}")
        if not all(one.sure for one in self.trace):
            lines.append("A ? marks a guess: a return address in a register or on the stack.")
        return lines


class Tracer(Protocol):
    """Finds the callers of a thread: one for each architecture."""

    def trace(self, registers: Registers, *, in_call: bool) -> tuple[Step, ...]:
        """The back trace, which is bounded. in_call: the thread may be in a supervisor call, which is before its pc."""
        ...


def thread_text(one: ThreadState) -> list[str]:
    """A thread as lines of text."""
    waits = f", waits for {plain(one.waits)}" if one.waits else ""
    head = f"Thread {one.number}, priority {one.priority:#x}{waits}:"
    return [head, *(f"  {line}" for line in one.registers.lines), *(f"  {line}" for line in one.trace_lines)]


def end_text(head: str, details: Sequence[str], threads: Sequence[ThreadState], *, whole: bool) -> str:
    """The text of an end: what, where, registers and back trace. whole: of all threads, not of the first alone."""
    lines = [plain(head)]
    if threads and threads[0].trace and not whole:
        place = threads[0].trace[0].place
        lines.append(f"It was {'in' if place.function else 'at'} {place}.")
    lines += [plain(one) for one in details]
    for one in threads[: _MOST_THREADS if whole else 1]:
        lines += ["", *thread_text(one)]
    if whole and len(threads) > _MOST_THREADS:
        lines += ["", f"and {counted(len(threads) - _MOST_THREADS, 'further thread')}"]
    return "\n".join(lines)


_MOST_THREADS: Final = 8
