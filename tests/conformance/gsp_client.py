"""A program's end of GSP shared memory: bytes and words where the page lays them out, nothing else."""

from __future__ import annotations

import struct
from typing import Any

from .console import FCRAM, VRAM, Console

SLOTS = 15
"""Commands that a queue holds: 0x200 bytes less the header of 0x20."""


class Client:
    """A registered program; the first one holds the right to the GPU."""

    def __init__(self, console: Console) -> None:
        self.console, self.gsp = console, console.gsp
        self.number = self.gsp.register_interrupt_relay_queue().client
        self.gsp.acquire_right(self.number)
        self.data = self.gsp.shared.data
        self.base = 0x800 + 0x200 * self.number

    # -- the header --------------------------------------------------------------------------------------------------
    def byte(self, index: int) -> int:
        return self.data[self.base + index]

    def set(self, index: int, value: int) -> None:
        self.data[self.base + index] = value

    @property
    def error(self) -> int:
        return int(struct.unpack_from("<I", self.data, self.base + 4)[0])

    # -- commands ----------------------------------------------------------------------------------------------------
    def put(self, slot: int, *words: int) -> None:
        """A command of up to eight words into a slot; the header is left alone."""
        struct.pack_into("<8I", self.data, self.base + 0x20 + 0x20 * slot, *words, *[0] * (8 - len(words)))

    def trigger(self) -> int:
        return int(self.gsp.trigger_cmd_req_queue(self.number))

    def run(self, *words: int) -> int:
        """One command through a fresh queue; the error code that it left in the header."""
        self.data[self.base : self.base + 0x20] = bytes(0x20)
        self.put(0, *words)
        self.set(1, 1)
        assert self.trigger() == 0
        return self.error

    def entries(self) -> list[int]:
        """Take all entries out of the interrupt queue."""
        start = 0x40 * self.number
        first, count = self.data[start : start + 2]
        taken = [self.data[start + 0xC + (first + n) % 0x34] for n in range(count)]
        self.data[start], self.data[start + 1] = (first + count) % 0x34, 0
        return taken


def outcome(console: Console, client: Client, *words: int) -> Any:
    """All that a command did: error, interrupts, all registers, and the memory that these tests use."""
    client.entries()
    error = client.run(*words)
    places = [at for at in range(0, 0x2000, 4) if at >= 0x1000 or at & 0xFF != 0x84]  # reading a colour table counts on
    registers = [console.n3ds.read_register(0x10400000 + at) for at in places]
    memory = [bytes(console.get(at, 0x3000)) for at in (VRAM, FCRAM)]
    return error, client.entries(), registers, memory
