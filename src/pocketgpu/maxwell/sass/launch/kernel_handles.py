"""The part of a launch record that all launches fill in the same way: handles of the kernels that a program calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import Engine, late
from pocketgpu.maxwell.sampling.records import CALLED
from pocketgpu.maxwell.sampling.store import Textures
from pocketgpu.maxwell.sass.thread_memory.work import (
    LAUNCH,
    MEMORY_KERNELS,
    TEXTURE_KERNELS,
    function_index,
    memory_index,
)

access = late("pocketgpu.maxwell.sass.thread_memory.access", "access")
memory = late("pocketgpu.maxwell.sass.thread_memory.access", "memory")
atomic = late("pocketgpu.maxwell.sass.thread_memory.atomics", "atomic")
fault = late("pocketgpu.maxwell.sass.launch.block_runner", "fault")
function = late("pocketgpu.maxwell.sass.warp.functions", "function")
unstack = late("pocketgpu.maxwell.sass.warp.stack", "unstack")
Words = NDArray[np.int32]


class KernelHandles(Protocol):
    """The kernels that a program calls; see `Code`."""

    @property
    def accesses(self) -> Iterable[tuple[int, int, bool]]:
        """Memory instructions: (space, size, whether they store)."""

    @property
    def textures(self) -> Iterable[int]:
        """Kernels on textures and surfaces."""

    @property
    def functions(self) -> Iterable[tuple[int, int]]:
        """Functions: (number, whether the result is saturated)."""


def handles_at(words: Words, offset: int, count: int) -> NDArray[np.int64]:
    """Handles in a record, as 64 bits each. offset: in bytes."""
    return words[offset // 4 : offset // 4 + 2 * count].view(np.int64)


def set_kernels(words: Words, engine: Engine, program: KernelHandles, textures: Textures | None) -> None:
    """Have a launch record name the kernels of an engine that a program calls, and no others.

    :param textures: what texture instructions read; without it they have no kernels.
    """
    get = engine.handle
    handles_at(words, LAUNCH.ACCESS, 4)[:] = get(access), get(atomic), get(fault), get(unstack)
    memories = handles_at(words, LAUNCH.MEMORY, MEMORY_KERNELS)
    memories[:] = 0
    for space, size, store in program.accesses:
        memories[memory_index(space, size, store)] = get(memory, space=space, size=size, store=store)
    for fn, saturated in program.functions:
        index = function_index(fn, saturated)
        handles_at(words, LAUNCH.FUNCTION + 8 * index, 1)[:] = get(function, fn=fn, saturated=saturated)
    kernels = handles_at(words, LAUNCH.TEXTURE, TEXTURE_KERNELS)
    kernels[:] = 0
    if textures is not None:
        for number in program.textures:
            for one in (number, *CALLED.get(number, ())):
                kernels[one] = textures.kernel(one, engine)


__all__ = ["KernelHandles", "Words", "handles_at", "set_kernels"]
