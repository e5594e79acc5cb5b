"""Back traces of 64-bit ARM code: by DWARF, the chain of frame records, or guesses; see `tracer.py`.

Source: Procedure Call Standard for the Arm 64-bit Architecture, "The Frame Pointer"; DWARF for the Arm 64-bit
Architecture.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pocketgpu.guests.backtrace.tracer import FrameRecord, Names, StackTracer
from pocketgpu.guests.kernel.memory import AddressError
from pocketgpu.guests.kernel.report import Registers

FP, LR, SP, PC = 29, 30, 31, 32
NAMES: Final = (*(f"x{n}" for n in range(31)), "sp", "pc")
_CONDITIONS: Final = ((31, "N"), (30, "Z"), (29, "C"), (28, "V"))
_WORD: Final = 4
_SVC, _SVC_MASK = 0xD4000001, 0xFFE0001F
_BL, _BL_MASK = 0x94000000, 0xFC000000
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

    def _call_itself(self, after: int, flags: int) -> int:
        try:
            made = self._space.word(after - _WORD) & _SVC_MASK == _SVC
        except AddressError:
            return after
        return after - _WORD if made else after

    def _call_before(self, back: int) -> int | None:
        at = back - _WORD
        if back % _WORD or not self._is_code(at):
            return None
        try:
            word = self._space.word(at)
        except AddressError:
            return None
        return at if word & _BL_MASK == _BL or word & _BLR_MASK == _BLR else None
