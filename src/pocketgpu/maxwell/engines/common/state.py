"""Reading a register file by the names of its class, and recording which words are read.

What a draw is prepared from depends on the words that were read for it: a `RecordingState` records them for
`read_cache.py`.
"""

from __future__ import annotations

from functools import cache
from struct import Struct
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell import MethodBlock

_WORD, _FLOAT = Struct("<I"), Struct("<f")


class _WordsByNumber(Protocol):
    """Register words by number, as plain numbers."""

    def __getitem__(self, place: int, /) -> int: ...


@cache
def _register(block: MethodBlock, name: str) -> tuple[int, int]:
    """Word and stride of a method."""
    method = block[name]
    return method.word, method.stride


@cache
def _field(block: MethodBlock, name: str, field: str) -> tuple[int, int, int, int]:
    """Word and stride of a method, lowest bit and (shifted down) mask of a field."""
    bits = block[name][field]
    return *_register(block, name), bits.lo, bits.mask >> bits.lo


@cache
def _scale(block: MethodBlock, name: str, field: str) -> int:
    """Bytes in a unit of a field."""
    return block[name][field].scale


class State:
    """The registers of one class by official name; `index` chooses an element of an array.

    registers: the live file or a copy of it, one 32-bit word for each method.
    """

    def __init__(self, block: MethodBlock, registers: NDArray[np.uint32]) -> None:
        self.block = block
        self._registers = registers
        self._words: _WordsByNumber = registers.data  # returns Python ints, which is fast

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.block.class_id:#06x})"

    @property
    def registers(self) -> NDArray[np.uint32]:
        """The whole file."""
        return self._registers

    def at(self, place: int) -> int:
        """A word by its number in the file."""
        return self._words[place]

    def values(self, places: NDArray[np.int64]) -> NDArray[np.uint32]:
        """A copy of some words by their numbers in the file."""
        return self._registers[places]

    def peek(self, places: NDArray[np.int64]) -> bytes:
        """Some words by their numbers, for comparison only: this does not count as reading."""
        return self._registers[places].tobytes()

    def word(self, name: str, index: int = 0) -> int:
        """The word of a method."""
        word, stride = _register(self.block, name)
        return self._words[word + index * stride]

    def signed(self, name: str, index: int = 0) -> int:
        """The word of a method as a signed number."""
        word = self.word(name, index)
        return word - ((word >> 31) << 32)

    def field(self, name: str, field: str = "V", index: int = 0) -> int:
        """The bits of a field."""
        word, stride, lo, mask = _field(self.block, name, field)
        return self._words[word + index * stride] >> lo & mask

    def bytes(self, name: str, field: str = "V", index: int = 0) -> int:
        """An address or a size in bytes, from a field in units of several bytes."""
        return self.field(name, field, index) * _scale(self.block, name, field)

    def float(self, name: str, index: int = 0) -> float:
        """The word of a method as an f32."""
        found: float = _FLOAT.unpack(_WORD.pack(self.word(name, index)))[0]
        return found

    def address(self, name: str, index: int = 0) -> int:
        """The 40-bit address whose upper part is in `name`, the lower in the method after it.

        An upper part with more bits than eight (A140) is cut: addresses have 40 bits.
        """
        word, stride = _register(self.block, name)
        at = word + index * stride
        upper, lower = self._words[at], self._words[at + 1]
        return ((self.block[name].fields[0].raw(upper) << 32) | lower) & 0xFF_FFFF_FFFF

    def recording(self) -> RecordingState:
        """The same registers, with reads recorded."""
        return RecordingState(self.block, self._registers)

    def note(self, places: NDArray[np.int64]) -> None:
        """Count these words as read: something was used that depends on them."""


class _NotedWords:
    """Register words that record which of them are read."""

    def __init__(self, words: _WordsByNumber, read: memoryview) -> None:
        self._words, self._read = words, read

    def __getitem__(self, place: int, /) -> int:
        self._read[place] = True
        return self._words[place]


class RecordingState(State):
    """A State that records which words are read. read: for each word of the file, whether it was."""

    def __init__(self, block: MethodBlock, registers: NDArray[np.uint32]) -> None:
        super().__init__(block, registers)
        self.read: NDArray[np.bool_] = np.zeros(len(registers), np.bool_)
        self._words = _NotedWords(self._words, self.read.data)

    @property
    def registers(self) -> NDArray[np.uint32]:
        """The whole file; all of it counts as read."""
        self.read[:] = True
        return self._registers

    @property
    def places(self) -> NDArray[np.int64]:
        """Numbers of the words that were read, ascending."""
        return self.read.nonzero()[0]

    def values(self, places: NDArray[np.int64]) -> NDArray[np.uint32]:
        """A copy of some words, which count as read."""
        self.read[places] = True
        return self._registers[places]

    def note(self, places: NDArray[np.int64]) -> None:
        """Count these words as read, too."""
        self.read[places] = True
