"""The 3D core's part of the arena, as arrays: packets, control words, vertices and triangles by name.

All arrays are views of the bytes, not copies. `layout.py` has the offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.pica.core.layout import (
    CONTROL,
    GEOMETRY,
    PACKET_REGISTERS,
    PACKET_SIZE,
    TRIANGLE_SIZE,
    VERTEX_FLOATS,
    VERTEX_SIZE,
    WorkLayout,
)


class WorkArea:
    """The work area of a machine; see `N3DS.work`. Packets are numbered in the order in which the walk recorded
    them."""

    def __init__(self, arena: NDArray[np.uint8], layout: WorkLayout) -> None:
        self.arena, self.layout = arena, layout

    def __repr__(self) -> str:
        return f"<WorkArea: {self.layout.textures_end - self.layout.control} bytes from {self.layout.control:#x}>"

    def words(self, offset: int, count: int, kind: str = "<i4") -> NDArray[Any]:
        """`count` 32-bit words at an arena offset, as a NumPy type of that size."""
        return self.arena[offset : offset + 4 * count].view(kind)

    def packet(self, number: int) -> int:
        """The arena offset of a packet."""
        return self.layout.packets + number * PACKET_SIZE

    def head(self, packet: int) -> NDArray[np.int32]:
        """The words of a packet before its registers; `layout.PACKET` has their offsets in bytes."""
        return self.words(self.packet(packet), PACKET_REGISTERS // 4)

    def registers(self, packet: int) -> NDArray[np.uint32]:
        """The registers (0x300,) that a packet's draw reads."""
        return self.words(self.packet(packet) + PACKET_REGISTERS, (PACKET_SIZE - PACKET_REGISTERS) // 4, "<u4")

    def control(self, name: str) -> int:
        """A word of `layout.CONTROL`."""
        return int(self.words(self.layout.control + int(getattr(CONTROL, name)), 1)[0])

    def geometry(self, name: str) -> NDArray[np.int32]:
        """A word (1,) of the geometry unit's state between draws: one of `layout.GEOMETRY`."""
        return self.words(self.layout.geometry + int(getattr(GEOMETRY, name)), 1)

    def vertices(self, count: int) -> NDArray[np.float32]:
        """The first records (count, 24) of shaded vertices: a float per semantic."""
        records = self.words(self.layout.vertices, count * VERTEX_SIZE // 4, "<f4")
        return records.reshape(-1, VERTEX_SIZE // 4)[:, :VERTEX_FLOATS]

    def slots(self, count: int) -> NDArray[np.int32]:
        """Record numbers of the first vertices to assemble, in the order of the primitives."""
        return self.words(self.layout.slot_list, count)

    def triangles(self, first: int, end: int) -> NDArray[np.int32]:
        """Triangle records `first` to before `end`, one per row; `layout.TRIANGLE` has offsets in bytes."""
        at = self.layout.triangles + first * TRIANGLE_SIZE
        return self.words(at, (end - first) * TRIANGLE_SIZE // 4).reshape(-1, TRIANGLE_SIZE // 4)


__all__ = ["WorkArea"]
