"""Reading a register file by the names of its class."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from pocketgpu.facts.maxwell import MethodBlock


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


class State:
    """The registers of one class by official name; `index` chooses an element of an array.

    `registers` is the live file or a copy of it: one 32-bit word for each method.
    """

    def __init__(self, block: MethodBlock, registers: np.ndarray[Any, Any]) -> None:
        self.block, self.registers = block, registers
        self._words = registers.data  # gives plain numbers, fast

    def word(self, name: str, index: int = 0) -> int:
        """The word of a method."""
        word, stride = _register(self.block, name)
        return int(self._words[word + index * stride])

    def signed(self, name: str, index: int = 0) -> int:
        """The word of a method as a signed number."""
        word = self.word(name, index)
        return word - ((word >> 31) << 32)

    def field(self, name: str, field: str = "V", index: int = 0) -> int:
        """The bits of a field."""
        word, stride, lo, mask = _field(self.block, name, field)
        return int(self._words[word + index * stride]) >> lo & mask

    def float(self, name: str, index: int = 0) -> float:
        """The word of a method as an f32."""
        word, stride = _register(self.block, name)
        at = word + index * stride
        return float(self.registers[at : at + 1].view(np.float32)[0])

    def address(self, name: str, index: int = 0) -> int:
        """The 40-bit address whose upper part is in `name`, the lower in the method after it.

        An upper part with more bits than eight (A140) is cut: addresses have 40 bits.
        """
        word, stride = _register(self.block, name)
        at = word + index * stride
        upper, lower = int(self._words[at]), int(self._words[at + 1])
        return ((self.block[name].fields[0].raw(upper) << 32) | lower) & 0xFF_FFFF_FFFF
