"""Coverage: which pixels, or which of their samples, a shape covers in a block.

Edge functions have 64 bits, of which a block needs only the upper part, as pixels are 256 units apart: without the
lower eight bits (rounded down) the sign is the same, and the rest fits 32 bits once it is clamped far from 0.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.primitives.assembled import SUBPIXEL_BITS, SUBPIXELS
from pocketgpu.maxwell.graphics.primitives.shapes import margin
from pocketgpu.maxwell.graphics.records import BLOCK_HEIGHT, BLOCK_WIDTH, LANE_X, LANE_Y, RASTER, SHAPE
from pocketgpu.maxwell.sass.thread_memory.work import LANES

BOUND = 1 << 30
EDGES = 4
_PLACES = 8
"""Columns and rows of the points in a pixel at which its covered fraction is measured."""
_UNIT = SUBPIXELS // 16  # of sample positions


def lane_x(k: Lang) -> Value:
    """Columns of the lanes of a block."""
    return k.pattern_of(list(LANE_X))


def lane_y(k: Lang) -> Value:
    """Rows of the lanes of a block."""
    return k.pattern_of(list(LANE_Y))


@dataclass
class EdgeFunction:
    """a, b: steps for a pixel (i32, in 1/256). c: i64. inverse: f32 1 / (256 a). inner: the lanes' offsets from a
    corner."""

    a: Value
    b: Value
    c: Value
    inverse: Value
    inner: Value

    def at(self, k: Lang, x: Value, y: Value) -> Value:
        """The edge function (i64) at a point, 1/256 pixel."""
        return k.to_i64(self.a) * k.to_i64(x) + k.to_i64(self.b) * k.to_i64(y) + self.c


class Coverage:
    """The coverage of a shape (offset of its record)."""

    def __init__(self, k: Lang, raster: Value, shape: Value) -> None:
        self.k, self.raster, self.shape = k, raster, shape
        of = lambda word: k.load(I32, shape + word)
        self.left, self.top, self.right, self.bottom = (
            of(w) for w in (SHAPE.LEFT, SHAPE.TOP, SHAPE.RIGHT, SHAPE.BOTTOM)
        )
        self.four = of(SHAPE.EDGES) == EDGES
        self.edges = []
        for n in range(EDGES):
            a, b = of(SHAPE.A + 4 * n), of(SHAPE.B + 4 * n)
            c = k.load(I64, shape + (SHAPE.C + 8 * n))
            inner = lane_x(k) * a + lane_y(k) * b
            self.edges.append(EdgeFunction(a, b, c, k.load(F32, shape + (SHAPE.INVERSE + 4 * n)), inner))

    def span(self, y: Value) -> tuple[Value, Value]:
        """First and last column of pixels that may be covered in the row of blocks at pixel row `y`.

        It has one pixel more than necessary on each side, to allow for rounding.
        """
        k = self.k
        low, high = self.left, self.right
        for e in self.edges:
            upper = y << SUBPIXEL_BITS
            best = e.at(k, k.i32(0), k.select(e.b > 0, upper + BLOCK_HEIGHT * SUBPIXELS, upper))
            crossing = k.floor(-k.to_f32(k.to_f64(best)) * e.inverse)
            column = k.to_i32(crossing, -(1 << 20), 1 << 20)
            low = k.select(e.a > 0, k.max(low, column - 1), low)
            high = k.select(e.a < 0, k.min(high, column + 1), high)
        return low, high

    def _corner(self, e: EdgeFunction, x: Value, y: Value) -> Value:
        k = self.k
        return k.low32(k.clamp(e.at(k, x, y) >> SUBPIXEL_BITS, -BOUND, BOUND))

    def _inside(self, x: Value, y: Value) -> Value:
        """The ballot of the pixels for which a point is inside; x, y (1/256 pixel): the point in the block's first
        pixel."""
        k = self.k
        values = [self._corner(e, x, y) + e.inner for e in self.edges[:3]]
        found = k.var(k.ballot((values[0] | values[1] | values[2]) >= 0))
        for _ in k.when(self.four):
            e = self.edges[3]
            found.value = found.value & k.ballot(self._corner(e, x, y) + e.inner >= 0)
        return found.value

    def part(self, x: Value, y: Value) -> Value:
        """The fraction of each pixel of the block at pixel x, y that is inside of the fading edges of a smooth polygon
        (f32 lanes)."""
        k = self.k
        soft = k.load(I32, self.shape + SHAPE.SOFT)
        edges = [EdgeFunction(e.a, e.b, e.c - margin(k, e.a, e.b), e.inverse, e.inner) for e in self.edges[:3]]
        step = SUBPIXELS // _PLACES
        count = k.var(k.splat(0))
        for n in k.range(0, _PLACES * _PLACES):
            column, row = n & (_PLACES - 1), k.udiv(n, _PLACES)
            at = [(v << SUBPIXEL_BITS) + p * step + step // 2 for v, p in ((x, column), (y, row))]
            values = [
                k.select(((soft >> i) & 1) != 0, self._corner(e, at[0], at[1]) + e.inner, 0)
                for i, e in enumerate(edges)
            ]
            inside = (values[0] | values[1] | values[2]) >= 0
            count.value = count.value + k.select(inside, 1, 0)
        return k.to_f32(count.value) * (1.0 / (_PLACES * _PLACES))

    def box(self, x: Value, y: Value) -> Value:
        """The ballot of the pixels of the block at pixel x, y that are in the shape's box."""
        k = self.k
        found = k.var(-1)
        inside = (x >= self.left) & (y >= self.top)
        inside = inside & (x + (BLOCK_WIDTH - 1) <= self.right) & (y + (BLOCK_HEIGHT - 1) <= self.bottom)
        for _ in k.when(~inside):
            columns, rows = lane_x(k) + x, lane_y(k) + y
            mask = (columns >= self.left) & (columns <= self.right) & (rows >= self.top) & (rows <= self.bottom)
            found.value = k.ballot(mask)
        return found.value

    def centres(self, x: Value, y: Value) -> Value:
        """The ballot of the pixels of the block at pixel x, y whose centres are inside."""
        half = SUBPIXELS // 2
        return self._inside((x << SUBPIXEL_BITS) + half, (y << SUBPIXEL_BITS) + half)

    def samples(self, x: Value, y: Value, allowed: Value, count: Value, store: Value) -> Value:
        """Store a ballot for each of `count` samples at `store`: the pixels in `allowed` where it is covered and not
        masked. Returns the ballot of pixels with any sample."""
        k = self.k
        x, y = x << SUBPIXEL_BITS, y << SUBPIXEL_BITS
        reach = (BLOCK_WIDTH * SUBPIXELS, BLOCK_HEIGHT * SUBPIXELS)
        nowhere, everywhere = k.i32(0) != 0, k.i32(0) == 0
        for e in self.edges:
            start, (a, b) = e.at(k, x, y), (k.to_i64(e.a) * reach[0], k.to_i64(e.b) * reach[1])
            nowhere = nowhere | (start + k.max(a, 0) + k.max(b, 0) < 0)
            everywhere = everywhere & (start + k.min(a, 0) + k.min(b, 0) >= 0)
        some = k.var(0)

        def partly() -> None:
            for s in k.range(0, count):
                at = self.raster + (s << 2)
                dx, dy = (k.load(I32, at + w) * _UNIT for w in (RASTER.SAMPLE_X, RASTER.SAMPLE_Y))
                found = self._inside(x + dx, y + dy) & allowed & k.load(I32, at + RASTER.SAMPLES_LEFT)
                k.store(I32, store + (s << 2), found)
                some.value = some.value | found

        def whole() -> None:
            for s in k.range(0, count):
                found = allowed & k.load(I32, self.raster + (s << 2) + RASTER.SAMPLES_LEFT)
                k.store(I32, store + (s << 2), found)
                some.value = some.value | found

        for _ in k.when(~nowhere):
            k.branch(everywhere, whole, partly)
        return some.value


assert LANES == BLOCK_WIDTH * BLOCK_HEIGHT
