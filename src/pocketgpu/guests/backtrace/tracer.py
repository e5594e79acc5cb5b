"""What back traces of all architectures share: by the program's tables where it has them, else by guesses that are
marked.

Tables are DWARF's call frame information, of an ELF or of the program itself. Without it a frame pointer, the link
register, and words on the stack are taken for return addresses if the instruction before is a call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from pocketgpu.guests.backtrace.walk import Frame, walk
from pocketgpu.guests.kernel.memory import AddressError, AddressSpace, Permission
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.report import Found, Registers, Step

_MOST_WORDS: Final = 2048
"""Words of the stack that a search for a return address looks at."""


class FrameRecord(NamedTuple):
    """What a frame pointer points at. register: the pointer. outer: distance to the caller's pointer, which the return
    address follows. end: distance to where the caller's stack goes on."""

    register: int
    outer: int
    end: int


class Names(NamedTuple):
    """Numbers of registers with a meaning: those of DWARF, and the program counter after them."""

    sp: int
    link: int
    pc: int


class StackTracer:
    """Back traces of one program in one address space."""

    bits: int
    names: Names
    record: FrameRecord
    chained: Collection[Found] = (Found.RUNNING, Found.TABLE, Found.FRAME_POINTER)
    """Frames whose frame pointer is that of the function itself."""

    def __init__(self, space: AddressSpace, program: Program) -> None:
        self._space, self._program = space, program
        self._mask = (1 << self.bits) - 1
        self._word = self.bits // 8

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._program!r}>"

    # -- what an architecture adds ----------------------------------------------------------------------------------
    def _call_itself(self, after: int, flags: int) -> int:
        """The address of the supervisor call before an address, if there is one."""
        raise NotImplementedError

    def _call_before(self, back: int) -> int | None:
        """The address of the call that a return address comes from; None if there is no call before it."""
        raise NotImplementedError

    def _tables(self) -> Sequence[Callable[[Frame], dict[int, int] | None]]:
        """Who tells the caller's registers for sure."""
        return (self._by_debug,)

    # -- one step ---------------------------------------------------------------------------------------------------
    def trace(self, registers: Registers, *, in_call: bool) -> tuple[Step, ...]:
        """The functions from the one that runs to the first one."""
        known = dict(enumerate(registers.values))
        pc = self._call_itself(registers.pc, registers.flags) if in_call else registers.pc
        return walk(Frame(pc, known, known[self.names.sp], Found.RUNNING), self._caller, self._program.place)

    def _caller(self, frame: Frame) -> Frame | None:
        sp, _, pc = self.names
        if sp in frame.registers and self._is_code(frame.pc):
            for tell in self._tables():
                found = tell(frame)
                if found is None:
                    continue
                back, before = found[pc], frame.registers.get(sp, 0)
                if found[sp] < before or (found[sp] == before and frame.found is not Found.RUNNING) or back & ~1 == 0:
                    return None  # the first function of a thread has nobody to return to
                call = self._call_before(back)
                if call is not None:
                    return Frame(call, found, found[sp], Found.TABLE)
        return next(filter(None, (guess(frame) for guess in self._guesses())), None)

    def _guesses(self) -> Sequence[Callable[[Frame], Frame | None]]:
        """Who guesses where no table tells, the best first."""
        return self._by_frame_pointer, self._by_link, self._by_scan

    def _by_debug(self, frame: Frame) -> dict[int, int] | None:
        source = self._program.debug or self._program.frames
        rules = source.rules(frame.pc) if source is not None else None
        if rules is None or rules.register not in frame.registers:
            return None
        sp, _, pc = self.names
        address = (frame.registers[rules.register] + rules.offset) & self._mask
        found = {number: value for number, value in frame.registers.items() if number < pc}
        try:
            for number, distance in rules.saved.items():
                found[number] = self._words(address + distance, 1)[0]
        except AddressError:
            return None
        found[sp] = address
        known = rules.return_register in rules.saved or frame.found is Found.RUNNING
        found[pc] = found.get(rules.return_register, 0) if known and not rules.outermost else 0
        return found

    def _by_frame_pointer(self, frame: Frame) -> Frame | None:
        """A function that keeps a register at where it saved its return address and the caller's register."""
        pointer = frame.registers.get(self.record.register, 0)
        if frame.found not in self.chained or pointer < frame.search:
            return None
        try:
            outer, back = self._words(pointer + self.record.outer, 2)
        except AddressError:
            return None
        call = self._call_before(back)
        if call is None or not self._same_area(frame.search, pointer):
            return None
        end = pointer + self.record.end
        return Frame(call, {self.record.register: outer, self.names.sp: end}, end, Found.FRAME_POINTER)

    def _by_link(self, frame: Frame) -> Frame | None:
        """The link register of the function that runs, unless it points into that function: then it was used. After a
        jump to what is no code, the other registers are still those of the function that jumped."""
        if frame.found is not Found.RUNNING:
            return None
        call = self._call_before(frame.registers.get(self.names.link, 0))
        if call is None:
            return None
        here = self._program.function(frame.pc)
        if here is not None and here == self._program.function(call):
            return None
        known = {} if self._is_code(frame.pc) else frame.registers
        return Frame(call, known, frame.search, Found.LINK)

    def _by_scan(self, frame: Frame) -> Frame | None:
        """The next word of the stack that is a return address. The link register's is often there once more."""
        at = frame.search // self._word * self._word
        area = self._space.find(at)
        if area is None or not area.permission & Permission.READ:
            return None
        count = min(_MOST_WORDS, (area.end - at) // self._word)
        for number, word in enumerate(self._words(at, count)):
            call = self._call_before(word)
            if call is not None and not (call == frame.pc and frame.found is Found.LINK):
                return Frame(call, {}, at + self._word * (number + 1), Found.SCAN)
        return None

    # -- memory -----------------------------------------------------------------------------------------------------
    def _words(self, address: int, count: int) -> tuple[int, ...]:
        """Words as large as a register. Raises AddressError."""
        return struct.unpack(f"<{count}{'Q' if self.bits > 32 else 'I'}", self._space.read(address, count * self._word))

    def _is_code(self, address: int) -> bool:
        area = self._space.find(address)
        return area is not None and bool(area.permission & Permission.EXECUTE)

    def _same_area(self, one: int, other: int) -> bool:
        area = self._space.find(one)
        return area is not None and area is self._space.find(other)
