"""Layout of code in memory: bundles of a control word and three instructions, and the fields of a control word."""

from __future__ import annotations

from pocketgpu.facts.maxwell.sass import CONTROL
from pocketgpu.late_dataclass import dataclass

WORD = 8
"""Bytes of an instruction, and of a control word."""
BUNDLE = 32
"""Bytes of a control word and its three instructions."""
NOP = 0x50B0000000070F00
"""The word of NOP, which fills the last bundle."""
NO_BARRIER = 7
"""The number in a control word that names no scoreboard."""


def index_at(offset: int) -> int:
    """Number of the instruction at a byte offset in code (that of a control word means the next one); -1 for none."""
    if offset % WORD:
        return -1
    bundle, place = divmod(offset, BUNDLE)
    return bundle * 3 + max(place // WORD, 1) - 1


def index_of(offset: int, count: int) -> int | None:
    """The same in code of `count` instructions; None if none of them is there."""
    index = index_at(offset)
    return index if 0 <= index < count else None


def offset_of(index: int) -> int:
    """Byte offset of an instruction."""
    return index // 3 * BUNDLE + WORD + index % 3 * WORD


def label_offset(index: int) -> int:
    """Byte offset by which branches name an instruction: that of the control word if one comes right before it."""
    offset = offset_of(index)
    return offset - WORD if offset % BUNDLE == WORD else offset


@dataclass(frozen=True, slots=True)
class Control:
    """How an instruction is scheduled, which never changes a result.

    yield_: the bit as it is. write_barrier, read_barrier: a scoreboard, None for none. wait_mask: a bit for each
    scoreboard. reuse: a bit for each of the operands a, b, c.
    """

    stall: int
    yield_: int
    write_barrier: int | None
    read_barrier: int | None
    wait_mask: int
    reuse: int
    raw: int

    @staticmethod
    def of(raw: int) -> Control:
        """From the 21 bits."""
        get = {name: int(field.raw(raw)) for name, field in CONTROL.items()}
        write, read = get["write_barrier"], get["read_barrier"]
        return Control(
            get["stall"],
            get["yield"],
            None if write == NO_BARRIER else write,
            None if read == NO_BARRIER else read,
            get["wait"],
            get["reuse"],
            raw,
        )

    @property
    def dual(self) -> bool:
        """Whether the next instruction issues together with this one."""
        return self.stall == 0 and self.yield_ == 1
