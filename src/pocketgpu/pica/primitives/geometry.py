"""The geometry stage: shaded vertices become primitives, and the geometry program turns each into triangles.

Vertices reach the program in one of three ways. In *point* mode their outputs are queued until all input registers are
filled. In the other two modes they are stored to float uniforms: in *fixed* mode a fixed number of vertices, in
*variable* mode as many as the index list says, with all outputs of the first ones and the position (output 0) of the
others. A primitive overwrites the uniforms that the one before it stored, and no others. So each primitive gets a copy
of the uniforms, and many run in parallel in the lanes.

Emitted vertices are records in the vertex area, linked in a chain for each primitive. After all programs have run, the
chains are followed in the order of the primitives. Each record goes to one of the emission buffers; where SETEMIT
requested a triangle, the first three buffers go to assembly. Unfinished primitives of a draw wait for the next draw,
until a restart.

Source: 3dbrew GPU/Internal Registers and GPU/Shader Instruction Set (EMIT, SETEMIT); the layout of GSH_MISC0 and the
two ways through uniforms as in one public simulator.
"""

from __future__ import annotations

from pocketgpu.facts.pica import FLOAT_UNIFORMS, SHADER_REGISTERS
from pocketgpu.facts.pica_enums import GEOMETRY_MODE, SEMANTIC
from pocketgpu.facts.shader_isa import EMITTED
from pocketgpu.lanes import BOOL, F32, I32, I64, Lang, Value, Var, kernel
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    CHUNK,
    EMIT_MASK,
    EMIT_ONES,
    EMIT_ROW,
    EMIT_SLOTS,
    EMIT_STATE,
    GEOMETRY,
    MAX_PIECE,
    MAX_RECORDS,
    MOST_LANES,
    OUTPUTS_SIZE,
    PACKET,
    PACKET_REGISTERS,
    UNIFORMS_SIZE,
    VERTEX_FLOATS,
    VERTEX_SIZE,
    WorkLayout,
)
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.registers import LiveRegisters, field, nibble_of, part, register_id
from pocketgpu.pica.vertex.fetch import map_semantics

# After the semantics of an emitted vertex: the word of SETEMIT, the record of the primitive's next vertex.
RECORD_STATE, RECORD_NEXT = 4 * 30, 4 * 31
assert 4 * VERTEX_FLOATS <= RECORD_STATE < RECORD_NEXT < VERTEX_SIZE
# More than a program can emit before it counts as a hang, so that one primitive always fits.
MOST_EMITTED = MAX_RECORDS
COLORS = range(SEMANTIC.COLOR_R, SEMANTIC.COLOR_A + 1)
_BOOL15 = 1 << 15
_INPUT = field("GSH_ATTRIBUTES_PERMUTATION_LOW.input0")
_TAILS = 4 * (CHUNK + MOST_LANES)


class _GeometryStage:
    """The stage during a piece of a draw; its state is in the work area, because the stage returns and resumes."""

    def __init__(self, k: Lang, layout: WorkLayout, packet: Value) -> None:
        self.k, self.layout, self.packet = k, layout, packet
        self.live = LiveRegisters(k, packet + PACKET_REGISTERS)
        self.mode = self.live("GSH_MISC0.mode")
        self.outputs = self.live("VSH_OUTMAP_TOTAL1.count") + 1

    def at(self, name: str) -> int:
        return self.layout.geometry + int(getattr(GEOMETRY, name))

    def get(self, name: str) -> Value:
        return self.k.load(I32, self.at(name))

    def put(self, name: str, value: Value | int) -> None:
        self.k.store(I32, self.at(name), value)

    def version(self, bank: str) -> Value:
        return self.k.load(I32, self.packet + (PACKET.VERSIONS + 4 * BANK_INDEX[bank]))

    def copy(self, source: Value | int, target: Value | int, size: int) -> None:
        """Copy bytes; `size` is a multiple of 16."""
        k = self.k
        step = 8 if size % 32 == 0 else 4
        for i in k.range(0, size, 4 * step):
            at = k.to_i64(i)
            k.store(I32, at + target, k.load(I32, at + source, lanes=step))

    # -- start of a draw, of a piece ------------------------------------------------------------------------------
    def begin_draw(self) -> None:
        """Load the uniforms that were uploaded since the unit last ran; primitives may have changed the others."""
        k, layout = self.k, self.layout
        uniforms, marks = (k.to_i64(self.version(name)) for name in ("gs_uniforms", "gs_uniform_marks"))
        for i in k.range(0, FLOAT_UNIFORMS):
            at = k.to_i64(i << 2)
            mark = k.load(I32, at + marks)
            for _ in k.when(mark != k.load(I32, at + layout.geometry_marks)):
                k.store(I32, at + layout.geometry_marks, mark)
                value = k.load(I32, k.to_i64(i << 4) + uniforms, lanes=4)
                k.store(I32, k.to_i64(i << 4) + layout.geometry_uniforms, value)
        written = k.load(I32, self.packet + PACKET.GS_BOOLS)
        for _ in k.when(written != self.get("SEEN_BOOLS")):
            self.put("SEEN_BOOLS", written)
            self.put("BOOL15", 0)
        self.fill(layout.geometry_in, 4 * 64 * CHUNK, 0.0)
        self.fill(layout.emission + EMIT_ROW * EMIT_ONES, EMIT_ROW, 1.0)

    def fill(self, start: int, size: int, value: float) -> None:
        k = self.k
        for i in k.range(0, size, 32):
            k.store(F32, k.to_i64(i) + start, k.fit(value, F32, 8))

    def begin_piece(self) -> None:
        """Keep the piece's slots, because assembly overwrites the list, and put the program's registers where a vertex
        program has them."""
        k, layout = self.k, self.layout
        for name in ("VERTEX", "PRIMITIVE", "READY", "RUN", "COLLECT", "COLLECT_END"):
            self.put(name, 0)
        self.put("LINK", -1)
        self.put("LIMIT", CHUNK)
        self.put("STARTED", 1)
        for name in ("OWED", "SIZE"):
            for _ in k.when(self.mode == GEOMETRY_MODE.VARIABLE):
                self.put(name, self.get(f"{name}_AFTER"))
        for i in k.range(0, k.load(I32, layout.control + C.PIECE_VERTICES), 8):
            at = k.to_i64(i << 2)
            k.store(I32, at + layout.geometry_slots, k.load(I32, at + layout.slot_list, lanes=8))
        own, shown = (register_id(f"{unit}SH_BOOLUNIFORM") for unit in "GV")
        registers = layout.geometry_packet + PACKET_REGISTERS
        self.copy(self.packet + (PACKET_REGISTERS + 4 * own), registers + 4 * shown, 4 * 16)
        for bank in ("code", "opdescs"):
            place = layout.geometry_packet + PACKET.VERSIONS + 4 * BANK_INDEX[f"vs_{bank}"]
            k.store(I32, place, self.version(f"gs_{bank}"))
        map_semantics(k, layout, self.live, self.live("GSH_OUTMAP_MASK.mask"), layout.emission_map, EMIT_ROW)
        self.fill(layout.emission, EMIT_ROW * EMIT_ONES, 0.0)

    # -- gathering ------------------------------------------------------------------------------------------------
    def gather(self) -> None:
        """Make primitives of the piece's vertices, as many as run in parallel."""
        k = self.k
        ways = {"POINT": self.gather_points, "VARIABLE": self.gather_variable, "FIXED": self.gather_fixed}
        k.switch(self.mode, GEOMETRY_MODE.in_order(ways))

    def output(self, vertex: Value, number: Value) -> Value:
        """An output register of a vertex of the piece: four floats."""
        k, layout = self.k, self.layout
        slot = k.load(I32, k.to_i64(vertex << 2) + layout.geometry_slots)
        place = slot * OUTPUTS_SIZE + (number << 4) + layout.geometry_outputs
        return k.load(F32, k.to_i64(place), lanes=4)

    def gather_points(self) -> None:
        k, layout = self.k, self.layout
        inputs = self.live("GSH_INPUTBUFFER_CONFIG.count") + 1
        names = [self.live.word(f"GSH_ATTRIBUTES_PERMUTATION_{half}") for half in ("LOW", "HIGH")]
        end = k.load(I32, layout.control + C.PIECE_VERTICES)
        vertex, ready, filled = k.var(self.get("VERTEX")), k.var(k.i32(0)), k.var(self.get("FILLED"))
        # The last vertex may complete a primitive with each of its outputs.
        for _ in k.loop(lambda: (vertex.value < end) & (ready.value <= CHUNK - SHADER_REGISTERS)):
            for a in k.range(0, self.outputs):
                k.store(F32, k.to_i64(filled.value << 4) + layout.geometry_queue, self.output(vertex.value, a))
                filled.value = filled.value + 1
                for _ in k.when(filled.value >= inputs):
                    for i in k.range(0, inputs):
                        register = part(nibble_of(k, i, *names), _INPUT)
                        place = (register * (4 * CHUNK) + ready.value) << 2
                        value = k.load(F32, k.to_i64(i << 4) + layout.geometry_queue, lanes=4)
                        for c in range(4):
                            k.store(F32, k.to_i64(place) + (layout.geometry_in + 4 * CHUNK * c), k.lane(value, c))
                    ready.value = ready.value + 1
                    filled.value = 0
            vertex.value = vertex.value + 1
        self.gathered(vertex, ready, filled)

    def gathered(self, vertex: Var, ready: Var, filled: Var) -> None:
        self.put("VERTEX", vertex.value)
        self.put("READY", ready.value)
        self.put("FILLED", filled.value)
        self.put("RUN", 0)

    def store_uniform(self, number: Value, value: Value) -> None:
        """Store a vertex's output to a uniform; numbers after the last uniform are ignored."""
        k = self.k
        for _ in k.when(number.below(k.i32(FLOAT_UNIFORMS))):
            k.store(F32, k.to_i64(number << 4) + self.layout.geometry_uniforms, value)

    def complete(self, ready: Var, filled: Var) -> None:
        """The current uniforms become those of a finished primitive."""
        layout = self.layout
        target = self.k.to_i64(ready.value * UNIFORMS_SIZE) + layout.geometry_sets
        self.copy(layout.geometry_uniforms, target, UNIFORMS_SIZE)
        ready.value = ready.value + 1
        filled.value = 0

    def gather_fixed(self) -> None:
        k, layout, live = self.k, self.layout, self.live
        size, stride = live("GSH_MISC0.vertices") + 1, live("GSH_MISC0.attributes") + 1
        first = live("GSH_MISC0.first_uniform")
        end = k.load(I32, layout.control + C.PIECE_VERTICES)
        vertex, ready, filled = k.var(self.get("VERTEX")), k.var(k.i32(0)), k.var(self.get("FILLED"))
        for _ in k.loop(lambda: (vertex.value < end) & (ready.value < CHUNK)):
            place = first + filled.value * stride
            for a in k.range(0, self.outputs):
                self.store_uniform(place + a, self.output(vertex.value, a))
            filled.value = filled.value + 1
            for _ in k.when(filled.value >= size):
                self.complete(ready, filled)
            vertex.value = vertex.value + 1
        self.gathered(vertex, ready, filled)

    def gather_variable(self) -> None:
        k, layout = self.k, self.layout
        main = self.live("GSH_MISC1.main_vertices") + 1
        end = k.load(I32, layout.control + C.PIECE_VERTICES)
        vertex, ready, filled = k.var(self.get("VERTEX")), k.var(k.i32(0)), k.var(self.get("FILLED"))
        primitive, size, place = (k.var(self.get(name)) for name in ("PRIMITIVE", "WANTED", "PLACE"))
        for _ in k.loop(lambda: (vertex.value < end) & (ready.value < CHUNK)):
            for _ in k.when(filled.value == 0):
                size.value = k.load(I32, k.to_i64(primitive.value << 2) + layout.geometry_sizes)
                primitive.value = primitive.value + 1
                self.store_uniform(k.i32(0), k.fit(k.to_f32(size.value), F32, 4))
                place.value = k.i32(1)
            kept = k.select(filled.value < main, self.outputs, 1)
            for a in k.range(0, kept):
                self.store_uniform(place.value + a, self.output(vertex.value, a))
            place.value = place.value + kept
            filled.value = filled.value + 1
            for _ in k.when(filled.value >= size.value):
                self.complete(ready, filled)
            vertex.value = vertex.value + 1
        for name, var in (("PRIMITIVE", primitive), ("WANTED", size), ("PLACE", place)):
            self.put(name, var.value)
        self.gathered(vertex, ready, filled)

    # -- running --------------------------------------------------------------------------------------------------
    def run(self, set_bool15: bool) -> None:
        """Run the program on the primitives from RUN on; on fewer of them when they emit too much."""
        k, layout = self.k, self.layout
        first = self.get("RUN")
        number = register_id("GSH_BOOLUNIFORM")
        bools = self.live.word(number)
        count = k.min(self.get("READY") - first, self.get("LIMIT"))
        if set_bool15:
            # Perhaps only the first primitive finds boolean 15 cleared.
            alone = (self.get("BOOL15") == 0) & ((bools & _BOOL15) == 0)
            count = k.select(alone, 1, count)
            bools = k.select(self.get("BOOL15") != 0, bools | _BOOL15, bools)
        shown = layout.geometry_packet + PACKET_REGISTERS + 4 * register_id("VSH_BOOLUNIFORM")
        k.store(I32, shown, bools)
        for i in k.range(0, count):
            k.store(I32, k.to_i64(i << 2) + layout.geometry_lists, -1)
        self.put("TOP", 0)
        sets = k.to_i64(first * UNIFORMS_SIZE) + layout.geometry_sets
        uniforms = k.select(self.mode == GEOMETRY_MODE.POINT, k.i64(layout.geometry_uniforms), sets)
        k.invoke(
            k.load(I64, self.packet + PACKET.GEOMETRY), k.to_i64(first << 2) + layout.geometry_in, uniforms,
            k.i64(layout.geometry_packet), count, k.load(I64, self.at("EMIT")),
        )  # fmt: skip
        emitted = self.get("TOP")
        again = (emitted > MOST_EMITTED) & (count > 1)
        for _ in k.when(again):
            self.put("LIMIT", count.lsr(1))
        for _ in k.when(~again):
            self.put("RUN", first + count)
            self.put("COLLECT", 0)
            self.put("COLLECT_END", count)
            if set_bool15:
                self.put("BOOL15", 1)
            total = layout.control + C.EMITTED  # primitives count too: a program may emit nothing
            k.store(I32, total, k.load(I32, total) + emitted + count)

    # -- collecting -----------------------------------------------------------------------------------------------
    def keep_buffers(self) -> None:
        """Move the contents of the emission buffers away from the records of the next vertices."""
        k = self.k
        for i in range(EMIT_SLOTS):
            held = k.load(I32, self.at("EMIT_BUFFERS") + 4 * i)
            for _ in k.when(held < MAX_RECORDS):
                source = k.to_i64(held * VERTEX_SIZE) + self.layout.vertices
                self.copy(source, self.layout.vertices + VERTEX_SIZE * (MAX_RECORDS + i), VERTEX_SIZE)
                k.store(I32, self.at("EMIT_BUFFERS") + 4 * i, MAX_RECORDS + i)

    def collect(self, buffers: int, reverse: bool) -> Value:
        """Follow the chains of emitted vertices and list their triangles; returns the number of slots used."""
        k, layout = self.k, self.layout
        primitive, end = k.var(self.get("COLLECT")), self.get("COLLECT_END")
        link, slots = k.var(self.get("LINK")), k.var(k.i32(0))
        held = lambda i: k.load(I32, self.at("EMIT_BUFFERS") + 4 * i)
        left = lambda: (link.value >= 0) | (primitive.value < end)
        for _ in k.loop(lambda: left() & (slots.value <= MAX_PIECE - 3)):
            for _ in k.when(link.value < 0):
                link.value = k.load(I32, k.to_i64(primitive.value << 2) + layout.geometry_lists)
                primitive.value = primitive.value + 1
            for _ in k.when(link.value >= 0):
                record = k.to_i64(link.value * VERTEX_SIZE) + layout.vertices
                state = k.load(I32, record + RECORD_STATE)
                buffer = state.bits(*EMITTED.fields["vertex"])
                there = buffer < buffers  # vertices for a buffer that does not exist are dropped
                for _ in k.when(there):
                    k.store(I32, k.to_i64(buffer << 2) + self.at("EMIT_BUFFERS"), link.value)
                for _ in k.when(there & ((state & EMITTED.mask("primitive")) != 0)):
                    turned = (state & EMITTED.mask("winding")) != 0
                    a, b, c = (held(i) for i in range(3))
                    order = (c, b, a) if reverse else (b, a, c)
                    for i, (plain, other) in enumerate(zip((a, b, c), order, strict=True)):
                        place = k.to_i64(slots.value << 2) + (layout.slot_list + 4 * i)
                        k.store(I32, place, k.select(turned, other, plain))
                    slots.value = slots.value + 3
                link.value = k.load(I32, record + RECORD_NEXT)
        self.put("COLLECT", primitive.value)
        self.put("LINK", link.value)
        return slots.value


@kernel(first=I32, count=I32)
def emit_vertices(k: Lang, first: Value, count: Value, *, layout_start: int, layout_size: int) -> None:
    """Turn the emitting lanes' output registers into vertex records, chained for each primitive (`first` is the first
    lane's primitive). Vertices that do not fit are only counted."""
    layout = WorkLayout(layout_start, layout_size)
    top = k.var(k.load(I32, layout.geometry + GEOMETRY.TOP))
    for lane in k.range(0, count):
        at = k.to_i64(lane << 2) + layout.emission
        for _ in k.when(k.load(I32, at + EMIT_ROW * EMIT_MASK) != 0):
            for _ in k.when(top.value < MOST_EMITTED):
                record = k.to_i64(top.value * VERTEX_SIZE) + layout.vertices
                for group in range(0, VERTEX_FLOATS, 8):
                    rows = k.load(I32, layout.emission_map + 4 * group, lanes=8)
                    value = k.gather(F32, rows + k.low32(at))
                    if group == COLORS.start:  # as with vertex programs: absolute value, at most 1
                        color = k.pattern_of([group + i in COLORS for i in range(8)], BOOL)
                        value = k.select(color, k.min(k.abs(value), 1.0), value)
                    k.store(F32, record + 4 * group, value)
                k.store(I32, record + RECORD_STATE, k.load(I32, at + EMIT_ROW * EMIT_STATE))
                k.store(I32, record + RECORD_NEXT, -1)
                chain = k.to_i64((first + lane) << 2) + layout.geometry_lists
                for _ in k.when(k.load(I32, chain) < 0):
                    k.store(I32, chain, top.value)
                    k.store(I32, chain + _TAILS, top.value)
                last = k.load(I32, chain + _TAILS)
                for _ in k.when(last != top.value):
                    k.store(I32, k.to_i64(last * VERTEX_SIZE) + (layout.vertices + RECORD_NEXT), top.value)
                    k.store(I32, chain + _TAILS, top.value)
            top.value = top.value + 1
    k.store(I32, layout.geometry + GEOMETRY.TOP, top.value)


@kernel(packet=I64, start=I32)
def geometry_step(
    k: Lang, packet: Value, start: Value,
    *, buffers: int, reverse: bool, set_bool15: bool, layout_start: int, layout_size: int,
) -> None:  # fmt: skip
    """Process the shaded piece of a draw (its vertices from `start` on) until there are triangles to assemble.

    Leaves records in the vertex area, slots in the slot list, their number in ASSEMBLE_COUNT; MORE is 1 until the piece
    is finished. STARTED must be 0 for a new piece. Stops with HANG when the program does not end.
    """
    layout = WorkLayout(layout_start, layout_size)
    stage = _GeometryStage(k, layout, packet)
    get = stage.get
    control = lambda name: k.load(I32, layout.control + getattr(C, name))
    for _ in k.when(get("STARTED") == 0):
        for _ in k.when(start == 0):
            stage.begin_draw()
        stage.begin_piece()
    collecting = lambda: (get("LINK") >= 0) | (get("COLLECT") < get("COLLECT_END"))
    running = lambda: get("RUN") < get("READY")
    more = lambda: collecting() | running() | (get("VERTEX") < control("PIECE_VERTICES"))
    slots = k.var(k.i32(0))
    for _ in k.loop(lambda: more() & (slots.value == 0) & (control("HANG") == 0)):
        for _ in k.when(~collecting()):
            for _ in k.when(~running()):
                stage.gather()
            for _ in k.when(running()):
                stage.keep_buffers()
                stage.run(set_bool15)
        slots.value = stage.collect(buffers, reverse)
    k.store(I32, layout.control + C.ASSEMBLE_COUNT, slots.value)
    # The last call of a piece also moves the buffers, after everything has been assembled.
    for _ in k.when(slots.value == 0):
        stage.keep_buffers()
    stage.put("MORE", k.select(more() | (slots.value > 0), 1, 0))


__all__ = ["emit_vertices", "geometry_step"]
