"""Back traces of 32-bit ARM code: by the program's tables where it has them, else by guesses that are marked.

Tables are DWARF's call frame information, of an ELF that was compiled with -g, and .ARM.exidx. Without them a frame
pointer, the link register, and words on the stack are taken for return addresses if the instruction before is a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pocketgpu.guests.backtrace.exidx import LR, PC, SP, unwind
from pocketgpu.guests.backtrace.walk import Frame, walk
from pocketgpu.guests.kernel.memory import AddressError, AddressSpace, Permission
from pocketgpu.guests.kernel.program import Program
from pocketgpu.guests.kernel.report import Found, Registers, Step

_FRAME_POINTER: Final = 11
_MOST_WORDS: Final = 2048
"""Words of the stack that a search for a return address looks at."""
_MASK: Final = 0xFFFFFFFF
NAMES: Final = (*(f"r{n}" for n in range(13)), "sp", "lr", "pc")
_CONDITIONS: Final = ((31, "N"), (30, "Z"), (29, "C"), (28, "V"), (27, "Q"))
_THUMB: Final = 0x20
_SVC_ARM, _SVC_THUMB = 0x0F, 0xDF
"""The last byte of a supervisor call."""


def registers_of(values: Sequence[int], flags: int) -> Registers:
    """Registers from the values of r0 to r15 and of the status register."""
    on = "".join(letter for bit, letter in _CONDITIONS if flags >> bit & 1)
    text = f"{on or 'no condition'}, {'Thumb' if flags & _THUMB else 'ARM'}"
    return Registers(tuple(values), NAMES, values[PC], flags, "cpsr", text)


class ArmTracer:
    """Back traces of one program in one address space."""

    def __init__(self, space: AddressSpace, program: Program) -> None:
        self._space, self._program = space, program

    def __repr__(self) -> str:
        return f"<ArmTracer of {self._program!r}>"

    def trace(self, registers: Registers, *, in_call: bool) -> tuple[Step, ...]:
        """The functions from the one that runs to the first one."""
        known = dict(enumerate(registers.values))
        pc = self._call_itself(registers.pc, bool(registers.flags & _THUMB)) if in_call else registers.pc
        return walk(Frame(pc, known, known[SP], Found.RUNNING), self._caller, self._program.place)

    def _call_itself(self, after: int, thumb: bool) -> int:
        """The address of the supervisor call before an address, if there is one."""
        size = 2 if thumb else 4
        try:
            code = self._space.read(after - size, size)
        except AddressError:
            return after
        made = code[1] == _SVC_THUMB if thumb else code[3] & _SVC_ARM == _SVC_ARM
        return after - size if made else after

    # -- one step ---------------------------------------------------------------------------------------------------
    def _caller(self, frame: Frame) -> Frame | None:
        if SP in frame.registers and self._is_code(frame.pc):
            for tell in (self._by_debug, self._by_exidx):
                found = tell(frame)
                if found is None:
                    continue
                back, before = found[PC], frame.registers.get(SP, 0)
                if found[SP] < before or (found[SP] == before and frame.found is not Found.RUNNING) or back & ~1 == 0:
                    return None  # the first function of a thread has nobody to return to
                call = self._call_before(back)
                if call is not None:
                    return Frame(call, found, found[SP], Found.TABLE)
        return self._by_frame_pointer(frame) or self._by_link(frame) or self._by_scan(frame)

    def _by_debug(self, frame: Frame) -> dict[int, int] | None:
        debug = self._program.debug
        rules = debug.rules(frame.pc) if debug is not None else None
        if rules is None or rules.register not in frame.registers:
            return None
        address = (frame.registers[rules.register] + rules.offset) & _MASK
        found = {number: value for number, value in frame.registers.items() if number < PC}
        try:
            for number, distance in rules.saved.items():
                found[number] = self._space.word(address + distance)
        except AddressError:
            return None
        found[SP] = address
        known = rules.return_register in rules.saved or frame.found is Found.RUNNING
        found[PC] = found.get(rules.return_register, 0) if known else 0
        return found

    def _by_exidx(self, frame: Frame) -> dict[int, int] | None:
        index = self._program.index
        if index is None:
            return None
        return unwind(self._space, index[0], index[1], frame.pc, frame.registers)

    def _by_frame_pointer(self, frame: Frame) -> Frame | None:
        """A function that keeps r11 at its saved return address, with the caller's r11 below."""
        pointer = frame.registers.get(_FRAME_POINTER, 0)
        if frame.found not in (Found.RUNNING, Found.TABLE, Found.FRAME_POINTER) or pointer < frame.search:
            return None
        try:
            outer, back = self._space.words(pointer - 4, 2)
        except AddressError:
            return None
        call = self._call_before(back)
        if call is None or not self._same_area(frame.search, pointer):
            return None
        return Frame(call, {_FRAME_POINTER: outer, SP: pointer + 4}, pointer + 4, Found.FRAME_POINTER)

    def _by_link(self, frame: Frame) -> Frame | None:
        """The link register of the function that runs, unless it points into that function: then it was used. After a
        jump to what is no code, the other registers are still those of the function that jumped."""
        if frame.found is not Found.RUNNING:
            return None
        call = self._call_before(frame.registers.get(LR, 0))
        if call is None:
            return None
        here = self._program.function(frame.pc)
        if here is not None and here == self._program.function(call):
            return None
        known = {} if self._is_code(frame.pc) else frame.registers
        return Frame(call, known, frame.search, Found.LINK)

    def _by_scan(self, frame: Frame) -> Frame | None:
        """The next word of the stack that is a return address. The link register's is often there once more."""
        at = frame.search & ~3
        area = self._space.find(at)
        if area is None or not area.permission & Permission.READ:
            return None
        count = min(_MOST_WORDS, (area.end - at) // 4)
        for number, word in enumerate(self._space.words(at, count)):
            call = self._call_before(word)
            if call is not None and not (call == frame.pc and frame.found is Found.LINK):
                return Frame(call, {}, at + 4 * (number + 1), Found.SCAN)
        return None

    # -- code -------------------------------------------------------------------------------------------------------
    def _is_code(self, address: int) -> bool:
        area = self._space.find(address)
        return area is not None and bool(area.permission & Permission.EXECUTE)

    def _same_area(self, one: int, other: int) -> bool:
        area = self._space.find(one)
        return area is not None and area is self._space.find(other)

    def _call_before(self, back: int) -> int | None:
        """The address of the call that a return address comes from; None if there is no call before it."""
        thumb = back & 1
        at = back & ~1
        if (at & 2 and not thumb) or not self._is_code(at - 4) or not self._is_code(at - 2):
            return None
        try:
            return self._thumb_call(at) if thumb else at - 4 if _is_call(self._space.word(at - 4)) else None
        except AddressError:
            return None

    def _thumb_call(self, at: int) -> int | None:
        first, second = (int.from_bytes(self._space.read(at - size, 2), "little") for size in (4, 2))
        if first & 0xF800 == 0xF000 and second & 0xC000 == 0xC000:
            return at - 4  # bl, blx: two halves
        return at - 2 if second & 0xFF87 == 0x4780 else None  # blx with a register


def _is_call(word: int) -> bool:
    """Whether an instruction of ARM code is bl or blx."""
    if word >> 28 == 0xF:
        return word & 0x0E000000 == 0x0A000000
    return word & 0x0F000000 == 0x0B000000 or word & 0x0FFFFFF0 == 0x012FFF30
