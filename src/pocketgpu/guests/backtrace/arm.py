"""Back traces of 32-bit ARM code: by DWARF, .ARM.exidx, or guesses; see `tracer.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pocketgpu.guests.backtrace.exidx import LR, PC, SP, unwind
from pocketgpu.guests.backtrace.tracer import FrameRecord, Names, StackTracer
from pocketgpu.guests.backtrace.walk import Frame
from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.kernel.report import Registers

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


class ArmTracer(StackTracer):
    """Back traces of one program in one address space."""

    bits = 32
    names = Names(SP, LR, PC)
    record = FrameRecord(11, -4, 4)

    def _call_itself(self, after: int, flags: int) -> int:
        thumb = bool(flags & _THUMB)
        size = 2 if thumb else 4
        try:
            code = self._space.read(after - size, size)
        except AddressError:
            return after
        made = code[1] == _SVC_THUMB if thumb else code[3] & _SVC_ARM == _SVC_ARM
        return after - size if made else after

    def _tables(self) -> Sequence[Callable[[Frame], dict[int, int] | None]]:
        return self._by_debug, self._by_exidx

    def _by_exidx(self, frame: Frame) -> dict[int, int] | None:
        index = self._program.index
        if index is None:
            return None
        return unwind(self._space, index[0], index[1], frame.pc, frame.registers)

    def _call_before(self, back: int) -> int | None:
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
