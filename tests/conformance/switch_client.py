"""A client of the Switch's GPU for tests: pushbuffers put together here from the documents, word by word.

From the package this takes the machine and its memory only; method headers, GPFIFO entries and the places of registers
are written down here again (Switchbrew's page, NVIDIA's channel header), so that tests compare two readings of them.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.host.observer import Undrawn

PUSH, PUSH_SIZE = 0x1_0000_0000, 0x10000
DATA, DATA_SIZE = 0x5_0000_0000, 0x400000
THREE_D, COMPUTE, INLINE, TWO_D, COPY = range(5)
CLASSES = (0xB197, 0xB1C0, 0xA140, 0x902D, 0xB0B5)
"""The class of each subchannel, as Switchbrew's page has them."""

INC, NON_INC, IMMEDIATE, ONCE = 1, 3, 4, 5


@cache
def _machine(**choices: str) -> GM20B:
    return GM20B(switches={name.replace("__", "."): value.replace("_", "-") for name, value in choices.items()})


def header(kind: int, word: int, count: int, subchannel: int = 0) -> int:
    """A method header: kind in bits 31:29, count or data in 28:16, subchannel in 15:13, word in 11:0."""
    return kind << 29 | count << 16 | subchannel << 13 | word


def f32(value: float) -> int:
    """The bits of a float."""
    return int.from_bytes(struct.pack("<f", value), "little")


class Client:
    """A GM20B that was just switched on, with memory for pushbuffers and data, and one channel."""

    def __init__(self, bound: bool = True, **choices: str) -> None:
        self.gpu = _machine(**choices)
        self.gpu.reset()
        self.gpu.observe(Undrawn())  # draws are records here, without programs
        self.gpu.map(PUSH, PUSH_SIZE)
        self.gpu.map(DATA, DATA_SIZE)
        self.heap = DATA
        if bound:
            for subchannel, number in enumerate(CLASSES):
                self.push(header(INC, 0, 1, subchannel), number)

    # -- pushbuffers ------------------------------------------------------------------------------------------------
    def push(self, *words: int, channel: int = 0, finish: bool = True) -> None:
        """Submit words as one GPFIFO entry."""
        where = PUSH + channel * 0x4000
        self.gpu.memory.write(where, struct.pack(f"<{len(words)}I", *words))
        self.gpu.submit([where | len(words) << 42], channel)
        if finish:
            self.gpu.finish()

    def put(self, word: int, *values: int, subchannel: int = THREE_D, **how: Any) -> None:
        """Write words to methods that follow each other."""
        self.push(header(INC, word, len(values), subchannel), *values, **how)

    def feed(self, word: int, *values: int, subchannel: int = THREE_D, **how: Any) -> None:
        """Write words to one method."""
        self.push(header(NON_INC, word, len(values), subchannel), *values, **how)

    def call(self, macro: int, *parameters: int, **how: Any) -> None:
        """Call a macro as drivers do: the first word to the call, all others to its data."""
        self.push(header(ONCE, 0xE00 + 2 * macro, len(parameters)), *parameters, **how)

    def read(self, word: int, subchannel: int = THREE_D) -> int:
        """What a method's register holds."""
        return int(self.gpu.registers(CLASSES[subchannel])[word])

    # -- memory -----------------------------------------------------------------------------------------------------
    def room(self, size: int, fill: int = 0, align: int = 512) -> int:
        """The GPU address of memory that nobody uses yet."""
        self.heap = self.heap + align - 1 & -align
        address, self.heap = self.heap, self.heap + size
        assert self.heap <= DATA + DATA_SIZE
        self.gpu.memory.write(address, bytes([fill]) * size)
        return address

    def poke(self, address: int, *words: int) -> None:
        self.gpu.memory.write(address, struct.pack(f"<{len(words)}I", *words))

    def peek(self, address: int, count: int = 1) -> tuple[int, ...]:
        return struct.unpack(f"<{count}I", self.gpu.memory.read(address, 4 * count))

    def get(self, address: int, size: int) -> bytes:
        return bytes(self.gpu.memory.read(address, size))

    # -- what happened ----------------------------------------------------------------------------------------------
    def events(self) -> list[str]:
        """Ids of events since the last call."""
        return [event.id for event in self.gpu.events.drain()]

    def logged(self, kind: str) -> list[Any]:
        """Records of that name: "Draw", "Clear", "Copy"."""
        return [record for record in self.gpu.log if type(record).__name__ == kind]


def gob(x: int, y: int) -> int:
    """Offset of byte x, row y inside a GOB of 64 bytes by 8 rows."""
    return (x >> 5 & 1) << 8 | (y >> 1 & 3) << 6 | (x >> 4 & 1) << 5 | (y & 1) << 4 | x & 15


def block_linear(x: int, y: int, width: int, block: int) -> int:
    """Offset of byte x, row y of a surface `width` bytes wide, in blocks of `block` GOBs one above the other."""
    across = (width + 63) // 64
    return ((y // (8 * block)) * across + x // 64) * 512 * block + (y // 8 % block) * 512 + gob(x % 64, y % 8)
