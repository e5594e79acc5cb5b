"""Runs the vertex side of many draws in one native call: for each piece, shade, run any geometry program, assemble.

The call returns where Python is needed (a full triangle area, a product of zero and infinity, a program that does not
end) and continues from there when it is called again.
"""

from __future__ import annotations

from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.pica.core.layout import (
    CONTROL,
    GEOMETRY,
    GEOMETRY_PIECE,
    KIND_IMMEDIATE,
    MAX_PIECE,
    PACKET,
    PACKET_REGISTERS,
    WorkLayout,
)
from pocketgpu.pica.core.registers import LiveRegisters

SHADE, SHADED, ASSEMBLE = range(3)
DONE, FULL, INEXACT, HUNG, TOO_MANY = range(5)
# Vertices that one submission may shade, or emit from geometry shaders, before it counts as a hang.
VERTEX_BUDGET = 1 << 24


@kernel(count=I32, shade=I64, geometry=I64, assemble=I64)
def run_vertices(
    k: Lang, count: Value, shade: Value, geometry: Value, assemble: Value, *, layout_start: int, layout_size: int
) -> None:
    """Run entries VERTEX_ENTRY .. count-1 of the run list; ends with VERTEX_STATUS set.

    FULL: rasterise the entries up to VERTEX_ENTRY, empty the triangle area, call again. INEXACT: the current piece
    (PIECE vertices from VERTEX_START) must be shaded exactly; then set VERTEX_STAGE to SHADED and call again.
    `geometry` is only called for packets with a geometry shader.
    """
    layout = WorkLayout(layout_start, layout_size)
    at = lambda name: layout.control + getattr(CONTROL, name)
    get = lambda name: k.load(I32, at(name))
    put = lambda name, v: k.store(I32, at(name), v)
    unit_at = lambda name: layout.geometry + getattr(GEOMETRY, name)
    unit = lambda name: k.load(I32, unit_at(name))
    put_unit = lambda name, v: k.store(I32, unit_at(name), v)
    entry, start, stage = k.var(get("VERTEX_ENTRY")), k.var(get("VERTEX_START")), k.var(get("VERTEX_STAGE"))
    status = k.var(DONE)
    for _ in k.loop(lambda: (entry.value < count) & (status.value == DONE)):
        packet = k.load(I64, k.to_i64(entry.value << 4) + layout.run_list + 8)
        head = lambda name, packet=packet: k.load(I32, packet + getattr(PACKET, name))
        live = LiveRegisters(k, packet + PACKET_REGISTERS)
        immediate = head("KIND") == KIND_IMMEDIATE
        staged = live("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
        per_vertex = live("VSH_NUM_ATTR.count") + 1
        listed = live("NUMVERTICES.count")
        listed = k.select((listed < 0) | (listed > VERTEX_BUDGET), VERTEX_BUDGET + 1, listed)
        total = k.select(immediate, k.udiv(head("IMMEDIATE_COUNT"), per_vertex), listed)
        for _ in k.when((start.value == 0) & (stage.value == SHADE)):
            restart = head("RESTART") != 0
            mode = k.select(staged, live("GSH_MISC0.mode"), unit("MODE"))
            for _ in k.when(restart | staged):  # geometry programs emit whole triangles
                put("CARRY", 0)
                put("CARRY_PARITY", 0)
            for _ in k.when(restart | (mode != unit("MODE"))):
                for name in ("FILLED", "OWED", "SIZE"):
                    put_unit(name, 0)
            put_unit("MODE", mode)
            k.store(I32, packet + PACKET.FIRST_TRIANGLE, get("TRIANGLES"))
            k.store(I32, packet + PACKET.LAST_TRIANGLE, get("TRIANGLES"))
            vertices = get("VERTICES") + total
            put("VERTICES", vertices)
            for _ in k.when(vertices > VERTEX_BUDGET):
                status.value = TOO_MANY
        piece = k.min(total - start.value, k.select(staged, GEOMETRY_PIECE, MAX_PIECE))
        put("PIECE", piece)
        put("VERTEX_START", start.value)
        for _ in k.when((stage.value == SHADE) & (status.value == DONE)):
            put("NAN_PRODUCTS", 0)
            put("PIECE_VERTICES", 0)
            put_unit("STARTED", 0)
            for _ in k.when(piece > 0):
                k.invoke(shade, packet, start.value, piece, k.load(I64, packet + PACKET.PROGRAM))
            status.value = k.select(get("HANG") != 0, HUNG, k.select(get("NAN_PRODUCTS") != 0, INEXACT, DONE))
            for _ in k.when(status.value == DONE):
                stage.value = SHADED
        for _ in k.when((stage.value == SHADED) & (status.value == DONE)):
            put("ASSEMBLE_COUNT", piece)
            put("NEXT_PRIMITIVE", 0)
            for _ in k.when(staged):
                k.invoke(geometry, packet, start.value)
                status.value = k.select(
                    get("HANG") != 0, HUNG, k.select(get("EMITTED") > VERTEX_BUDGET, TOO_MANY, DONE)
                )
            for _ in k.when(status.value == DONE):
                stage.value = ASSEMBLE
        for _ in k.when((stage.value == ASSEMBLE) & (status.value == DONE)):
            assembled = get("ASSEMBLE_COUNT")
            for _ in k.when(assembled > 0):
                k.invoke(assemble, packet, assembled)
            k.store(I32, packet + PACKET.LAST_TRIANGLE, get("TRIANGLES"))
            full = (get("NEXT_PRIMITIVE") >= 0) & (assembled > 0)
            more = ~full & staged & (unit("MORE") != 0)
            for _ in k.when(full):
                status.value = FULL
            for _ in k.when(more):
                stage.value = SHADED
            for _ in k.when(~(full | more)):
                stage.value = SHADE
                start.value = start.value + piece
                for _ in k.when(start.value >= total):
                    entry.value = entry.value + 1
                    start.value = 0
    for _ in k.when(status.value == HUNG):
        for name in ("FILLED", "OWED", "SIZE"):
            put_unit(name, 0)
    put("VERTEX_ENTRY", entry.value)
    put("VERTEX_START", start.value)
    put("VERTEX_STAGE", stage.value)
    put("VERTEX_STATUS", status.value)
