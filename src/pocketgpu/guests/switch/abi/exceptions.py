"""What a program gets to know about an exception: its kind, and a frame of registers in memory, which it may change.

Source: libnx's thread_context.h and exception.s; the syndrome: Arm Architecture Reference Manual, ESR_EL1.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from pocketgpu.guests.kernel.processor import Fault, Wrong
from pocketgpu.guests.kernel.report import Registers
from pocketgpu.late_dataclass import dataclass

_LAYOUT: Final = struct.Struct("<9Q3Q4IQ")
FRAME_SIZE: Final = _LAYOUT.size
_GENERAL: Final = 9
_LR, _SP, _PC, _FLAGS = 30, 31, 32, 33
_LONG_INSTRUCTION: Final = 1 << 25
_CLASS_AT: Final = 26
_WRITE: Final = 1 << 6
_NOT_MAPPED, _NOT_ALLOWED, _MISALIGNED = 0b000111, 0b001111, 0b100001
"""Fault status codes: a translation or a permission fault of the last level, an alignment fault."""
_CONDITIONS: Final = 0xF << 28


class Kind(IntEnum):
    """In x0 when a handler is called."""

    INSTRUCTION = 0x100
    DATA = 0x101
    MISALIGNED_PC = 0x102
    MISALIGNED_STACK = 0x103
    TRAP = 0x104
    BAD_CALL = 0x301


class _Class(IntEnum):
    """The exception class in a syndrome."""

    UNKNOWN = 0x00
    CALL = 0x15
    INSTRUCTION = 0x20
    MISALIGNED_PC = 0x22
    DATA = 0x24
    MISALIGNED_STACK = 0x26


_WITHOUT_ADDRESS: Final = (_Class.UNKNOWN, _Class.CALL, _Class.MISALIGNED_STACK)
"""Classes that leave FAR_EL1 alone."""


_KINDS: Final[Mapping[str, tuple[Kind, _Class, int]]] = {
    Wrong.JUMP_NOWHERE: (Kind.INSTRUCTION, _Class.INSTRUCTION, _NOT_MAPPED),
    Wrong.JUMP_FORBIDDEN: (Kind.INSTRUCTION, _Class.INSTRUCTION, _NOT_ALLOWED),
    Wrong.MISALIGNED_JUMP: (Kind.MISALIGNED_PC, _Class.MISALIGNED_PC, 0),
    Wrong.READ_NOWHERE: (Kind.DATA, _Class.DATA, _NOT_MAPPED),
    Wrong.WRITE_NOWHERE: (Kind.DATA, _Class.DATA, _NOT_MAPPED | _WRITE),
    Wrong.READ_FORBIDDEN: (Kind.DATA, _Class.DATA, _NOT_ALLOWED),
    Wrong.WRITE_FORBIDDEN: (Kind.DATA, _Class.DATA, _NOT_ALLOWED | _WRITE),
    Wrong.MISALIGNED: (Kind.DATA, _Class.DATA, _MISALIGNED),
    Wrong.MISALIGNED_STACK: (Kind.MISALIGNED_STACK, _Class.MISALIGNED_STACK, 0),
    Wrong.UNDEFINED: (Kind.TRAP, _Class.UNKNOWN, 0),
    Wrong.BAD_CALL: (Kind.BAD_CALL, _Class.CALL, 0),
}  # fmt: skip
"""By `Fault.what`: kind, class, and the rest of the syndrome. Breakpoints are not given to programs, as
switchbrew SVC (Exception handling) and libnx's thread_context.h say; nor is `Break`, which ends them."""


@dataclass(frozen=True, slots=True)
class ExceptionFrame:
    """The frame. general: x0 to x8. flags: the conditions of PSTATE. syndrome: ESR_EL1. address: FAR_EL1, 0 where no
    address is wrong."""

    general: tuple[int, ...]
    lr: int
    sp: int
    pc: int
    flags: int
    syndrome: int = 0
    address: int = 0

    def packed(self) -> bytes:
        """As it lies in memory."""
        return _LAYOUT.pack(
            *self.general, self.lr, self.sp, self.pc, self.flags, 0, 0, self.syndrome, self.address
        )  # fmt: skip

    @classmethod
    def unpacked(cls, data: bytes) -> ExceptionFrame:
        """From the bytes in memory."""
        *general, lr, sp, pc, flags, _, _, syndrome, address = _LAYOUT.unpack(data)
        return cls(tuple(general), lr, sp, pc, flags & _CONDITIONS, syndrome, address)

    @property
    def registers(self) -> dict[int, int]:
        """What the thread goes on with, by the processor's numbers."""
        return dict(enumerate(self.general)) | {_LR: self.lr, _SP: self.sp, _PC: self.pc, _FLAGS: self.flags}


def exception_of(fault: Fault, registers: Registers) -> tuple[Kind, ExceptionFrame] | None:
    """Kind and frame of a fault; None if it is one that programs do not get."""
    found = _KINDS.get(fault.what)
    if found is None:
        return None
    kind, family, rest = found
    values = registers.values
    frame = ExceptionFrame(
        values[:_GENERAL], values[_LR], values[_SP], values[_PC], registers.flags & _CONDITIONS,
        family << _CLASS_AT | _LONG_INSTRUCTION | rest, 0 if family in _WITHOUT_ADDRESS else fault.address,
    )  # fmt: skip
    return kind, frame


def entering(entry: int, kind: Kind, frame_at: int, stack: int) -> dict[int, int]:
    """Registers with which the program's entry is called for an exception."""
    return {0: kind, 1: frame_at, _SP: stack, _PC: entry, _FLAGS: 0}
