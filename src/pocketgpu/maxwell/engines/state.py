"""Reading a register file by the names of its class."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...facts.maxwell import MethodBlock


class State:
    """The registers of one class by official name; `index` chooses an element of an array.

    `registers` is the live file or a copy of it: one 32-bit word for each method.
    """

    def __init__(self, block: MethodBlock, registers: np.ndarray[Any, Any]) -> None:
        self.block, self.registers = block, registers

    def word(self, name: str, index: int = 0) -> int:
        """The word of a method."""
        method = self.block[name]
        return int(self.registers[method.word + index * method.stride])

    def signed(self, name: str, index: int = 0) -> int:
        """The word of a method as a signed number."""
        word = self.word(name, index)
        return word - ((word >> 31) << 32)

    def field(self, name: str, field: str = "V", index: int = 0) -> int:
        """The bits of a field."""
        method = self.block[name]
        return method[field].raw(int(self.registers[method.word + index * method.stride]))

    def float(self, name: str, index: int = 0) -> float:
        """The word of a method as an f32."""
        method = self.block[name]
        at = method.word + index * method.stride
        return float(self.registers[at : at + 1].view(np.float32)[0])

    def address(self, name: str, index: int = 0) -> int:
        """The 40-bit address whose upper part is in `name`, the lower in the method after it.

        An upper part with more bits than eight (A140) is cut: addresses have 40 bits.
        """
        method = self.block[name]
        at = method.word + index * method.stride
        upper, lower = (int(w) for w in self.registers[at : at + 2])
        return ((method.fields[0].raw(upper) << 32) | lower) & 0xFF_FFFF_FFFF
