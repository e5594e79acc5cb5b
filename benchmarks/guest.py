"""A machine with things placed in its memory, and command lists to start again and again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pocketgpu.builder import CommandList
from pocketgpu.capture.driver import n3ds as driver
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.pica import PICA
from pocketgpu.pica import n3ds
from pocketgpu.pica.external import registers as external
from pocketgpu.pica.front import batch, draws
from pocketgpu.pica.n3ds import N3DS

COLOR, DEPTH = 0x18000000, 0x18200000
LISTS, DATA = 0x20000000, 0x21000000


def use_clock(clock: Callable[[], float]) -> None:
    """Let the replay and the machine time their phases by another clock than the wall clock."""
    for module in (driver, batch, draws, external, n3ds):
        if "perf_counter" in vars(module):
            vars(module)["perf_counter"] = clock


class Guest:
    """An N3DS and a simple allocator of its memory: `place` for data, `place_list` for command lists.

    tier: what draws run on; "specialised" code is what a program that has run for a moment runs on.
    """

    def __init__(self, threads: int = 1, tier: str = "specialised") -> None:
        self.gpu = N3DS(threads=threads, tier=tier)
        self._lists, self._data = LISTS, DATA

    def place(self, data: np.ndarray[Any, Any] | bytes) -> int:
        """Put data into main memory; its physical address."""
        raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
        address = self._data
        self._data += (len(raw) + 0xFFF) & ~0xFFF
        self.gpu.memory.write(address, raw)
        return address

    def place_list(self, commands: CommandList) -> tuple[int, int]:
        """Put a finished command list into main memory; returns what `start` takes."""
        raw = commands.finalize().tobytes()
        address = self._lists
        self._lists += (len(raw) + 0xFFF) & ~0xFFF
        if self._lists > DATA:
            raise ValueError("the lists are too long for the room between LISTS and DATA")
        self.gpu.memory.write(address, raw)
        return address, len(raw)

    def start(self, commands: tuple[int, int]) -> None:
        """Run a list as a driver does: its size and address, then the start bit."""
        address, size = commands
        for name, value in (
            ("CMDBUF_SIZE0", size >> 3),
            ("CMDBUF_ADDR0", address >> 3),
            ("CMDBUF_JUMP0", 1),
        ):
            self.gpu.write_register(PICA[name].address, value)

    def fill(self, address: int, size: int, value: int) -> None:
        """Fill memory with a 32-bit word, by the GPU's fill unit."""
        for name, word in (
            ("PSC0_START", address >> 3),
            ("PSC0_END", (address + size) >> 3),
            ("PSC0_VALUE", value),
            ("PSC0_CONTROL", EXTERNAL["PSC0_CONTROL"].encode(start=1, width=2)),
        ):
            self.gpu.write_register(EXTERNAL[name].address, word)

    def check(self) -> None:
        """Raise if something went wrong, so that it is not measured."""
        problems = [f"{event.id}: {event.message}" for event in self.gpu.events]
        if problems:
            raise RuntimeError("the machine reports: " + "; ".join(problems))
