"""Set-up: makes shapes with planes from primitives, in a region of memory that raster reads.

Sources: class header B197 (culling, polygon modes, polygon offset); OpenGL 4.6, 14.6.5 (polygon offset).
"""

from __future__ import annotations

from pocketgpu.lanes import I32, Lang, Value, kernel
from pocketgpu.maxwell.graphics.primitives.assembled import (
    CODES,
    COPY_BITS,
    FLAGS,
    SUBPIXEL_BITS,
    WINDOW_Z,
    PrimitiveBatch,
)
from pocketgpu.maxwell.graphics.primitives.clip import MAX_CORNERS, NO_EDGE, Clipper
from pocketgpu.maxwell.graphics.primitives.layout import CORNER_VECTORS, planes_size
from pocketgpu.maxwell.graphics.primitives.planes import PlaneMaker, Weights
from pocketgpu.maxwell.graphics.primitives.shapes import ALIGN, Owner, ShapeMaker, room
from pocketgpu.maxwell.graphics.records import FLAG_BEGINS, LINE, POINT, RASTER, REGION, SHAPE
from pocketgpu.maxwell.sass.thread_memory.work import LANES

MAX_AREA = 1 << 19
"""Limit of the area of the boxes of a region's shapes, in 256 pixels: about a second of work, after which the draw can
be interrupted."""


class _SetUp:
    def __init__(self, k: Lang, raster: Value, region: Value, scratch: Value, kind: int, masks: bool) -> None:
        self.k, self.region, self.kind = k, region, kind
        self.batch = PrimitiveBatch(k, raster, scratch, kind, masks)
        self.clipper = Clipper(self.batch)
        self.planes = PlaneMaker(self.batch, self.clipper)
        load = lambda word: k.load(I32, region + word)
        self.at = k.var(load(REGION.AT))
        self.free_end = k.var(load(REGION.END))  # start of the planes
        self.gone = k.var(0)
        self.shapes = ShapeMaker(self.batch, region, self.at)
        self.made = self.shapes.made
        self.groups = self.batch.of(RASTER.INPUT_GROUPS)

    def primitive(self, lane: Value) -> None:
        """Set up one primitive that may be visible."""
        k, c = self.k, self.clipper
        clipped = self.batch.word(CODES, lane) != 0
        if self.kind == 1:
            c.whole(lane)
        else:
            k.branch(clipped, lambda: c.clipped(lane), lambda: c.whole(lane))
        for _ in k.when(c.count.value >= self.kind):
            front, mode, seen = self._face()
            for _ in k.when(seen):
                self.gone.value = self.gone.value + 1
                self._draw(lane, clipped, front, mode)

    def _face(self) -> tuple[Value, Value, Value]:
        """The visible side (1: the front), its polygon mode, whether it is not culled."""
        k, batch, c = self.k, self.batch, self.clipper
        if self.kind < 3:
            return k.i32(1), k.i32(LINE if self.kind == 2 else POINT), k.i32(0) == 0
        twice = k.var(k.i64(0))
        wide = k.to_i64
        for i in k.range(1, c.count.value - 1):
            dx1, dy1 = c.x[i] - c.x[0], c.y[i] - c.y[0]
            dx2, dy2 = c.x[i + 1] - c.x[0], c.y[i + 1] - c.y[0]
            twice.value = twice.value + (wide(dx1) * wide(dy2) - wide(dx2) * wide(dy1))
        negative = k.select(twice.value < 0, 1, 0)
        front = k.select(negative == batch.of(RASTER.FRONT_NEGATIVE), 1, 0)
        mode = k.select(front != 0, batch.of(RASTER.MODES), batch.of(RASTER.MODES + 4))
        dropped = k.select(front != 0, 1, 2) & batch.of(RASTER.CULL)
        return front, mode, (dropped == 0) & (twice.value != 0)

    def _origin(self) -> tuple[Value, Value]:
        """The pixel of the corners' upper left, independent of clip rectangles."""
        k, c = self.k, self.clipper
        low = [k.var(c.x[0]), k.var(c.y[0])]
        for i in k.range(1, c.count.value):
            for v, values in zip(low, (c.x, c.y), strict=True):
                v.value = k.min(v.value, values[i])
        return low[0].value >> SUBPIXEL_BITS, low[1].value >> SUBPIXEL_BITS

    def _bias(self, lane: Value, w: Weights, mode: Value) -> Value:
        """The polygon offset to add to depth (f32)."""
        k, batch = self.k, self.batch
        if self.kind < 3:
            return k.f32(0.0)
        of = batch.float_of
        bias = k.var(0.0)
        for _ in k.when(((batch.of(RASTER.OFFSETS) >> mode) & 1) != 0):
            along_x, along_y = (k.abs(k.to_f32(v)) for v in w.depth[1:])
            step = of(RASTER.OFFSET_STEP)
            depths = [k.abs(batch.number(n * CORNER_VECTORS + WINDOW_Z, lane)) for n in range(3)]
            most = k.min(k.max(k.max(depths[0], depths[1]), depths[2]), 3.0e38)
            exponent = k.bits_f32(k.bits_i32(most) & 0x7F800000)
            step = k.select(step == 0.0, exponent * 2.0**-23, step)
            found = k.max(along_x, along_y) * of(RASTER.OFFSET_SLOPE) + step * of(RASTER.OFFSET_UNITS)
            clamp = of(RASTER.OFFSET_CLAMP)
            found = k.select(clamp > 0.0, k.min(found, clamp), k.select(clamp < 0.0, k.max(found, clamp), found))
            bias.value = found
        return bias.value

    def _draw(self, lane: Value, clipped: Value, front: Value, mode: Value) -> None:
        """Planes, and the shapes of the remaining parts of a primitive."""
        k, c, shapes = self.k, self.clipper, self.shapes
        origin = self._origin()
        weights = self.planes.weights(lane, origin, clipped)
        bias = self._bias(lane, weights, mode)
        weights.depth[0] = weights.depth[0] + k.to_f64(bias)
        sprite = shapes.sprite(lane, c.x[0], c.y[0], origin) if self.kind == 1 else None
        before, made = self.free_end.value, self.made.value
        planes = (before - planes_size(self.groups)) & -64
        self.planes.store(planes, lane, weights, front, sprite)
        owner = Owner(lane, planes, origin, front, bias)
        flags = self.batch.word(FLAGS, lane)

        def fill() -> None:
            whole = self.batch.of(RASTER.FILL_VIA_TRIANGLE) != 0
            k.branch(whole, lambda: self._rectangle(owner), lambda: self._fan(owner, flags))

        def lines() -> None:
            self._lines(owner, flags)

        def points() -> None:
            self._points(owner, flags)

        k.switch(mode if self.kind == 3 else 3 - self.kind, [fill, lines, points])
        # If no shape uses the planes, their room is freed.
        self.free_end.value = k.select(self.made.value == made, before, planes)

    def _fan(self, owner: Owner, flags: Value) -> None:
        """The remaining polygon of a triangle, as triangles around its first corner. With smooth polygons, edges of the
        polygon that was drawn fade; those from splitting or clipping do not, so that there are no seams inside."""
        c, k = self.clipper, self.k
        smooth, last = self.batch.of(RASTER.POLY_SMOOTH) != 0, c.count.value - 1

        def real(corner: Value | int) -> Value:
            edge = c.edge[corner]
            return k.select(edge != NO_EDGE, (flags >> edge) & 1, 0)

        for i in k.range(1, last):
            after = i + 1

            def soft(i: Value = i, after: Value = after) -> Value:
                closing = k.select(after == last, real(last), 0)
                return k.select(i == 1, real(0), 0) | real(i) << 1 | closing << 2

            bits = k.branch(smooth, soft, lambda: k.i32(0))
            self.shapes.triangle(owner, [c.x[0], c.x[i], c.x[after]], [c.y[0], c.y[i], c.y[after]], bits)

    def _rectangle(self, owner: Owner) -> None:
        c = self.clipper
        self.shapes.rectangle_of(owner, [c.x[n] for n in range(3)], [c.y[n] for n in range(3)])

    def _lines(self, owner: Owner, flags: Value) -> None:
        """A line, or the edges of a polygon."""
        c, k = self.clipper, self.k
        count = c.count.value if self.kind == 3 else k.i32(1)
        made_by_clipping = self.batch.of(RASTER.GENERATED_EDGES) != 0
        for i in k.range(0, count):
            after = k.select(i + 1 == c.count.value, 0, i + 1)
            if self.kind == 3:
                edge = c.edge[i]
                real = ((flags >> edge) & 1) != 0
                wanted = ((edge != NO_EDGE) & real) | ((edge == NO_EDGE) & made_by_clipping)
            else:
                wanted = k.i32(0) == 0
            begins = ((flags & FLAG_BEGINS) != 0) & (i == 0)
            for _ in k.when(wanted):
                self.shapes.line(owner, [c.x[i], c.x[after]], [c.y[i], c.y[after]], begins)

    def _points(self, owner: Owner, flags: Value) -> None:
        """A point, or the vertices of a polygon."""
        c, k = self.clipper, self.k
        for i in k.range(0, c.count.value):
            source = c.source[i]
            wanted = (source != NO_EDGE) & (((flags >> source) & 1) != 0) if self.kind == 3 else k.i32(0) == 0
            for _ in k.when(wanted):
                self.shapes.point(owner, c.x[i], c.y[i])


@kernel(lanes=32, raster=I32, region=I32, scratch=I32, first=I32, last=I32)
def set_up(
    k: Lang, raster: Value, region: Value, scratch: Value, first: Value, last: Value, *, kind: int, masks: bool = False
) -> None:  # fmt: skip
    """Make shapes of the primitives first..last-1, in order, in a region.

    raster: offset of a RASTER record. region: of a REGION whose AT and END are set, to multiples of 32 with room for
    the planes and shapes of one primitive. Sets NEXT to the next primitive (`last`, unless there was no more room, or
    MAX_AREA is exceeded), SHAPES_END to the end of the shapes, AREA to their area. Adds to COME, GONE and SHAPES.
    STIPPLE carries a line's stipple from call to call. scratch: of SCRATCH_SIZE bytes. kind: vertices of a primitive, 1
    to 3. masks: whether the program writes a mask of viewports for each primitive, which is then drawn to all of these,
    one after the other; the region must have room for as many times its shapes.
    """
    k.hurry()  # half the time to make it, and as fast
    work = _SetUp(k, raster, region, scratch, kind, masks)
    copies = COPY_BITS if masks else 0
    begin = first
    first, last = first << copies, last << copies
    start = k.var(first & -LANES)
    following = k.var(last)
    need = (planes_size(work.groups) + (room(SHAPE.size) * MAX_CORNERS + 2 * ALIGN)) << copies
    full = k.var(0)
    under_way = k.var(-1)  # all copies of a primitive must be in one region
    for _ in k.loop(lambda: (start.value < last) & (full.value == 0)):
        base = start.value
        numbers = k.iota() + base
        left = k.var(work.batch.look(base, (numbers >= first) & (numbers < last)))
        for _ in k.loop(lambda: (left.value != 0) & (full.value == 0)):
            lane = k.trailing_zeros(left.value)
            tight = (work.at.value + need > work.free_end.value) | (work.shapes.area.value > MAX_AREA)
            if masks:
                tight = tight & ((base + lane) >> copies != under_way.value)
                under_way.value = (base + lane) >> copies
            for _ in k.when(tight):
                full.value = 1
                following.value = base + lane
            for _ in k.when(full.value == 0):
                left.value = left.value & (left.value - 1)
                work.primitive(lane)
        start.value = base + LANES
    put = lambda word, v: k.store(I32, region + word, v)
    add = lambda word, v: put(word, k.load(I32, region + word) + v)
    put(REGION.SHAPES_END, work.at.value)
    reached = following.value >> copies
    put(REGION.NEXT, reached)
    put(REGION.AREA, work.shapes.area.value)
    add(REGION.SHAPES, work.made.value)
    add(REGION.COME, reached - begin)
    add(REGION.GONE, work.gone.value)
