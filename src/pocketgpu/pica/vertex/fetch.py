"""From a draw packet to shaded vertices: indices, attribute loaders, the vertex program, output semantics.

In a draw with a geometry shader, vertices keep the outputs of the vertex program in register order; the geometry
program gives them their semantics (primitives/geometry.py).

A draw is processed in pieces of at most MAX_PIECE vertices. If a piece's indices are in a narrow range, each vertex of
the range is shaded once; otherwise every index is shaded separately.

Source: 3dbrew GPU/Internal Registers, "Geometry pipeline registers"; GBATEK for alignment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.facts.pica import ATTRIBUTES, LOADER_STEP, OUTPUT_MAPS, SHADER_REGISTERS
from pocketgpu.facts.pica_enums import ATTRIBUTE_TYPE, COMPONENT, GEOMETRY_MODE, GEOMETRY_STAGE, INDEX_TYPE, SEMANTIC
from pocketgpu.lanes import F32, I8, I16, I32, I64, U8, U16, Lang, Type, Value, kernel
from pocketgpu.pica.core.addresses import locate
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    CHUNK,
    GEOMETRY,
    KIND_IMMEDIATE,
    OUTPUTS_SIZE,
    PACKET,
    PACKET_REGISTERS,
    PLAN_ENTRY,
    VERTEX_FLOATS,
    VERTEX_SIZE,
    WorkLayout,
)
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.registers import LiveRegisters, field, nibble_of, part, register_id
from pocketgpu.struct_words import Struct

# The source of one attribute's input register. TYPE: as in the register, or CONSTANT: four floats at START.
PLAN = Struct("DEST", "TYPE", "COUNT", "START", "STRIDE", "ROOM", "SIZE")
assert PLAN.size <= PLAN_ENTRY
_TYPES: list[Type] = ATTRIBUTE_TYPE.in_order({"S8": I8, "U8": U8, "S16": I16, "F32": F32})
CONSTANT = len(_TYPES)
ROW = 4 * CHUNK
ONES_ROW = 64
_COLORS = range(SEMANTIC.COLOR_R, SEMANTIC.COLOR_A + 1)
_OFFSET = field("ATTRIBBUFFER0_OFFSET.offset")
_STRIDE, _USED = (field(f"ATTRIBBUFFER0_CONFIG2.{name}") for name in ("stride", "count"))
_COMPONENT = field("ATTRIBBUFFER0_CONFIG1.component1")
_TYPE, _SIZE = (field(f"ATTRIBBUFFERS_FORMAT_LOW.{name}0") for name in ("type", "size"))
_INPUT = field("VSH_ATTRIBUTES_PERMUTATION_LOW.input0")


class _Fetch:
    def __init__(self, k: Lang, layout: WorkLayout, packet: Value, choices: Mapping[str, str]) -> None:
        self.k, self.layout, self.packet, self.choices = k, layout, packet, choices
        self.alignment = choices.get("vertex.alignment", "element")
        self.live = LiveRegisters(k, packet + PACKET_REGISTERS)
        self.plans = k.var(0)

    def head(self, name: str) -> Value:
        return self.k.load(I32, self.packet + getattr(PACKET, name))

    def version(self, bank: str) -> Value:
        return self.k.load(I32, self.packet + (PACKET.VERSIONS + 4 * BANK_INDEX[bank]))

    # -- which vertices -----------------------------------------------------------------------------------------
    def sequence(self, count: Value) -> None:
        """Shade vertices 0..count-1 of the piece, each in its own slot."""
        k, layout = self.k, self.layout
        for i in k.range(0, count, k.lanes):
            n = k.iota() + i
            k.store(I32, k.to_i64(i << 2) + layout.shade_list, n)
            k.store(I32, k.to_i64(i << 2) + layout.slot_list, n)

    def indices(self, start: Value, entries: Value, variable: Value) -> tuple[Value, Value, Value]:
        """Read entries of the index buffer; returns (lowest index, number of vertices to shade, number of indices).

        variable: the index buffer has the vertex count of each primitive before its indices.
        """
        k, layout, live = self.k, self.layout, self.live
        wide = live("INDEXBUFFER_CONFIG.type") == INDEX_TYPE.U16
        shift = k.select(wide, 1, 0)
        address = live.bytes("ATTRIBBUFFERS_LOC.base") + live("INDEXBUFFER_CONFIG.offset") + (start << shift)
        offset, room = locate(k, layout, address)
        offset = offset & ~shift
        lowest, highest = k.var(k.splat(0x7FFFFFFF)), k.var(k.splat(0))
        for i in k.range(0, entries, k.lanes):
            n = k.iota() + i
            # An index outside memory reads as 0.
            inside = ((n + 1) << shift) <= room
            at = (n << shift) + offset
            value = k.branch(wide, lambda: k.gather(U16, at, inside), lambda: k.gather(U8, at, inside))
            for _ in k.when(~k.all(inside | (n >= entries))):
                k.store(I32, layout.control + C.VERTEX_FAULTS, 1)
            k.store(I32, k.to_i64(i << 2) + layout.slot_list, value)
            used = n < entries
            lowest.value = k.select(used, k.min(value, lowest.value), lowest.value)
            highest.value = k.select(used, k.max(value, highest.value), highest.value)
        plain = lambda: (k.reduce("min", lowest.value), k.reduce("max", highest.value), entries)
        low, high, count = k.branch(variable, lambda: self.split(entries), plain)
        narrow = (high - low) < count
        for i in k.range(0, count, k.lanes):
            place = k.to_i64(i << 2)
            relative = k.load(I32, place + layout.slot_list, lanes=k.lanes) - low
            k.store(I32, place + layout.shade_list, k.select(narrow, k.iota() + i, relative))
            k.store(I32, place + layout.slot_list, k.select(narrow, relative, k.iota() + i))
        return low, k.select(narrow, high - low + 1, count), count

    def split(self, entries: Value) -> tuple[Value, Value, Value]:
        """Remove the sizes of primitives from the slot list; returns (lowest, highest, number) of the remaining
        indices.

        The size of each primitive that begins here goes to the list of sizes. A primitive of size 0 is skipped.
        """
        k, layout = self.k, self.layout
        at = lambda name: layout.geometry + int(getattr(GEOMETRY, name))
        owed, size = k.var(k.load(I32, at("OWED"))), k.var(k.load(I32, at("SIZE")))
        low, high, count, begun = k.var(0x7FFFFFFF), k.var(0), k.var(0), k.var(0)
        for i in k.range(0, entries):
            value = k.load(I32, k.to_i64(i << 2) + layout.slot_list)
            vertex = owed.value != 0
            for _ in k.when(~vertex):
                owed.value = value
                size.value = value
            for _ in k.when(vertex):
                for _ in k.when(owed.value == size.value):
                    k.store(I32, k.to_i64(begun.value << 2) + layout.geometry_sizes, size.value)
                    begun.value = begun.value + 1
                owed.value = owed.value - 1
                k.store(I32, k.to_i64(count.value << 2) + layout.slot_list, value)
                count.value = count.value + 1
                low.value = k.min(low.value, value)
                high.value = k.max(high.value, value)
        k.store(I32, at("OWED_AFTER"), owed.value)
        k.store(I32, at("SIZE_AFTER"), size.value)
        some = count.value > 0
        return k.select(some, low.value, 0), k.select(some, high.value, -1), count.value

    # -- where their attributes are -------------------------------------------------------------------------------
    def add(self, **words: Value | int) -> None:
        k = self.k
        at = k.to_i64(self.plans.value * PLAN_ENTRY) + self.layout.plan
        for name, value in words.items():
            k.store(I32, at + getattr(PLAN, name), value)
        self.plans.value = self.plans.value + 1

    def permuted(self, attribute: Value) -> Value:
        """Input row of an attribute: 4 * register."""
        k, live = self.k, self.live
        low, high = live.word("VSH_ATTRIBUTES_PERMUTATION_LOW"), live.word("VSH_ATTRIBUTES_PERMUTATION_HIGH")
        return part(nibble_of(k, attribute, low, high), _INPUT) << 2

    def plan_constants(self) -> None:
        k, live = self.k, self.live
        mask, last = live("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask"), live("VSH_INPUTBUFFER_CONFIG.count")
        for a in k.range(0, ATTRIBUTES):
            for _ in k.when(((mask.lsr(a) & 1) != 0) & (a <= last)):
                source = self.version("fixed_attributes") + (a << 4)
                self.add(DEST=self.permuted(a), TYPE=CONSTANT, COUNT=4, START=source, STRIDE=0, ROOM=0, SIZE=1)

    def plan_loaders(self, low: Value) -> None:
        """Walk the twelve loaders' component lists. `low` is the first vertex number that is read."""
        k, live, layout = self.k, self.live, self.layout
        base, last = live.bytes("ATTRIBBUFFERS_LOC.base"), live("VSH_INPUTBUFFER_CONFIG.count")
        formats = [live.word("ATTRIBBUFFERS_FORMAT_LOW"), live.word("ATTRIBBUFFERS_FORMAT_HIGH")]
        fixed_wins = "vertex.fixed_and_loaded" in self.choices
        first_wins = "vertex.repeated_attribute" in self.choices
        # A bit for each attribute that already has a value and must not be loaded.
        mask = live("ATTRIBBUFFERS_FORMAT_HIGH.fixed_mask") if fixed_wins else 0
        provided = k.var(mask) if fixed_wins or first_wins else None
        for loader in k.range(0, ATTRIBUTES):
            first = loader * LOADER_STEP + register_id("ATTRIBBUFFER0_OFFSET")
            offset = part(live.word(first), _OFFSET)
            config1, config2 = live.word(first + 1), live.word(first + 2)
            stride, count = part(config2, _STRIDE), k.min(part(config2, _USED), ATTRIBUTES)
            o = k.var(0)
            for c in k.range(0, count):
                code = part(nibble_of(k, c, config1, config2), _COMPONENT)
                for _ in k.when(code >= COMPONENT.SKIP_4):
                    here = o.value if self.alignment == "address" else (o.value + 3) & ~3
                    o.value = here + ((code - (COMPONENT.SKIP_4 - 1)) << 2)
                for _ in k.when(code < COMPONENT.SKIP_4):
                    f = nibble_of(k, code, *formats)
                    kind, components = part(f, _TYPE), part(f, _SIZE) + 1
                    size = k.select(kind < ATTRIBUTE_TYPE.S16, 1, k.select(kind == ATTRIBUTE_TYPE.S16, 2, 4))
                    if self.alignment == "element":
                        o.value = (o.value + (size - 1)) & ~(size - 1)
                    wanted = code <= last
                    if provided is not None:
                        wanted = wanted & ((provided.value.lsr(code) & 1) == 0)
                    for _ in k.when(wanted):
                        if first_wins and provided is not None:
                            provided.value = provided.value | (k.i32(1) << code)
                        # 64 bits, so that a very large first vertex is outside memory instead of wrapping into it.
                        far = k.to_i64(low, signed=False) * k.to_i64(stride)
                        far = far + k.to_i64(base + offset + o.value, signed=False)
                        sane = far.below(k.i64(1 << 32))
                        start, room = locate(k, layout, k.low32(far))
                        self.add(
                            DEST=self.permuted(code), TYPE=kind, COUNT=components, START=start, STRIDE=stride,
                            ROOM=k.select(sane, room - size * components, -1),
                            SIZE=1 if self.alignment == "padding" else size,
                        )  # fmt: skip
                    o.value = o.value + size * components

    def plan_immediate(self, start: Value, attributes: Value) -> None:
        k = self.k
        data = self.head("IMMEDIATE_DATA") + start * attributes * 16
        for a in k.range(0, attributes):
            row = a << 2 if "vertex.immediate_inputs" in self.choices else self.permuted(a)
            self.add(DEST=row, TYPE=ATTRIBUTE_TYPE.F32, COUNT=4, START=data + (a << 4), STRIDE=attributes << 4,
                     ROOM=0x7FFFFFFF, SIZE=4)  # fmt: skip

    # -- reading them ---------------------------------------------------------------------------------------------
    def load_attributes(self, chunk: Value, count: Value) -> None:
        """Fill the input rows for `count` vertices of the shade list from `chunk` on."""
        k, layout = self.k, self.layout
        for p in k.range(0, self.plans.value):
            entry = k.to_i64(p * PLAN_ENTRY) + layout.plan
            get = lambda name, entry=entry: k.load(I32, entry + getattr(PLAN, name))
            kind, components, start, stride = get("TYPE"), get("COUNT"), get("START"), get("STRIDE")
            room, aligned = get("ROOM"), ~(get("SIZE") - 1)
            target = k.to_i64(get("DEST") * ROW) + layout.shader_in
            for v in k.range(0, count, k.lanes):
                at = k.to_i64(v << 2)
                number = k.load(I32, k.to_i64((chunk + v) << 2) + layout.shade_list, lanes=k.lanes)
                relative = number * stride
                inside = (relative <= room) & (relative >= 0)
                place = (relative + start) & aligned

                def read(t: int, place: Value = place, inside: Value = inside) -> Callable[[], tuple[Value, ...]]:
                    def body() -> tuple[Value, ...]:
                        out = []
                        for c in range(4):

                            def one(c: int = c) -> Value:
                                raw = self._gather(t, place + c * _TYPES[t].bytes, inside)
                                return raw if _TYPES[t] is F32 else k.to_f32(raw)

                            missing = k.splat(1.0 if c == 3 else 0.0, type=F32)
                            out.append(k.branch(components > c, one, lambda: missing))
                        return tuple(out)

                    return body

                def constant(start: Value = start) -> tuple[Value, ...]:
                    return tuple(k.splat(k.load(F32, k.to_i64(start) + 4 * c)) for c in range(4))

                values = k.switch(kind, [*map(read, range(len(_TYPES))), constant])
                for c, value in enumerate(values):
                    k.store(F32, target + at + c * ROW, value)
                for _ in k.when((kind != CONSTANT) & ~k.all(inside | (k.iota() + v >= count))):
                    k.store(I32, layout.control + C.VERTEX_FAULTS, 1)

    def _gather(self, t: int, place: Value, inside: Value) -> Value:
        """One component of each lane's vertex."""
        k = self.k
        if self.alignment != "padding" or _TYPES[t].bytes == 1:
            return k.gather(_TYPES[t], place, inside)
        word = k.splat(0)  # any alignment: byte by byte
        for i in range(_TYPES[t].bytes):
            word = word | (k.gather(U8, place + i, inside) << (8 * i))
        return k.bits_f32(word) if _TYPES[t] is F32 else word.bits(0, 16, signed=True)

    # -- what comes out -------------------------------------------------------------------------------------------
    def map_outputs(self) -> None:
        """Find the rows of the output registers, and the component of each semantic."""
        k, layout = self.k, self.layout
        for group in range(0, CHUNK, 8):
            k.store(F32, layout.shader_out + ONES_ROW * ROW + 4 * group, k.fit(1.0, F32, 8))
        self.enabled = map_semantics(k, layout, self.live, self.live("VSH_OUTMAP_MASK.mask"), layout.output_map, ROW)

    def store_vertices(self, chunk: Value, count: Value) -> None:
        """Transpose output rows into vertex records."""
        k, layout = self.k, self.layout
        rows = [k.to_i64(k.load(I32, layout.output_map + 4 * s)) + layout.shader_out for s in range(VERTEX_FLOATS)]
        for v in k.range(0, count, k.lanes):
            at = k.to_i64(v << 2)
            record = (k.iota() + (chunk + v)) * VERTEX_SIZE + layout.vertices
            for s, row in enumerate(rows):
                value = k.load(F32, row + at, lanes=k.lanes)
                if s in _COLORS:  # absolute value, at most 1, before interpolation
                    value = k.min(k.abs(value), 1.0)
                k.scatter(F32, record + 4 * s, value)

    def store_outputs(self, chunk: Value, count: Value) -> None:
        """Transpose the rows of all outputs that leave the vertex program into records of 16 bytes per register."""
        k, layout = self.k, self.layout
        for a in k.range(0, self.live("VSH_OUTMAP_TOTAL1.count") + 1):
            enabled = a < self.enabled
            register = k.select(enabled, k.load(I32, k.to_i64(a << 2) + layout.output_registers), 0)
            row = k.to_i64(register * (4 * ROW)) + layout.shader_out
            for v in k.range(0, count, k.lanes):
                record = (k.iota() + (chunk + v)) * OUTPUTS_SIZE + ((a << 4) + layout.geometry_outputs)
                for c in range(4):
                    value = k.load(F32, row + k.to_i64(v << 2) + c * ROW, lanes=k.lanes)
                    k.scatter(F32, record + 4 * c, k.select(enabled, value, 0.0))


def map_semantics(k: Lang, layout: WorkLayout, live: LiveRegisters, mask: Value, table: int, row: int) -> Value:
    """Fill a table: for each semantic the row of the output component that holds it, times `row`; the row of ones for
    unmapped semantics. mask: the used output registers, which are listed too; returns their number."""
    for s in range(VERTEX_FLOATS):
        k.store(I32, table + 4 * s, ONES_ROW * row)
    n = k.var(0)
    for i in k.range(0, SHADER_REGISTERS):
        for _ in k.when((mask.lsr(i) & 1) != 0):
            k.store(I32, k.to_i64(n.value << 2) + layout.output_registers, i)
            n.value = n.value + 1
    total = k.min(live("SH_OUTMAP_TOTAL.count"), k.min(n.value, OUTPUT_MAPS))
    for a in k.range(0, total):
        word = live.word(a + register_id("SH_OUTMAP_O0"))
        register = k.load(I32, k.to_i64(a << 2) + layout.output_registers)
        for c, axis in enumerate("xyzw"):
            semantic = part(word, field(f"SH_OUTMAP_O0.{axis}"))
            for _ in k.when(semantic < VERTEX_FLOATS):
                k.store(I32, k.to_i64(semantic << 2) + table, ((register << 2) + c) * row)
    return n.value


@kernel(packet=I64, start=I32, count=I32, program=I64)
def shade_vertices(k: Lang, packet: Value, start: Value, count: Value, program: Value,
                   *, layout_start: int, layout_size: int,
                   choices: tuple[tuple[str, str], ...] = ()) -> None:  # fmt: skip
    """Shade a piece of a draw (primitive vertices start .. start+count-1) with the program of a handle.

    Leaves records in the vertex area (all outputs in a separate area if a geometry shader follows), the slot of each
    primitive vertex in the slot list, and their number in PIECE_VERTICES. The shade list then has the numbers of the
    vertices, counted from LOWEST_VERTEX.
    """
    layout = WorkLayout(layout_start, layout_size)
    fetch = _Fetch(k, layout, packet, dict(choices))
    kind = fetch.head("KIND")
    attributes = fetch.live("VSH_NUM_ATTR.count") + 1
    geometry = fetch.live("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
    variable = geometry & (fetch.live("GSH_MISC0.mode") == GEOMETRY_MODE.VARIABLE)
    # Only index buffers can contain the vertex counts of primitives.
    plain = k.select(variable, 0, count)

    def arrays() -> tuple[Value, ...]:
        fetch.sequence(plain)
        return fetch.live("VERTEX_OFFSET.first") + start, plain, plain

    def elements() -> tuple[Value, ...]:
        return fetch.indices(start, count, variable)

    def immediate() -> tuple[Value, ...]:
        fetch.sequence(plain)
        return k.i32(0), plain, plain

    low, shaded, named = k.switch(kind, [arrays, elements, immediate])
    for i in k.range(0, 64 * CHUNK, k.lanes):
        zero = k.splat(0.0, type=F32)
        k.store(F32, k.to_i64(i << 2) + layout.shader_in, zero)
        k.store(F32, k.to_i64(i << 2) + layout.shader_out, zero)
    for _ in k.when(kind == KIND_IMMEDIATE):
        fetch.plan_immediate(start, attributes)
    for _ in k.when(kind != KIND_IMMEDIATE):
        fetch.plan_constants()
        fetch.plan_loaders(low)
    fetch.map_outputs()
    uniforms = k.to_i64(fetch.version("vs_uniforms"))
    inputs, outputs = k.i64(layout.shader_in), k.i64(layout.shader_out)
    for chunk in k.range(0, shaded, CHUNK):
        for _ in k.when(k.load(I32, layout.control + C.HANG) == 0):
            n = k.min(shaded - chunk, CHUNK)
            fetch.load_attributes(chunk, n)
            k.invoke(program, inputs, outputs, uniforms, packet, n)
            for _ in k.when(geometry):
                fetch.store_outputs(chunk, n)
            for _ in k.when(~geometry):
                fetch.store_vertices(chunk, n)
    k.store(I32, layout.control + C.SHADE_COUNT, shaded)
    k.store(I32, layout.control + C.LOWEST_VERTEX, low)
    k.store(I32, layout.control + C.PIECE_VERTICES, named)
