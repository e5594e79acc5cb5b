"""Clipping of one triangle or line against the planes that some of its corners are outside of.

A polygon of *weights* is clipped: a corner has a weight for each of the primitive's vertices. So one algorithm clips
against any number of planes, and only positions are computed again: planes of attributes come from the whole primitive
(set-up). The cut of an edge is computed from its end that is inside, in whichever order the ends come, so two
primitives with a common edge are cut at the same point.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, F64, I32, Lang, Value
from pocketgpu.maxwell.graphics.primitives.assembled import (
    CLIP_W,
    CLIP_X,
    CLIP_Y,
    CLIP_Z,
    CODES,
    DISTANCES,
    GUARD,
    LEAST_W,
    PLANES,
    USER_SHIFT,
    VIEWPORT_OFFSET,
    PrimitiveBatch,
    X,
    Y,
    snap,
)
from pocketgpu.maxwell.graphics.primitives.layout import CORNER_VECTORS, USER_PLANES
from pocketgpu.maxwell.graphics.records import RASTER, VIEWPORT
from pocketgpu.maxwell.sass.thread_memory.work import VECTOR

MAX_CORNERS = 3 + PLANES + 2
"""Each plane adds one corner to a convex polygon; NaN may make it not quite convex."""
NO_EDGE = 3


class Clipper:
    """The corners of one primitive: on the screen, and as weights of its vertices.

    x, y: corners in 1/256 pixel; count: how many. source: the vertex of corner i, or NO_EDGE. edge: the edge of the
    primitive (from vertex n to the next) that contains corners i and i + 1, or NO_EDGE if clipping made it.
    """

    def __init__(self, batch: PrimitiveBatch) -> None:
        k = self.k = batch.k
        self.batch = batch
        self.kind = batch.kind
        self.x, self.y = (k.array(MAX_CORNERS, I32, lanes=1) for _ in range(2))
        self.source, self.edge = (k.array(MAX_CORNERS, I32, lanes=1) for _ in range(2))
        self.count = k.var(0)
        self.weights = [k.array(MAX_CORNERS, F64, lanes=1) for _ in range(batch.kind)]
        self._before = [k.array(MAX_CORNERS, F64, lanes=1) for _ in range(batch.kind)]
        self._sides = k.array(PLANES * batch.kind, F64, lanes=1)

    def whole(self, lane: Value) -> None:
        """The corners of a primitive that needs no clipping."""
        for n in range(self.kind):
            self.x[n] = self.batch.word(n * CORNER_VECTORS + X, lane)
            self.y[n] = self.batch.word(n * CORNER_VECTORS + Y, lane)
            self.source[n] = n
            self.edge[n] = n
            for i, weights in enumerate(self.weights):
                weights[n] = self.k.const(float(i == n), F64)
        self.count.value = self.kind

    def vertices(self, lane: Value) -> list[list[Value]]:
        """Clip positions (f64) of the vertices."""
        number = lambda n, v: self.k.to_f64(self.batch.number(n * CORNER_VECTORS + v, lane))
        return [[number(n, v) for v in (CLIP_X, CLIP_Y, CLIP_Z, CLIP_W)] for n in range(self.kind)]

    def viewport(self, lane: Value) -> tuple[list[Value], list[Value]]:
        """Scale and offset (f64) of x, y, z of the primitive's viewport."""
        k, viewport = self.k, self.batch.word(VIEWPORT_OFFSET, lane)
        read = lambda word, i: k.to_f64(k.load(F32, viewport + (word + 4 * i)))
        return [read(VIEWPORT.SCALE, i) for i in range(3)], [read(VIEWPORT.OFFSET, i) for i in range(3)]

    def clipped(self, lane: Value) -> None:
        """The corners of a primitive after clipping against all planes in its CODES."""
        k, batch = self.k, self.batch
        self.whole(lane)
        vertices, (scale, offset) = self.vertices(lane), self.viewport(lane)
        self._measure(lane, vertices, scale, offset)
        codes = batch.word(CODES, lane)
        for plane in k.range(0, PLANES):
            for _ in k.when(((codes >> plane) & 1) != 0):
                if self.kind == 2:
                    self._shorten(plane)
                else:
                    self._cut(plane)
        self._project(lane, vertices, scale, offset)

    def _measure(self, lane: Value, vertices: list[list[Value]], scale: list[Value], offset: list[Value]) -> None:
        """Compute the distance of each vertex from each plane; positive is inside."""
        k, batch = self.k, self.batch
        near_zero = batch.of(RASTER.NEAR_ZERO) != 0
        for n, (x, y, z, w) in enumerate(vertices):
            sides = [k.select(near_zero, z, z + w), w - z, w - LEAST_W]
            for p, s, o in zip((x, y), scale, offset, strict=False):
                at = p * s + o * w
                sides += [at + w * GUARD, w * GUARD - at]
            for number, side in enumerate(sides):
                self._sides[number * self.kind + n] = side
        for _ in k.when(batch.of(RASTER.USER_PLANES) != 0):
            for plane in k.range(0, USER_PLANES):
                for n in range(self.kind):
                    distance = batch.scratch + (plane * 3 + (DISTANCES + n)) * VECTOR + (lane << 2)
                    self._sides[(plane + USER_SHIFT) * self.kind + n] = k.to_f64(k.load(F32, distance))

    def _side(self, plane: Value, weights: list[Value]) -> Value:
        first = plane * self.kind
        total = weights[0] * self._sides[first]
        for n in range(1, self.kind):
            total = total + weights[n] * self._sides[first + n]
        return total

    @staticmethod
    def _crossing(k: Lang, a: list[Value], b: list[Value], da: Value, db: Value) -> list[Value]:
        """Intersection of the segment from a to b with the plane, computed from the end that is inside."""
        swap = da < 0.0
        inside, outside = k.select(swap, db, da), k.select(swap, da, db)
        t = inside / (inside - outside)
        out = []
        for u, v in zip(a, b, strict=True):
            start, end = k.select(swap, v, u), k.select(swap, u, v)
            out.append(start + (end - start) * t)
        return out

    def _shorten(self, plane: Value) -> None:
        """Clip a line."""
        k = self.k
        a, b = ([w[i] for w in self.weights] for i in range(2))
        da, db = self._side(plane, a), self._side(plane, b)
        for _ in k.when((da >= 0.0) | (db >= 0.0)):
            for _ in k.when(~((da >= 0.0) & (db >= 0.0))):
                corner = self._crossing(k, a, b, da, db)
                replaced = k.select(da < 0.0, 0, 1)
                for weights, v in zip(self.weights, corner, strict=True):
                    weights[replaced] = v
        for _ in k.when(~((da >= 0.0) | (db >= 0.0))):
            self.count.value = 0

    def _cut(self, plane: Value) -> None:
        """Clip a polygon (Sutherland and Hodgman)."""
        k = self.k
        n = self.count.value
        for i in k.range(0, n):
            for before, weights in zip(self._before, self.weights, strict=True):
                before[i] = weights[i]
        made = k.var(0)

        def keep(corner: list[Value]) -> None:
            for _ in k.when(made.value < MAX_CORNERS):
                for weights, v in zip(self.weights, corner, strict=True):
                    weights[made.value] = v
                made.value = made.value + 1

        for i in k.range(0, n):
            previous = k.select(i == 0, n - 1, i - 1)
            a, b = [w[previous] for w in self._before], [w[i] for w in self._before]
            da, db = self._side(plane, a), self._side(plane, b)
            for _ in k.when((da >= 0.0) != (db >= 0.0)):
                keep(self._crossing(k, a, b, da, db))
            for _ in k.when(db >= 0.0):
                keep(b)
        self.count.value = k.select(made.value >= 3, made.value, 0)

    def _project(self, lane: Value, vertices: list[list[Value]], scale: list[Value], offset: list[Value]) -> None:
        """Corners on the screen. Vertices that remain keep the positions that neighbours use."""
        k, batch = self.k, self.batch
        half = batch.of(RASTER.HALF)
        for i in k.range(0, self.count.value):
            weights = [w[i] for w in self.weights]
            at = []
            for axis in (0, 1, 3):
                total = weights[0] * vertices[0][axis]
                for n in range(1, self.kind):
                    total = total + weights[n] * vertices[n][axis]
                at.append(total)
            x, y, w = at
            column, row = (
                snap(k, k.clamp(k.to_f32(p / w * s + o), -GUARD, GUARD)) + half
                for p, s, o in zip((x, y), scale, offset, strict=False)
            )
            source = k.i32(NO_EDGE)
            for n in range(self.kind):
                same = weights[n] == 1.0
                source = k.select(same, n, source)
                column = k.select(same, batch.word(n * CORNER_VECTORS + X, lane), column)
                row = k.select(same, batch.word(n * CORNER_VECTORS + Y, lane), row)
            self.x[i], self.y[i], self.source[i] = column, row, source
            after = k.select(i + 1 == self.count.value, 0, i + 1)
            edge = k.i32(NO_EDGE)
            for m in range(self.kind):
                both = (weights[m] == 0.0) & (self.weights[m][after] == 0.0)
                edge = k.select(both, (m + 1) % 3, edge)
            self.edge[i] = edge if self.kind == 3 else k.i32(0)
