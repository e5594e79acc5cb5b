"""Back traces of 64-bit ARM code: by DWARF, the chain of frame records, or guesses; see `tracer.py`.

Source: Procedure Call Standard for the Arm 64-bit Architecture, "The Frame Pointer"; DWARF for the Arm 64-bit
Architecture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pocketgpu.guests.backtrace.tracer import FrameRecord, Names, StackTracer
from pocketgpu.guests.backtrace.walk import Frame
from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.kernel.report import Found, Registers

FP, LR, SP, PC = 29, 30, 31, 32
NAMES: Final = (*(f"x{n}" for n in range(31)), "sp", "pc")
_CONDITIONS: Final = ((31, "N"), (30, "Z"), (29, "C"), (28, "V"))
_WORD: Final = 4
_SVC, _SVC_MASK = 0xD4000001, 0xFFE0001F
_BL, _BL_MASK = 0x94000000, 0xFC000000
_DISTANCE, _BACKWARD = 0x03FFFFFF, 0x02000000
_NEAR: Final = 1 << 14
"""Bytes: the size of a large function."""
_BLR, _BLR_MASK = 0xD63F0000, 0xFFFFFC1F


def registers_of(values: Sequence[int], flags: int) -> Registers:
    """Registers from the values of x0 to x30, sp, pc and of the conditions."""
    text = "".join(letter for bit, letter in _CONDITIONS if flags >> bit & 1) or "no condition"
    return Registers(tuple(values), NAMES, values[PC], flags, "nzcv", text, bits=64)


class Arm64Tracer(StackTracer):
    """Back traces of one program in one address space."""

    bits = 64
    names = Names(SP, LR, PC)
    record = FrameRecord(FP, 0, 16)
    chained = (Found.RUNNING, Found.TABLE, Found.FRAME_POINTER, Found.LINK)

    def _call_itself(self, after: int, flags: int) -> int:
        try:
            made = self._space.word(after - _WORD) & _SVC_MASK == _SVC
        except AddressError:
            return after
        return after - _WORD if made else after

    def _guesses(self) -> Sequence[Callable[[Frame], Frame | None]]:
        """A function without a record leaves that of its caller, so the link register is looked at first."""
        return self._by_link, self._by_frame_pointer, self._by_scan

    def _by_link(self, frame: Frame) -> Frame | None:
        """As of any architecture. The called function is before the one that runs, and near: else the register is left
        from another call. The caller's frame pointer is still there."""
        found = super()._by_link(frame)
        if found is None or found.registers:
            return found
        word = self._space.word(found.pc)
        if word & _BL_MASK == _BL:
            distance = (word & _DISTANCE) - ((word & _BACKWARD) << 1)
            if not 0 <= frame.pc - (found.pc + distance * _WORD) < _NEAR:
                return None
        return replace(found, registers={FP: frame.registers.get(FP, 0)})

    def _call_before(self, back: int) -> int | None:
        at = back - _WORD
        if back % _WORD or not self._is_code(at):
            return None
        try:
            word = self._space.word(at)
        except AddressError:
            return None
        return at if word & _BL_MASK == _BL or word & _BLR_MASK == _BLR else None
