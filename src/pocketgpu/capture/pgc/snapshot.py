"""The state of a 3DS machine as the beginning of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.arena import PAGE_SIZE
from pocketgpu.capture.formats.pgc.contents import Load, StateRecord
from pocketgpu.capture.pgc.convert import state_records

if TYPE_CHECKING:
    from pocketgpu.pica.n3ds import N3DS


def state_of(machine: N3DS) -> list[StateRecord]:
    """Records of state for the registers, and for all that is not zero in the GPU's own memories."""
    return state_records(machine.save_state())


def memory_of(machine: N3DS) -> list[Load]:
    """Loads for all pages that are not zero; adjacent ones are joined."""
    loads = []
    for region, offset in machine.memory.regions:
        pages = machine.memory.arena[offset : offset + region.size].view(np.uint64).reshape(-1, PAGE_SIZE // 8)
        used = np.flatnonzero(pages.any(axis=1))
        if not len(used):
            continue
        for run in np.split(used, np.flatnonzero(np.diff(used) > 1) + 1):
            start, size = region.base + int(run[0]) * PAGE_SIZE, len(run) * PAGE_SIZE
            loads.append(Load(start, (machine.memory.read(start, size),)))
    return loads
