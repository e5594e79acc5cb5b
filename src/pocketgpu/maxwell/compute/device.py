"""The GPU that kernels of a process run on: memory for their arrays, a compiler, a launcher."""

from __future__ import annotations

import threading
from functools import cached_property
from heapq import heappop, heappush

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.compute.texture_objects import DESCRIPTOR, SLOTS, Slots
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.memory.gpu_memory import Mapping as GpuMapping
from pocketgpu.maxwell.sampling.store import HEADER_BYTES, SAMPLER_BYTES, Textures
from pocketgpu.maxwell.sass.launch.launcher import Launcher

WORK_SIZE = 320 * MIB
TEXTURE_ROOM = 256 * MIB
"""Host memory for copies of textures that kernels sample."""
FIRST_ADDRESS = 1 << 32
"""Start of the memory for kernels: compilers use addresses below 4 GiB for shared and local memory."""
GAP, GAP_TIMES = 1 << 20, 10
"""Unmapped bytes after each array: so many, or so many times its size if that is more. An index beyond the end, or one
that was scaled once more, by up to 5, does not land in another array, and its own is the nearest."""


class Device:
    """A GPU's memory, its compiler and its launcher, shared by the modules of a process.

    :param evaluator: "llvm", or "numpy" for the slow oracle.
    :param threads: of the host, used where a kernel's blocks may run at once.
    """

    def __init__(self, evaluator: str = "llvm", threads: int = 1) -> None:
        self.memory = GpuMemory(work_size=WORK_SIZE + TEXTURE_ROOM)
        self.engine = Engine(self.memory.arena, evaluator)
        start = self.memory.work_offset
        self.textures = Textures(self.memory, self.engine, (start + WORK_SIZE, TEXTURE_ROOM))
        self.launcher = Launcher(self.memory, self.engine, EventLog(), (start, WORK_SIZE), threads, self.textures)
        self.lock = threading.RLock()
        self._next = FIRST_ADDRESS
        self._free: dict[int, list[tuple[int, GpuMapping]]] = {}
        """Free memory by its bytes: heaps, the lowest address first. So the order in which memory is released makes no
        difference, and the same launch again gives each array the address that it had."""
        self._reach: dict[int, int] = {}
        """How many bytes threads reach of each mapping, by its number."""
        self._left: dict[int, GpuMapping] = {}
        """Free memory that threads still reach, by its number."""

    @cached_property
    def slots(self) -> Slots:
        """Headers and samplers of textures; their memory is allocated with the first one."""
        sizes = (HEADER_BYTES, SAMPLER_BYTES, DESCRIPTOR)
        slots = Slots(self.memory, *(self.memory.map(self._step(SLOTS * size), SLOTS * size) for size in sizes))
        self.textures.pools = slots.pools
        return slots

    def _step(self, size: int) -> int:
        """The next free address, for so many bytes."""
        at = self._next
        self._next += size + max(GAP, GAP_TIMES * size)
        return at

    def allocate(self, size: int) -> GpuMapping:
        """Mapped memory of which threads reach so many bytes; its contents are undefined."""
        pages = max(PAGE_SIZE, (size + PAGE_SIZE - 1) & -PAGE_SIZE)
        free = self._free.get(pages)
        mapping = heappop(free)[1] if free else self.memory.map(self._step(pages), pages)
        self._left.pop(mapping.number, None)
        if self._reach.get(mapping.number) != size:
            self.memory.close_after(mapping, size)
            self._reach[mapping.number] = size
        return mapping

    def release(self, mapping: GpuMapping) -> None:
        """Free memory; from the next launch on threads do not reach it, unless it is used again."""
        self._left[mapping.number] = mapping
        heappush(self._free.setdefault(mapping.size, []), (mapping.address, mapping))

    def close_left(self) -> None:
        """Close what is free, before a launch."""
        while self._left:  # textures that nobody has any more are released at any time
            number, mapping = self._left.popitem()
            self.memory.close_after(mapping, 0)
            self._reach[number] = 0


_devices: dict[tuple[str, int], Device] = {}


def device(evaluator: str = "llvm", threads: int = 1) -> Device:
    """The device of this process for an evaluator and a number of threads."""
    key = (evaluator, threads)
    if key not in _devices:
        _devices[key] = Device(evaluator, threads)
    return _devices[key]


__all__ = ["Device", "device"]
