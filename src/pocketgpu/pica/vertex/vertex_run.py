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


class _Pieces:
    """The entries of the run list, piece by piece: where the run is, and the steps for the piece at hand."""

    def __init__(self, k: Lang, layout: WorkLayout) -> None:
        self.k, self.layout = k, layout
        self.entry, self.start, self.stage = (
            k.var(self.get(name)) for name in ("VERTEX_ENTRY", "VERTEX_START", "VERTEX_STAGE")
        )
        self.status = k.var(DONE)

    def get(self, name: str) -> Value:
        return self.k.load(I32, self.layout.control + getattr(CONTROL, name))

    def put(self, name: str, v: Value | int) -> None:
        self.k.store(I32, self.layout.control + getattr(CONTROL, name), v)

    def unit(self, name: str) -> Value:
        """A word of the geometry unit's state."""
        return self.k.load(I32, self.layout.geometry + getattr(GEOMETRY, name))

    def put_unit(self, name: str, v: Value | int) -> None:
        self.k.store(I32, self.layout.geometry + getattr(GEOMETRY, name), v)

    def empty_unit(self) -> None:
        """Vertices that the geometry unit still holds are lost."""
        for name in ("FILLED", "OWED", "SIZE"):
            self.put_unit(name, 0)

    def begin_draw(self) -> None:
        """Take the packet of the entry at hand, and count its vertices if it begins now."""
        k = self.k
        self.packet = k.load(I64, k.to_i64(self.entry.value << 4) + self.layout.run_list + 8)
        head = lambda name: k.load(I32, self.packet + getattr(PACKET, name))
        live = LiveRegisters(k, self.packet + PACKET_REGISTERS)
        immediate = head("KIND") == KIND_IMMEDIATE
        self.staged = live("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
        per_vertex = live("VSH_NUM_ATTR.count") + 1
        listed = live("NUMVERTICES.count")
        listed = k.select((listed < 0) | (listed > VERTEX_BUDGET), VERTEX_BUDGET + 1, listed)
        self.total = k.select(immediate, k.udiv(head("IMMEDIATE_COUNT"), per_vertex), listed)
        for _ in k.when((self.start.value == 0) & (self.stage.value == SHADE)):
            restart = head("RESTART") != 0
            mode = k.select(self.staged, live("GSH_MISC0.mode"), self.unit("MODE"))
            for _ in k.when(restart | self.staged):  # geometry programs emit whole triangles
                self.put("CARRY", 0)
                self.put("CARRY_PARITY", 0)
            self.put("CARRIED", self.get("CARRY"))
            self.put("ASSEMBLED", 0)
            for _ in k.when(restart | (mode != self.unit("MODE"))):
                self.empty_unit()
            self.put_unit("MODE", mode)
            k.store(I32, self.packet + PACKET.FIRST_TRIANGLE, self.get("TRIANGLES"))
            k.store(I32, self.packet + PACKET.LAST_TRIANGLE, self.get("TRIANGLES"))
            vertices = self.get("VERTICES") + self.total
            self.put("VERTICES", vertices)
            for _ in k.when(vertices > VERTEX_BUDGET):
                self.status.value = TOO_MANY

    def begin_piece(self) -> None:
        k = self.k
        self.piece = k.min(self.total - self.start.value, k.select(self.staged, GEOMETRY_PIECE, MAX_PIECE))
        self.put("PIECE", self.piece)
        self.put("VERTEX_START", self.start.value)

    def shade(self, kernel: Value) -> None:
        k, get = self.k, self.get
        for _ in k.when((self.stage.value == SHADE) & (self.status.value == DONE)):
            self.put("NAN_PRODUCTS", 0)
            self.put("PIECE_VERTICES", 0)
            self.put_unit("STARTED", 0)
            for _ in k.when(self.piece > 0):
                program = k.load(I64, self.packet + PACKET.PROGRAM)
                k.invoke(kernel, self.packet, self.start.value, self.piece, program)
            inexact = k.select(get("NAN_PRODUCTS") != 0, INEXACT, DONE)
            self.status.value = k.select(get("HANG") != 0, HUNG, inexact)
            for _ in k.when(self.status.value == DONE):
                self.stage.value = SHADED

    def run_geometry(self, kernel: Value) -> None:
        """The geometry program, for packets that have one."""
        k, get = self.k, self.get
        for _ in k.when((self.stage.value == SHADED) & (self.status.value == DONE)):
            self.put("ASSEMBLE_COUNT", self.piece)
            self.put("NEXT_PRIMITIVE", 0)
            for _ in k.when(self.staged):
                k.invoke(kernel, self.packet, self.start.value)
                many = k.select(get("EMITTED") > VERTEX_BUDGET, TOO_MANY, DONE)
                self.status.value = k.select(get("HANG") != 0, HUNG, many)
            for _ in k.when(self.status.value == DONE):
                self.stage.value = ASSEMBLE

    def assemble(self, kernel: Value) -> None:
        """Assemble primitives, and go on to the next piece or entry unless the triangle area is full."""
        k = self.k
        for _ in k.when((self.stage.value == ASSEMBLE) & (self.status.value == DONE)):
            assembled = self.get("ASSEMBLE_COUNT")
            for _ in k.when(assembled > 0):
                k.invoke(kernel, self.packet, assembled)
            k.store(I32, self.packet + PACKET.LAST_TRIANGLE, self.get("TRIANGLES"))
            full = (self.get("NEXT_PRIMITIVE") >= 0) & (assembled > 0)
            more = ~full & self.staged & (self.unit("MORE") != 0)
            for _ in k.when(full):
                self.status.value = FULL
            for _ in k.when(more):
                self.stage.value = SHADED
            for _ in k.when(~(full | more)):
                self.stage.value = SHADE
                self.start.value = self.start.value + self.piece
                for _ in k.when(self.start.value >= self.total):
                    self.entry.value = self.entry.value + 1
                    self.start.value = 0


@kernel(count=I32, shade=I64, geometry=I64, assemble=I64)
def run_vertices(
    k: Lang, count: Value, shade: Value, geometry: Value, assemble: Value, *, layout_start: int, layout_size: int
) -> None:
    """Run entries VERTEX_ENTRY .. count-1 of the run list; ends with VERTEX_STATUS set.

    FULL: rasterise the entries up to VERTEX_ENTRY, empty the triangle area, call again. INEXACT: the current piece
    (PIECE vertices from VERTEX_START) must be shaded exactly; then set VERTEX_STAGE to SHADED and call again.
    `geometry` is only called for packets with a geometry shader.
    """
    run = _Pieces(k, WorkLayout(layout_start, layout_size))
    for _ in k.loop(lambda: (run.entry.value < count) & (run.status.value == DONE)):
        run.begin_draw()
        run.begin_piece()
        run.shade(shade)
        run.run_geometry(geometry)
        run.assemble(assemble)
    for _ in k.when(run.status.value == HUNG):
        run.empty_unit()
    run.put("VERTEX_ENTRY", run.entry.value)
    run.put("VERTEX_START", run.start.value)
    run.put("VERTEX_STAGE", run.stage.value)
    run.put("VERTEX_STATUS", run.status.value)
