"""Shapes: the coverage of triangles, lines and points, as up to four edge functions and a box.

Coordinates are 1/256 pixel, y down, so edges are exact. A point on an edge belongs to the shape if the edge is a left
or a top one. Lines without samples follow the diamond rule: the box has the columns (rows, for steep ones) whose
diamonds the line leaves, the edges are half a width to both sides. All other lines are rectangles.
Sources: class header B197; OpenGL 4.6, 14.4 (points), 14.5 (lines), 14.6 (polygons).
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, Lang, Value, Var
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.primitives.assembled import (
    LAYER,
    SIZE,
    SUBPIXEL_BITS,
    SUBPIXELS,
    VIEWPORT_NUMBER,
    VIEWPORT_OFFSET,
    PrimitiveBatch,
)
from pocketgpu.maxwell.graphics.records import FILL, LINE, POINT, RASTER, REGION, SHAPE, VIEWPORT

ALIGN = 32
FADE_NONE, FADE_LINE, FADE_POINT, FADE_POLYGON = range(4)
HALF = SUBPIXELS // 2


def room(size: int) -> int:
    """Bytes that a record of `size` bytes takes."""
    return -(-size // ALIGN) * ALIGN


def margin(k: Lang, a: Value, b: Value) -> Value:
    """The addition to an edge's constant after which the centre of every pixel whose square it touches is inside
    (i64)."""
    return (k.to_i64(k.abs(a)) + k.to_i64(k.abs(b))) << (SUBPIXEL_BITS - 1)


@dataclass
class Owner:
    """The primitive that shapes belong to: its lane, planes, origin, side and polygon offset."""

    lane: Value
    planes: Value
    origin: tuple[Value, Value]
    front: Value
    bias: Value


Edge = tuple[Value, Value, Value]
"""A, B (i32), C (i64)."""


class ShapeMaker:
    """Writes shapes to a region at `at`, and counts them.

    area: of their boxes, in 256 pixels.
    """

    def __init__(self, batch: PrimitiveBatch, region: Value, at: Var) -> None:
        k = self.k = batch.k
        self.batch, self.region, self.at = batch, region, at
        self.made, self.area = k.var(0), k.var(0)
        self.multi = batch.of(RASTER.MULTISAMPLE) != 0
        self.xs, self.ys = k.array(4, I32, lanes=1), k.array(4, I32, lanes=1)

    # -- records ------------------------------------------------------------------------------------------------------
    def _put(self, word: int, v: Value | int) -> None:
        type = v.type if isinstance(v, Value) else I32
        self.k.store(type, self.at.value + word, v)

    def _none(self) -> Edge:
        k = self.k
        return k.i32(0), k.i32(0), k.i64(0)

    def _emit(
        self, owner: Owner, kind: int, box: tuple[Value, Value, Value, Value], edges: list[Edge],
        fade: Value | int = FADE_NONE, soft: Value | int = 0,
    ) -> Value:  # fmt: skip
        """Write a shape if its box (left, top, right, bottom, inclusive) has a pixel that may be drawn. Returns whether
        it has.

        soft: bits of the edges of a smooth polygon that fade. The record can be completed with `_put` before `_done`.
        """
        k, batch = self.k, self.batch
        viewport = batch.word(VIEWPORT_OFFSET, owner.lane)
        of = lambda word: k.load(I32, viewport + word)
        left, top = k.max(box[0], of(VIEWPORT.LEFT)), k.max(box[1], of(VIEWPORT.TOP))
        right, bottom = k.min(box[2], of(VIEWPORT.RIGHT)), k.min(box[3], of(VIEWPORT.BOTTOM))
        seen = (left <= right) & (top <= bottom)
        for _ in k.when(seen):
            self.area.value = self.area.value + (((right - left + 1) * (bottom - top + 1)) >> 8)
            words: dict[str, Value | int] = {
                "PLANES": owner.planes, "ORIGIN_X": owner.origin[0],
                "ORIGIN_Y": owner.origin[1], "LEFT": left, "TOP": top, "RIGHT": right, "BOTTOM": bottom, "KIND": kind,
                "FRONT": owner.front, "LAYER": batch.word(LAYER, owner.lane),
                "VIEWPORT": batch.word(VIEWPORT_NUMBER, owner.lane), "EDGES": max(len(edges), 3), "FADE": fade,
                "BIAS": owner.bias,
            }  # fmt: skip
            for name, v in words.items():
                self._put(SHAPE.offsets[name], v)
            self._put(SHAPE.SOFT, soft)
            wider = k.select(batch.of(RASTER.CONSERVATIVE) != 0, -1, soft)
            for n, (a, b, c) in enumerate((edges + [self._none()] * 4)[:4]):
                wide = margin(k, a, b)
                self._put(SHAPE.A + 4 * n, a)
                self._put(SHAPE.B + 4 * n, b)
                self._put(SHAPE.C + 8 * n, c + k.select(((wider >> n) & 1) != 0, wide, 0))
                slope = k.to_f32(k.select(a == 0, 1, a)) * float(SUBPIXELS)
                self._put(SHAPE.INVERSE + 4 * n, k.select(a == 0, 0.0, 1.0 / slope))
        return seen

    def _done(self) -> None:
        self.at.value = self.at.value + room(SHAPE.size)
        self.made.value = self.made.value + 1

    def _edge(self, i: int | Value, j: int | Value) -> Edge:
        """From corner i to corner j of a shape that goes clockwise on the screen (y down)."""
        k = self.k
        x, y = self.xs[i], self.ys[i]
        a, b = y - self.ys[j], self.xs[j] - x
        owns = (a > 0) | ((a == 0) & (b > 0))
        wide = k.to_i64
        c = -(wide(a) * wide(x) + wide(b) * wide(y)) - wide(k.select(owns, 0, 1))
        return a, b, c

    def _box(self, xs: list[Value], ys: list[Value]) -> tuple[Value, Value, Value, Value]:
        """The pixels whose centres (whose areas, with samples) can be inside of a shape with these corners."""
        k = self.k
        area = self.multi | ((self.batch.of(RASTER.CONSERVATIVE) | self.batch.of(RASTER.POLY_SMOOTH)) != 0)
        low = lambda v: (v + k.select(area, 0, HALF - 1)) >> SUBPIXEL_BITS
        high = lambda v: (v - k.select(area, 0, HALF)) >> SUBPIXEL_BITS

        def extreme(values: list[Value], take: str) -> Value:
            best = values[0]
            for v in values[1:]:
                best = k.min(best, v) if take == "min" else k.max(best, v)
            return best

        return low(extreme(xs, "min")), low(extreme(ys, "min")), high(extreme(xs, "max")), high(extreme(ys, "max"))

    # -- triangles ----------------------------------------------------------------------------------------------------
    def triangle(self, owner: Owner, xs: list[Value], ys: list[Value], soft: Value | int = 0) -> None:
        """A triangle, in either direction. soft: bits of the edges that fade, edge n from corner n to the next."""
        k = self.k
        wide = k.to_i64
        area = wide(xs[1] - xs[0]) * wide(ys[2] - ys[0]) - wide(xs[2] - xs[0]) * wide(ys[1] - ys[0])
        turn = area < 0
        order = (xs[0], ys[0]), (k.select(turn, xs[2], xs[1]), k.select(turn, ys[2], ys[1])), (
            k.select(turn, xs[1], xs[2]), k.select(turn, ys[1], ys[2]),
        )  # fmt: skip
        for n, (x, y) in enumerate(order):
            self.xs[n], self.ys[n] = x, y
        box = self._box(xs, ys)
        for _ in k.when(area != 0):
            edges = [self._edge(1, 2), self._edge(2, 0), self._edge(0, 1)]
            fades = [(soft >> n) & 1 for n in range(3)]
            bits = fades[1] | k.select(turn, fades[0], fades[2]) << 1 | k.select(turn, fades[2], fades[0]) << 2
            fade = k.select(bits != 0, FADE_POLYGON, FADE_NONE)
            for _ in k.when(self._emit(owner, FILL, box, edges, fade, bits)):
                self._done()

    def rectangle_of(self, owner: Owner, xs: list[Value], ys: list[Value]) -> None:
        """SET_FILL_VIA_TRIANGLE: the box of a triangle (2), or all of the viewport (1)."""
        k = self.k
        box = self._box(xs, ys)
        everything = self.batch.of(RASTER.FILL_VIA_TRIANGLE) == 1
        low, high = k.i32(-(1 << 15)), k.i32(1 << 15)
        limits = (low, low, high, high)
        whole = tuple(k.select(everything, a, b) for a, b in zip(limits, box, strict=True))
        low_x, high_x, low_y, high_y = (
            k.select(everything, limit << SUBPIXEL_BITS, found)
            for limit, found in (
                (low, k.min(k.min(xs[0], xs[1]), xs[2])), (high, k.max(k.max(xs[0], xs[1]), xs[2])),
                (low, k.min(k.min(ys[0], ys[1]), ys[2])), (high, k.max(k.max(ys[0], ys[1]), ys[2])),
            )
        )  # fmt: skip
        edges = self._upright(low_x, high_x, low_y, high_y)
        for _ in k.when(self._emit(owner, FILL, (whole[0], whole[1], whole[2], whole[3]), edges)):
            self._done()

    def _upright(self, left: Value, right: Value, top: Value, bottom: Value) -> list[Edge]:
        """Edges of a rectangle; left and top are inclusive, right and bottom are not."""
        k = self.k
        one, zero, wide = k.i32(1), k.i32(0), k.to_i64
        return [
            (one, zero, -wide(left)), (-one, zero, wide(right) - 1), (zero, one, -wide(top)),
            (zero, -one, wide(bottom) - 1),
        ]  # fmt: skip

    # -- points -------------------------------------------------------------------------------------------------------
    def point_size(self, lane: Value) -> Value:
        """Width of a point in pixels (f32)."""
        k, batch = self.k, self.batch
        size = batch.number(SIZE, lane) if batch.kind == 1 else batch.float_of(RASTER.POINT_SIZE)
        size = k.clamp(size, 1.0 / 16, 2048.0)
        plain = ~self.multi & (batch.of(RASTER.POINT_SPRITE) == 0) & (batch.of(RASTER.POINT_SMOOTH) == 0)
        return k.select(plain, k.max(k.floor(size + 0.5), 1.0), size)

    def sprite(self, lane: Value, x: Value, y: Value, origin: tuple[Value, Value]) -> list[list[Value]]:
        """Planes (f32) of s and t over a point: 0 to 1 from its left and its upper (lower) edge."""
        k, batch = self.k, self.batch
        size = self.point_size(lane)
        lower = batch.of(RASTER.SPRITE_LOWER) != 0
        step, zero = 1.0 / size, k.f32(0.0)
        start = [
            (k.to_f32((o << SUBPIXEL_BITS) - v) * (1.0 / SUBPIXELS) + size * 0.5) * step
            for o, v in zip(origin, (x, y), strict=True)
        ]
        return [
            [start[0], step, zero],
            [k.select(lower, 1.0 - start[1], start[1]), zero, k.select(lower, -step, step)],
        ]

    def point(self, owner: Owner, x: Value, y: Value) -> None:
        """A square around a point, or a disc with a faded edge."""
        k, batch = self.k, self.batch
        size = self.point_size(owner.lane)
        smooth = (batch.of(RASTER.POINT_SMOOTH) != 0) & (batch.of(RASTER.POINT_SPRITE) == 0)
        reach = k.to_i32(k.floor((size * 0.5 + k.select(smooth, 0.5, 0.0)) * float(SUBPIXELS) + 0.5), 0, 1 << 20)
        left, right, top, bottom = x - reach, x + reach, y - reach, y + reach
        edges = self._upright(left, right, top, bottom)
        box = self._box([left, right], [top, bottom])
        for _ in k.when(self._emit(owner, POINT, box, edges, k.select(smooth, FADE_POINT, FADE_NONE))):
            self._fade(owner, x, y, (k.f32(1.0), k.f32(0.0)), size * 0.5, size * 0.5)
            self._done()

    def _fade(
        self, owner: Owner, x: Value, y: Value, along: tuple[Value, Value], half_width: Value, half_length: Value
    ) -> None:
        """Planes of the distances along and across a direction (f32 unit vector) from a point, pixels."""
        k = self.k
        dx, dy = along
        px, py = (
            k.to_f32((o << SUBPIXEL_BITS) - v) * (1.0 / SUBPIXELS) for o, v in zip(owner.origin, (x, y), strict=True)
        )
        for i, v in enumerate((px * dx + py * dy, dx, dy)):
            self._put(SHAPE.ALONG + 4 * i, v)
        for i, v in enumerate((py * dx - px * dy, -dy, dx)):
            self._put(SHAPE.ACROSS + 4 * i, v)
        self._put(SHAPE.HALF_WIDTH, half_width)
        self._put(SHAPE.HALF_LENGTH, half_length)

    # -- lines --------------------------------------------------------------------------------------------------------
    def line(self, owner: Owner, x: list[Value], y: list[Value], begins: Value) -> None:
        """A line between two points. begins: whether its stipple starts again (a bool)."""
        k, batch = self.k, self.batch
        counter = self.region + REGION.STIPPLE
        for _ in k.when(begins):
            k.store(F32, counter, 0.0)
        smooth = batch.of(RASTER.LINE_SMOOTH) != 0

        def thin() -> None:
            self._thin(owner, x, y, counter)

        def broad() -> None:
            self._broad(owner, x, y, counter, smooth)

        k.branch(smooth | self.multi, broad, thin)

    def _count(self, start: Value, x: Value, y: Value, step: tuple[Value, Value]) -> None:
        """The stipple's plane: `start` at a point (pixels from the origin) and a step for each pixel."""
        self._put(SHAPE.COUNTER, start - (x * step[0] + y * step[1]))
        self._put(SHAPE.STEP_X, step[0])
        self._put(SHAPE.STEP_Y, step[1])

    def _thin(self, owner: Owner, x: list[Value], y: list[Value], counter: Value) -> None:
        """A line by the diamond rule."""
        k = self.k
        dx, dy = x[1] - x[0], y[1] - y[0]
        steep = k.abs(dy) > k.abs(dx)
        # Now (u, v): u is the direction in which pixels are counted.
        u = [k.select(steep, b, a) for a, b in zip(x, y, strict=True)]
        v = [k.select(steep, a, b) for a, b in zip(x, y, strict=True)]
        back = u[1] < u[0]
        first, last = self._ends(u, v, back)
        width = k.max(k.floor(self.batch.float_of(RASTER.LINE_WIDTH) + 0.5), 1.0)
        reach = k.to_i32(width * float(HALF), HALF, 1 << 19)
        du, dv = k.abs(u[1] - u[0]), k.select(back, v[0] - v[1], v[1] - v[0])
        # Upper side: (v - v0 + reach) du - (u - u0) dv >= 0; lower side: the reverse, without equality.
        wide = k.to_i64
        base = wide(dv) * wide(u[0]) - wide(du) * wide(v[0])
        across = wide(du) * wide(reach)
        sides = []
        for sign, c in ((1, base + across), (-1, across - base - 1)):
            a, b = (-dv, du) if sign > 0 else (dv, -du)
            sides.append((k.select(steep, b, a), k.select(steep, a, b), c))
        low, high = k.min(v[0], v[1]) - reach, k.max(v[0], v[1]) + reach
        least, most = (low + (HALF - 1)) >> SUBPIXEL_BITS, (high - HALF) >> SUBPIXEL_BITS
        one, two = k.min(first, last), k.max(first, last)
        count = k.select(back, first - last, last - first) + 1
        box = (
            k.select(steep, least, one), k.select(steep, one, least), k.select(steep, most, two),
            k.select(steep, two, most),
        )  # fmt: skip
        start = k.load(F32, counter)
        for _ in k.when((du != 0) & (count > 0)):
            for _ in k.when(self._emit(owner, LINE, box, sides)):
                step = k.select(back, -1.0, 1.0)
                zero = k.f32(0.0)
                steps = (k.select(steep, zero, step), k.select(steep, step, zero))
                place = k.to_f32(first - k.select(steep, owner.origin[1], owner.origin[0])) + 0.5
                self._count(start, place, place, steps)
                self._done()
            k.store(F32, counter, start + k.to_f32(count))

    def _ends(self, u: list[Value], v: list[Value], back: Value) -> tuple[Value, Value]:
        """The first and the last pixel along u whose diamond the line leaves."""
        k = self.k
        mirrored = [k.select(back, -c, c) for c in u]  # as if it went up

        def at(i: int) -> tuple[Value, Value, Value]:
            pixel = mirrored[i] >> SUBPIXEL_BITS
            beyond = (mirrored[i] & (SUBPIXELS - 1)) - HALF  # from the centre
            aside = k.abs((v[i] & (SUBPIXELS - 1)) - HALF)
            return pixel, beyond, aside

        pixel, beyond, aside = at(0)
        starts = (beyond <= 0) | (beyond + aside < HALF)
        first = pixel + k.select(starts, 0, 1)
        pixel, beyond, aside = at(1)
        leaves = (beyond > 0) & (beyond + aside >= HALF)
        last = pixel - k.select(leaves, 0, 1)
        turn = lambda p: k.select(back, -p - 1, p)
        return turn(first), turn(last)

    def _broad(self, owner: Owner, x: list[Value], y: list[Value], counter: Value, smooth: Value) -> None:
        """A line as a rectangle: with samples, or with a faded edge."""
        k = self.k
        dx, dy = (k.to_f32(c[1] - c[0]) for c in (x, y))
        length = k.sqrt(dx * dx + dy * dy)
        scale = 1.0 / k.max(length, 1.0)
        dx, dy = dx * scale, dy * scale
        half = k.max(self.batch.float_of(RASTER.LINE_WIDTH), 1.0 / 16) * 0.5
        rim = k.select(smooth, 0.5, 0.0)
        out, aside = rim * float(SUBPIXELS), k.min(half + rim, 1024.0) * float(SUBPIXELS)
        whole = lambda v: k.to_i32(k.floor(v + 0.5), -(1 << 20), 1 << 20)
        for n, (end, side) in enumerate(((0, -1.0), (1, -1.0), (1, 1.0), (0, 1.0))):
            away = out if end else -out
            self.xs[n] = x[end] + whole(dx * away - dy * aside * side)
            self.ys[n] = y[end] + whole(dy * away + dx * aside * side)
        box = self._box([self.xs[n] for n in range(4)], [self.ys[n] for n in range(4)])
        edges = [self._edge(n, (n + 1) & 3) for n in range(4)]
        start = k.load(F32, counter)
        pixels = length * (1.0 / SUBPIXELS)
        for _ in k.when(length > 0.0):
            for _ in k.when(self._emit(owner, LINE, box, edges, k.select(smooth, FADE_LINE, FADE_NONE))):
                middle = [(c[0] + c[1]) >> 1 for c in (x, y)]
                self._fade(owner, middle[0], middle[1], (dx, dy), half, pixels * 0.5)
                at = [
                    k.to_f32(c[0] - (o << SUBPIXEL_BITS)) * (1.0 / SUBPIXELS)
                    for c, o in zip((x, y), owner.origin, strict=True)
                ]
                self._count(start, at[0], at[1], (dx, dy))
                self._done()
            k.store(F32, counter, start + pixels)
