"""Scheduling fields with which instructions run one after the other, for code that was written without them."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.maxwell.sass import CONTROL, CONTROL_BITS
from pocketgpu.facts.maxwell.sass.scheduling import NO_BARRIER, READ_LATER, RESULT_LATER
from pocketgpu.maxwell.sass.isa.decoder import decode_program

_WRITTEN, _READ = 0, 1
"""The barriers that stand for results, and for operands that have been read."""
_STALL: Final = 15
"""Cycles; the longest time that any result takes which has no barrier is less."""
_WORD, _BUNDLE = 8, 32


def one_by_one(code: bytes) -> bytes:
    """The same instructions, each of which waits until those before it have read their operands and have a result.

    :raises SassError: the code is not a valid program.
    """
    fields = []
    for instruction in decode_program(code):
        written = _WRITTEN if instruction.op in RESULT_LATER else NO_BARRIER
        read = _READ if instruction.op in READ_LATER else NO_BARRIER
        values = {"stall": _STALL, "write_barrier": written, "read_barrier": read, "wait": 1 << _WRITTEN | 1 << _READ}
        fields.append(sum(value << CONTROL[name].lo for name, value in values.items()))
    out = bytearray(code)
    for number, start in enumerate(range(0, len(code), _BUNDLE)):
        control = sum(field << CONTROL_BITS * n for n, field in enumerate(fields[3 * number : 3 * number + 3]))
        out[start : start + _WORD] = control.to_bytes(_WORD, "little")
    return bytes(out)


__all__ = ["one_by_one"]
