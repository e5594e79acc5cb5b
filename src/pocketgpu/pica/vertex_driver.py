"""The vertex side of many draws in one native call: shade, assemble, next.

It stops where Python is needed (a triangle area that is full, products of zero and infinity, a program that does not
end) and goes on from there when called again.
"""

from __future__ import annotations

import numpy as np

from ..lanes import I32, I64, Lang, Value, kernel
from .layout import CONTROL, KIND_IMMEDIATE, MAX_PIECE, PACKET, PACKET_REGISTERS, WorkLayout
from .registers import LiveRegisters, field, register_id

SHADE, ASSEMBLE = range(2)
DONE, FULL, INEXACT, HUNG, TOO_MANY = range(5)
# Vertices that one submission may shade before it is taken to hang.
VERTEX_BUDGET = 1 << 24


def vertex_count(head: np.ndarray, registers: np.ndarray) -> int:
    """Vertices of a packet, as the driver counts them."""
    if head[PACKET.KIND // 4] == KIND_IMMEDIATE:
        per_vertex = field("VSH_NUM_ATTR.count")
        return int(head[PACKET.IMMEDIATE_COUNT // 4]) // (
            per_vertex.raw(int(registers[per_vertex.register.offset])) + 1
        )
    return min(int(registers[register_id("NUMVERTICES")]), VERTEX_BUDGET + 1)


@kernel(count=I32, shade=I64, assemble=I64)
def run_vertices(k: Lang, count: Value, shade: Value, assemble: Value, *, layout_start: int, layout_size: int) -> None:
    """Run entries VERTEX_ENTRY .. count-1 of the run list; ends with VERTEX_STATUS set.

    FULL: rasterise entries up to VERTEX_ENTRY, empty the triangle area, call again. INEXACT: the present piece (from
    VERTEX_START) must be shaded exactly; then set VERTEX_STAGE to ASSEMBLE and call again.
    """
    layout = WorkLayout(layout_start, layout_size)
    at = lambda name: layout.control + getattr(CONTROL, name)
    get = lambda name: k.load(I32, at(name))
    put = lambda name, v: k.store(I32, at(name), v)
    entry, start, stage = k.var(get("VERTEX_ENTRY")), k.var(get("VERTEX_START")), k.var(get("VERTEX_STAGE"))
    status = k.var(DONE)
    for _ in k.loop(lambda: (entry.value < count) & (status.value == DONE)):
        packet = k.load(I64, k.to_i64(entry.value << 4) + layout.run_list + 8)
        head = lambda name, packet=packet: k.load(I32, packet + getattr(PACKET, name))
        live = LiveRegisters(k, packet + PACKET_REGISTERS)
        immediate = head("KIND") == KIND_IMMEDIATE
        per_vertex = live("VSH_NUM_ATTR.count") + 1
        listed = live("NUMVERTICES.count")
        listed = k.select((listed < 0) | (listed > VERTEX_BUDGET), VERTEX_BUDGET + 1, listed)
        total = k.select(immediate, k.udiv(head("IMMEDIATE_COUNT"), per_vertex), listed)
        for _ in k.when((start.value == 0) & (stage.value == SHADE)):
            for _ in k.when(head("RESTART") != 0):
                put("CARRY", 0)
                put("CARRY_PARITY", 0)
            k.store(I32, packet + PACKET.FIRST_TRIANGLE, get("TRIANGLES"))
            k.store(I32, packet + PACKET.LAST_TRIANGLE, get("TRIANGLES"))
            vertices = get("VERTICES") + total
            put("VERTICES", vertices)
            for _ in k.when(vertices > VERTEX_BUDGET):
                status.value = TOO_MANY
        piece = k.min(total - start.value, MAX_PIECE)
        for _ in k.when((stage.value == SHADE) & (status.value == DONE)):
            put("NAN_PRODUCTS", 0)
            put("NEXT_PRIMITIVE", 0)
            for _ in k.when(piece > 0):
                k.invoke(shade, packet, start.value, piece, k.load(I64, packet + PACKET.PROGRAM))
            status.value = k.select(get("HANG") != 0, HUNG, k.select(get("NAN_PRODUCTS") != 0, INEXACT, DONE))
            for _ in k.when(status.value == DONE):
                stage.value = ASSEMBLE
        for _ in k.when((stage.value == ASSEMBLE) & (status.value == DONE)):
            for _ in k.when(piece > 0):
                k.invoke(assemble, packet, piece)
            k.store(I32, packet + PACKET.LAST_TRIANGLE, get("TRIANGLES"))
            more = (get("NEXT_PRIMITIVE") >= 0) & (piece > 0)
            for _ in k.when(more):
                status.value = FULL
            for _ in k.when(~more):
                stage.value = SHADE
                start.value = start.value + piece
                for _ in k.when(start.value >= total):
                    entry.value = entry.value + 1
                    start.value = 0
    put("VERTEX_ENTRY", entry.value)
    put("VERTEX_START", start.value)
    put("VERTEX_STAGE", stage.value)
    put("VERTEX_STATUS", status.value)
