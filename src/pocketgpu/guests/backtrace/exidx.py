"""ARM's exception tables (.ARM.exidx): how to leave a function, as a list of steps on a virtual stack pointer.

    rows = index_rows(space, base, size)
    unwound = unwind(space, rows, pc, registers)   # the caller's registers, or None

Source: Exception Handling ABI for the ARM Architecture (IHI 0038), sections 6 and 10.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from pocketgpu.guests.kernel.memory import AddressError, AddressSpace

SP: Final = 13
LR: Final = 14
PC: Final = 15
_ROW: Final = 8
_CANNOT: Final = 1
"""The second word of a function that cannot be left."""
_INLINE: Final = 0x80000000
_PREL31: Final = 0x7FFFFFFF
_WORD: Final = 4
_MASK: Final = 0xFFFFFFFF


class _CannotUnwindError(Exception):
    """The table says that, or has instructions that are reserved."""


def _prel31(place: int, word: int) -> int:
    offset = word & _PREL31
    return (place + offset - ((offset & 0x40000000) << 1)) & _MASK


def instructions(space: AddressSpace, base: int, size: int, pc: int) -> list[int] | None:
    """The bytes that tell how to leave the function of an address; None if the table does not have it.

    :raises AddressError: the table is not where it should be.
    """
    low, high = 0, size // _ROW
    while low < high:
        middle = (low + high) // 2
        at = base + _ROW * middle
        if _prel31(at, space.word(at)) <= pc:
            low = middle + 1
        else:
            high = middle
    if low == 0:
        return None
    at = base + _ROW * (low - 1) + _WORD
    word = space.word(at)
    if word == _CANNOT:
        return None
    if not word & _INLINE:
        at = _prel31(at, word)
        word = space.word(at)
        if not word & _INLINE:
            return None  # a personality routine of its own
    kind = word >> 24 & 0xF
    if kind == 0:
        return [word >> shift & 0xFF for shift in (16, 8, 0)]
    if kind > 2:
        return None
    more = word >> 16 & 0xFF
    found = [word >> shift & 0xFF for shift in (8, 0)]
    for number in range(more):
        word = space.word(at + _WORD * (number + 1))
        found += [word >> shift & 0xFF for shift in (24, 16, 8, 0)]
    return found


def unwind(
    space: AddressSpace, base: int, size: int, pc: int, registers: Mapping[int, int]
) -> dict[int, int] | None:
    """The caller's registers, with its pc, of a function at `pc`; None if the table at `base` cannot tell."""
    try:
        codes = instructions(space, base, size, pc)
        if codes is None or SP not in registers:
            return None
        found = dict(registers)
        found.pop(PC, None)
        _run(space, iter(codes), found)
        if PC not in found:
            found[PC] = found[LR]
        return found
    except (AddressError, KeyError, _CannotUnwindError):
        return None


def _pop(space: AddressSpace, registers: dict[int, int], numbers: list[int]) -> None:
    at = registers[SP]
    for number, value in zip(numbers, space.words(at, len(numbers)), strict=True):
        registers[number] = value
    if SP not in numbers:
        registers[SP] = at + _WORD * len(numbers)


def _run(space: AddressSpace, codes: Iterator[int], registers: dict[int, int]) -> None:
    """Carry out instructions until "finish" or the end of the list. VFP registers are not followed, only their room."""
    for code in codes:
        if code < 0x40:
            registers[SP] += ((code & 0x3F) << 2) + 4
        elif code < 0x80:
            registers[SP] -= ((code & 0x3F) << 2) + 4
        elif code < 0x90:
            mask = (code & 0xF) << 8 | next(codes, 0)
            if not mask:
                raise _CannotUnwindError
            _pop(space, registers, [4 + n for n in range(12) if mask >> n & 1])
        elif code < 0xA0:
            if code & 0xF in (SP, PC):
                raise _CannotUnwindError
            registers[SP] = registers[code & 0xF]
        elif code < 0xB0:
            _pop(space, registers, [*range(4, 5 + (code & 7)), *([LR] if code & 8 else [])])
        elif code == 0xB0:
            return
        elif code == 0xB1:
            mask = next(codes, 0)
            if not 0 < mask < 0x10:
                raise _CannotUnwindError
            _pop(space, registers, [n for n in range(4) if mask >> n & 1])
        elif code == 0xB2:
            registers[SP] += 0x204 + (_uleb(codes) << 2)
        elif code == 0xB3:
            registers[SP] += 8 * ((next(codes, 0) & 0xF) + 1) + 4
        elif 0xB8 <= code < 0xC0:
            registers[SP] += 8 * ((code & 7) + 1) + 4
        elif code in (0xC8, 0xC9):
            registers[SP] += 8 * ((next(codes, 0) & 0xF) + 1)
        elif 0xD0 <= code < 0xD8:
            registers[SP] += 8 * ((code & 7) + 1)
        else:
            raise _CannotUnwindError
        registers[SP] &= _MASK


def _uleb(codes: Iterator[int]) -> int:
    value = shift = 0
    for code in codes:
        value |= (code & 0x7F) << shift
        shift += 7
        if not code & 0x80:
            break
    return value
