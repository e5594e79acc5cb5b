"""Shader programs in the GPU's memory, found by their offset from the program region.

A program that was found once is known by its address until its bytes change. The same bytes at another address, or
bytes that change back, give the same code, which is not compiled again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.program.gather import gather

MAX_KNOWN = 1024
"""Programs that are remembered by address."""
_ADDRESSES = (1 << 40) - 1


@dataclass
class _Known:
    """A program at an address: its pieces with their bytes, and the stamps of their pages."""

    code: Code
    pieces: tuple[tuple[int, bytes], ...]
    stamps: tuple[tuple[int | None, int], ...]


class Programs:
    """The programs in a GPU's memory."""

    def __init__(self, memory: GpuMemory) -> None:
        self._memory = memory
        self._known: dict[tuple[int, int], _Known] = {}

    def find(self, region: int, offset: int, registers: int = 255) -> Code:
        """The code of the program at `offset` bytes from the program region, by what memory holds now.

        :param region: GPU address that code addresses count from.
        :param offset: of the first control word, or the first instruction.
        :param registers: that a thread has.
        :raises SassError: there is no program.
        """
        key = region, offset
        known = self._known.pop(key, None)
        if known is None or not self._unchanged(known):
            known = self._read(region, offset)
        self._known[key] = known  # the last one used is the last one in the dictionary
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]
        if known.code.registers != registers:
            known.code = replace(known.code, registers=registers)
        return known.code

    def _stamps(self, pieces: tuple[tuple[int, bytes], ...]) -> Iterator[tuple[int | None, int]]:
        memory = self._memory
        for address, data in pieces:
            place = memory.offset_of(address, len(data))
            yield place, 0 if place is None else memory.newest(place, len(data))

    def _unchanged(self, known: _Known) -> bool:
        """Whether memory still holds a program; pages are stamped for any change on them, so bytes decide."""
        stamps = tuple(self._stamps(known.pieces))
        if stamps == known.stamps and all(place is not None for place, _ in stamps):
            return True
        known.stamps = stamps
        return all(self._memory.try_read(address, len(data))[0] == data for address, data in known.pieces)

    def _read(self, region: int, offset: int) -> _Known:
        memory = self._memory

        def read(at: int, size: int) -> bytes:
            address = (region + at) & _ADDRESSES
            holes = memory.unmapped(address, size)
            return memory.try_read(address, holes[0][0] - address if holes else size)[0]

        found = gather(read, offset)
        pieces = tuple(
            ((region + at) & _ADDRESSES, memory.try_read((region + at) & _ADDRESSES, size)[0])
            for at, size in found.pieces
        )
        name = f"program {(region + offset) & _ADDRESSES:#x}"
        code = Code(name, found.data, start=found.start, indirect=found.indirect, origins=found.origins)
        return _Known(code, pieces, tuple(self._stamps(pieces)))


__all__ = ["Programs"]
