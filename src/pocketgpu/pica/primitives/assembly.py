"""Primitive assembly, clipping, viewport and triangle set-up: from shaded vertices to triangle records.

Primitives are processed one at a time, with attributes in lanes (eight floats a step). A record holds edge functions in
the memory rows of the render target and, for each semantic, a plane over two of them, so the fragment side needs no
vertices. Vertices of an unfinished primitive are carried to the next draw until a restart.

Source: 3dbrew GPU/Internal Registers ("Rasterizer registers"); GBATEK for culling; rounding to 1/16 pixel and the fill
rule as the public software models have them (unverified on hardware).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pocketgpu.facts.pica_enums import CULL, GEOMETRY_STAGE, PRIMITIVE, SEMANTIC
from pocketgpu.lanes import BOOL, F32, I32, I64, Lang, Value, Var, kernel
from pocketgpu.pica.core.layout import CONTROL as C
from pocketgpu.pica.core.layout import (
    KIND_IMMEDIATE,
    MAX_FAN,
    MAX_TRIANGLES,
    PACKET,
    PACKET_REGISTERS,
    TRIANGLE,
    TRIANGLE_SIZE,
    VERTEX_FLOATS,
    VERTEX_SIZE,
    WorkLayout,
)
from pocketgpu.pica.core.registers import LiveRegisters

CHAINED = PRIMITIVE.numbers("TRIANGLE_STRIP", "TRIANGLE_FAN")
"""Modes in which a triangle shares corners with the one before."""

# Clip planes as (x, y, z, w, constant): a vertex is inside if the sum is not negative. The eighth plane is the user's.
W_EPSILON = 1e-5
DEPTH_PLANE = 4
PLANES = (
    (-1.0, 0.0, 0.0, 1.0, 0.0),
    (1.0, 0.0, 0.0, 1.0, 0.0),
    (0.0, -1.0, 0.0, 1.0, 0.0),
    (0.0, 1.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, -1.0, 0.0, 0.0),
    (0.0, 0.0, 1.0, 1.0, 0.0),
    (0.0, 0.0, 0.0, 1.0, -W_EPSILON),
    (0.0, 0.0, 0.0, 0.0, 0.0),
)
USER_PLANE = 7
PLANE_SIZE = 32
MAX_CORNERS = 12
# Window coordinates in pixels for which edge functions fit 32 bits.
WINDOW_LOW, WINDOW_HIGH = -512.0, 2047.9375
GROUPS = VERTEX_FLOATS // 8
# Pixels in the bounding boxes of triangles that one native call may rasterise: a second or two of work.
MAX_AREA = 1 << 27


class Setup:
    def __init__(self, k: Lang, layout: WorkLayout, packet: Value, choices: Mapping[str, str]) -> None:
        self.k, self.layout, self.choices = k, layout, choices
        live = LiveRegisters(k, packet + PACKET_REGISTERS)
        self.half = [live.float("VIEWPORT_WIDTH.value"), live.float("VIEWPORT_HEIGHT.value")]
        self.origin = [k.to_f32(live("VIEWPORT_XY.x")), k.to_f32(live("VIEWPORT_XY.y"))]
        if choices.get("viewport.offset_sign") == "minus":
            self.origin = [-v for v in self.origin]
        self.cull = live("FACECULLING_CONFIG.mode")
        self.user_plane = live("FRAGOP_CLIP.enable") != 0
        self.lit = live("LIGHTING_ENABLE1.disable") == 0
        self.flat = live("FLAT_SHADING.flat") != 0
        self.last_group = k.var(k.fit(0.0, F32, 8))  # the group with the colour, of the primitive's last vertex
        self.height = k.load(I32, packet + PACKET.HEIGHT)
        self.flip = live("FRAMEBUFFER_DIM.flip") != 0
        # The pixels that may be drawn, in memory coordinates: first x, last x, first y, last y.
        self.rect = [k.load(I32, packet + PACKET.RECT + 4 * i) for i in range(4)]
        self.carried = k.load(I32, layout.control + C.CARRIED)
        self.number = k.i32(0)
        """The current primitive, counted in its draw."""
        self.count = k.var(k.load(I32, layout.control + C.TRIANGLES))
        self.area = k.var(k.load(I32, layout.control + C.AREA))  # pixels in the bounding boxes of all triangles made
        self.corners = k.array(MAX_CORNERS, I32, lanes=1)
        self.corner_count = k.var(3)
        self.whole_depth = choices.get("clip.depth_range") == "full"
        planes = list(PLANES[:USER_PLANE])
        if self.whole_depth:
            planes[DEPTH_PLANE] = (0.0, 0.0, -1.0, 1.0, 0.0)
        for i, coefficients in enumerate(planes):
            for j, c in enumerate(coefficients):
                k.store(F32, layout.planes + PLANE_SIZE * i + 4 * j, c)
        for j in range(4):
            value = live.float(f"FRAGOP_CLIP_DATA{j}.value")
            k.store(F32, layout.planes + PLANE_SIZE * USER_PLANE + 4 * j, k.select(self.user_plane, value, 0.0))
        k.store(F32, layout.planes + PLANE_SIZE * USER_PLANE + 16, 0.0)

    def position(self, record: Value) -> list[Value]:
        return [self.k.load(F32, k64(self.k, record) + 4 * i) for i in range(4)]

    def group(self, record: Value, g: int) -> Value:
        return self.k.load(F32, k64(self.k, record) + 32 * g, lanes=8)

    # -- clipping -------------------------------------------------------------------------------------------------
    def distance(self, plane: Value, p: list[Value]) -> Value:
        k = self.k
        at = k.to_i64(plane * PLANE_SIZE) + self.layout.planes
        c = [k.load(F32, at + 4 * i) for i in range(5)]
        return c[0] * p[0] + c[1] * p[1] + c[2] * p[2] + c[3] * p[3] + c[4]

    def outcode(self, p: list[Value]) -> Value:
        """A bit for each plane that the vertex is outside of; 0x100 for NaN, which drops the primitive."""
        k = self.k
        x, y, z, w = p
        inside = [x <= w, -x <= w, y <= w, -y <= w, z <= (w if self.whole_depth else 0.0), -z <= w, w >= W_EPSILON]
        code = k.i32(0)
        for i, test in enumerate(inside):
            code = code | k.select(test, 0, 1 << i)
        user = self.distance(k.i32(USER_PLANE), p) >= 0.0
        code = code | k.select(user, 0, 1 << USER_PLANE)
        number = (x == x) & (y == y) & (z == z) & (w == w)
        return k.select(number, code, 0x100)

    def clip(self) -> None:
        """Sutherland-Hodgman over all planes; new corners go to two banks of records used alternately."""
        k, layout = self.k, self.layout
        k.store(I32, layout.control + C.CLIPPED, 1)
        source = k.array(MAX_CORNERS, I32, lanes=1)
        for plane in k.range(0, len(PLANES)):
            n = self.corner_count.value
            for i in k.range(0, n):
                source[i] = self.corners[i]
            made = k.var(0)
            fresh = k.var(0)
            bank = (plane & 1) * (VERTEX_SIZE * 16) + layout.clip

            def keep(corner: Value, made: Var = made) -> None:
                for _ in k.when(made.value < MAX_CORNERS):
                    self.corners[made.value] = corner
                    made.value = made.value + 1

            for i in k.range(0, n):
                a = source[k.select(i == 0, n - 1, i - 1)]
                b = source[i]
                da, db = self.distance(plane, self.position(a)), self.distance(plane, self.position(b))
                for _ in k.when((da >= 0.0) != (db >= 0.0)):
                    t = da / (da - db)
                    corner = bank + fresh.value * VERTEX_SIZE
                    for g in range(GROUPS):
                        va, vb = self.group(a, g), self.group(b, g)
                        k.store(F32, k64(k, corner) + 32 * g, va + (vb - va) * k.fit(t, F32, 8))
                    fresh.value = fresh.value + 1
                    keep(corner)
                for _ in k.when(db >= 0.0):
                    # A corner that was kept in the bank to be reused must be copied too.
                    corner = bank + fresh.value * VERTEX_SIZE
                    for g in range(GROUPS):
                        k.store(F32, k64(k, corner) + 32 * g, self.group(b, g))
                    fresh.value = fresh.value + 1
                    keep(corner)
            self.corner_count.value = made.value

    def primitive(self, records: list[Value]) -> None:
        """One triangle of vertex records: reject it, clip if needed, set it up."""
        k = self.k
        codes = [self.outcode(self.position(r)) for r in records]
        every, some = codes[0] & codes[1] & codes[2], codes[0] | codes[1] | codes[2]
        for _ in k.when((every == 0) & ((some & 0x100) == 0)):
            for corner, r in enumerate(records):
                self.corners[corner] = r
            self.corner_count.value = 3
            self.last_group.value = self.group(records[2], COLOR_SLOT // 8)
            for _ in k.when(self.lit):
                self.align_quaternions(records)
            for _ in k.when(some != 0):
                self.clip()
            for i in k.range(1, self.corner_count.value - 1):
                self.triangle([self.corners[0], self.corners[i], self.corners[i + 1]])

    def align_quaternions(self, records: list[Value]) -> None:
        """q and -q are the same rotation but interpolate differently: corners get the sign nearest to the first one.

        Corners are shared with other triangles, so changed ones are copied. The copies are at the end of the clip area
        that the planes from the second one on use; the first plane moves them.
        """
        k = self.k
        quaternions = [[k.load(F32, k64(k, r) + 4 * (QUATERNION_SLOT + i)) for i in range(4)] for r in records]
        flipped = k.pattern_of([QUATERNION_SLOT <= i < QUATERNION_SLOT + 4 for i in range(8)], BOOL)
        first = quaternions[0]
        for corner in (1, 2):
            q = quaternions[corner]
            for _ in k.when(first[0] * q[0] + first[1] * q[1] + first[2] * q[2] + first[3] * q[3] < 0.0):
                copy = k.i32(self.layout.clip + VERTEX_SIZE * (31 - corner))
                for g in range(GROUPS):
                    value = self.group(records[corner], g)
                    if g == QUATERNION_SLOT // 8:
                        value = k.select(flipped, -value, value)
                    k.store(F32, k64(k, copy) + 32 * g, value)
                self.corners[corner] = copy

    # -- set-up ---------------------------------------------------------------------------------------------------
    def window(self, p: list[Value], inverse: Value, axis: int) -> Value:
        """Window coordinate in sixteenths of a pixel, y up."""
        k = self.k
        s = (p[axis] * inverse + 1.0) * self.half[axis] + self.origin[axis]
        return k.to_i32(k.floor(k.clamp(s, WINDOW_LOW, WINDOW_HIGH) * 16.0 + 0.5), -8192, 32767)

    def projected(self, p: list[list[Value]]) -> tuple[list[Value], list[Value], list[Value], Value]:
        """1/w, window x and y of three corners, and twice their signed area in units of 1/256 square pixel."""
        inverse = [1.0 / v[3] for v in p]
        x = [self.window(v, i, 0) for v, i in zip(p, inverse, strict=True)]
        y = [self.window(v, i, 1) for v, i in zip(p, inverse, strict=True)]
        return inverse, x, y, (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])

    def culled(self, area: Value) -> Value:
        """Whether culling drops the triangle. Counter-clockwise (y up) is the front; the choice raster.cull_0_3 defines
        the codes 0 and 3."""
        backs = self.cull != CULL.FRONT if "raster.cull_0_3" in self.choices else self.cull == CULL.BACK
        return ((self.cull == CULL.FRONT) & (area > 0)) | (backs & (area < 0))

    def triangle(self, records: list[Value]) -> None:
        k = self.k
        p = [self.position(r) for r in records]
        inverse, x, y, area = self.projected(p)
        for _ in k.when(~(self.culled(area) | (area == 0))):
            back = area < 0
            turn = lambda a, b: (k.select(back, b, a), k.select(back, a, b))
            (x1, x2), (y1, y2) = turn(x[1], x[2]), turn(y[1], y[2])
            (i1, i2), (r1, r2) = turn(inverse[1], inverse[2]), turn(records[1], records[2])
            z1, z2 = turn(p[1][2], p[2][2])
            xs, ys = [x[0], x1, x2], [y[0], y1, y2]
            depth = [p[0][2] * inverse[0], z1 * i1, z2 * i2]
            self.emit(xs, ys, k.abs(area), [records[0], r1, r2], [inverse[0], i1, i2], depth)

    def emit(
        self, x: list[Value], y: list[Value], area: Value, records: list[Value], inverse: list[Value],
        depth: list[Value],
    ) -> None:  # fmt: skip
        k, layout = self.k, self.layout
        at = k.to_i64(self.count.value * TRIANGLE_SIZE) + layout.triangles
        put = lambda name, value, i=0: k.store(I32, at + getattr(TRIANGLE, name) + 4 * i, value)
        low = lambda v: k.min(k.min(v[0], v[1]), v[2])
        high = lambda v: k.max(k.max(v[0], v[1]), v[2])
        x0, x1, y0, y1 = self.rect
        mirror = lambda v: k.select(self.flip, self.height - 1 - v, v)
        # Pixels whose centre may be covered; rows are then in memory order.
        left, right = k.max((low(x) + 7) >> 4, x0), k.min((high(x) - 8) >> 4, x1)
        bottom, top = (low(y) + 7) >> 4, (high(y) - 8) >> 4
        row_a, row_b = mirror(bottom), mirror(top)
        first, last = k.max(k.min(row_a, row_b), y0), k.min(k.max(row_a, row_b), y1)
        for _ in k.when((left <= right) & (bottom <= top) & (first <= last)):
            for name, value in (("MIN_X", left), ("MAX_X", right), ("MIN_Y", first), ("MAX_Y", last)):
                put(name, value)
            put("PRIMITIVE", self.number)
            put("CARRIED", self.carried)
            scale = 1.0 / k.to_f32(area)
            shifts = []
            for e, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
                a, b = y[i] - y[j], x[j] - x[i]
                owns = (a > 0) | ((a == 0) & (b > 0))  # left edges, and lower edges (y up)
                shift = k.select(owns, 0, 1)
                shifts.append(k.to_f32(shift) * scale)
                c = -(k.to_i64(a) * k.to_i64(x[i]) + k.to_i64(b) * k.to_i64(y[i])) - k.to_i64(shift)
                far = k.select(self.flip, (self.height - 1) * 16 + 8, 8)
                c = c + k.to_i64(a * 8) + k.to_i64(b) * k.to_i64(far)
                put("A", a << 4, e)
                put("B", k.select(self.flip, -b, b) << 4, e)
                k.store(I64, at + TRIANGLE.C + 8 * e, c)
            # value = v0 + (v1-v0)*e1/area + (v2-v0)*e2/area, without the fill rule's offset in e1 and e2.
            wide = lambda v: k.fit(v, F32, 8)

            def plane(corners: Sequence[Value], place: int) -> None:
                v0, v1, v2 = corners
                d1, d2 = v1 - v0, v2 - v0
                s = [wide(t) if v0.lanes == 8 else t for t in (scale, shifts[1], shifts[2])]
                k.store(F32, at + TRIANGLE.BASE + place, v0 + d1 * s[1] + d2 * s[2])
                k.store(F32, at + TRIANGLE.D1 + place, d1 * s[0])
                k.store(F32, at + TRIANGLE.D2 + place, d2 * s[0])

            # Flat primitives have the colour of their last vertex everywhere.
            colors = k.pattern_of([COLOR_SLOT % 8 <= i < COLOR_SLOT % 8 + 4 for i in range(8)], BOOL)
            for g in range(GROUPS):
                values = [self.group(r, g) for r in records]
                if g == COLOR_SLOT // 8:
                    values = [k.select(colors & self.flat, self.last_group.value, v) for v in values]
                plane([v * wide(i) for v, i in zip(values, inverse, strict=True)], 32 * g)
            plane(depth, 4 * DEPTH_SLOT)
            plane(inverse, 4 * INVERSE_W_SLOT)
            self.count.value = self.count.value + 1
            self.area.value = self.area.value + (right - left + 1) * (last - first + 1)


def k64(k: Lang, offset: Value) -> Value:
    """A byte offset as i64."""
    return k.to_i64(offset)


QUATERNION_SLOT, COLOR_SLOT = SEMANTIC.QUATERNION_X, SEMANTIC.COLOR_R
DEPTH_SLOT = SEMANTIC.POSITION_X
"""In a triangle record z/w replaces the semantic position.x ..."""
INVERSE_W_SLOT = SEMANTIC.POSITION_W
"""... and 1/w replaces position.w."""


@kernel(packet=I64, count=I32)
def assemble(
    k: Lang, packet: Value, count: Value,
    *, layout_start: int, layout_size: int, choices: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """Assemble `count` shaded vertices (slots in the slot list) from primitive NEXT_PRIMITIVE on.

    Stops early when the triangle area is nearly full or the triangles cover too many pixels (MAX_AREA); NEXT_PRIMITIVE
    is then the next primitive. Otherwise it is -1 and the unfinished vertices have been carried over.
    """
    layout = WorkLayout(layout_start, layout_size)
    chosen = dict(choices)
    setup = Setup(k, layout, packet, chosen)
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    control = lambda name: k.load(I32, layout.control + getattr(C, name))
    store = lambda name, v: k.store(I32, layout.control + getattr(C, name), v)
    # Geometry shaders emit single triangles.
    staged = live("GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
    mode = k.select(staged, PRIMITIVE.TRIANGLES, live("PRIMITIVE_CONFIG.mode"))
    carried, parity = control("CARRY"), control("CARRY_PARITY")
    assembled = control("ASSEMBLED")
    total = carried + count
    strip, fan = mode == PRIMITIVE.TRIANGLE_STRIP, mode == PRIMITIVE.TRIANGLE_FAN
    chained = strip | fan
    turned = strip
    if "vertex.immediate_strip" in chosen:
        turned = strip & (k.load(I32, packet + PACKET.KIND) != KIND_IMMEDIATE)
    primitives = k.select(chained, k.max(total - 2, 0), k.udiv(total, 3))

    def record(n: Value) -> Value:
        """Vertex n of the carried ones followed by this piece's."""
        slot = k.load(I32, k.to_i64(k.max(n - carried, 0) << 2) + layout.slot_list)
        return k.select(n < carried, n * VERTEX_SIZE + layout.carry, slot * VERTEX_SIZE + layout.vertices)

    next_one = k.var(control("NEXT_PRIMITIVE"))

    def room() -> Value:
        return (setup.count.value + MAX_FAN < MAX_TRIANGLES) & (setup.area.value < MAX_AREA)

    for _ in k.loop(lambda: (next_one.value < primitives) & room()):
        t = next_one.value
        odd = turned & (((t + parity) & 1) == 1)
        first = k.select(chained, t, t * 3)
        a = k.select(fan, 0, k.select(odd, first + 1, first))
        b = k.select(odd, first, first + 1)
        setup.number = assembled + t
        setup.primitive([record(a), record(b), record(first + 2)])
        next_one.value = t + 1
    store("TRIANGLES", setup.count.value)
    store("AREA", setup.area.value)
    store("NEXT_PRIMITIVE", next_one.value)
    for _ in k.when(next_one.value >= primitives):
        # The next piece needs a fan's first and last vertex, a strip's last two, or the rest of a list.
        left = k.select(chained, k.min(total, 2), total - primitives * 3)
        keep = [k.select(fan & (total >= 1), 0, total - left), total - left + 1]
        copies = [[setup.group(record(k.max(n, 0)), g) for g in range(GROUPS)] for n in keep]
        for i, groups in enumerate(copies):
            for _ in k.when(left > i):
                for g, value in enumerate(groups):
                    k.store(F32, layout.carry + VERTEX_SIZE * i + 32 * g, value)
        store("CARRY", left)
        store("ASSEMBLED", assembled + primitives)
        store("CARRY_PARITY", (parity + primitives) & 1)
        store("NEXT_PRIMITIVE", -1)


__all__ = ["DEPTH_SLOT", "INVERSE_W_SLOT", "Setup", "assemble"]
