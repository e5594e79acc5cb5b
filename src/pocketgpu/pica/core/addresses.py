"""Guest physical addresses in kernels: a small table of memory regions in the work area."""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.layout import WorkLayout

REGION_COUNT = 4


def locate(k: Lang, layout: WorkLayout, address: Value) -> tuple[Value, Value]:
    """(arena offset, bytes to the end of the region) of a physical address; (0, 0) if unmapped."""
    offset, room = k.i32(0), k.i32(0)
    for i in range(REGION_COUNT):
        base, size, start = (k.load(I32, layout.regions + 12 * i + 4 * j) for j in range(3))
        inside = address - base
        hit = inside.below(size)
        offset = k.select(hit, inside + start, offset)
        room = k.select(hit, size - inside, room)
    return offset, room
