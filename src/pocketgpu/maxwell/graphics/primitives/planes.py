"""Planes of a primitive: how its attributes vary over the screen.

Each is a sum of the vertices' values with weights that are linear on the screen. Three weights are enough for any
primitive: of the first vertex's value, and of the differences of the other two from it. So a value that is the same at
all vertices is the same everywhere, bit for bit, unless perspective divides it.

A primitive's planes are in the order of PLANE_NAMES and then of the inputs, in groups of eight. After them are
constants and slopes as f64 of the first group and of the inputs, from which `move` makes the constants of a block.

For a clipped primitive the weights come from its clip positions (Olano and Greer, "Triangle scan conversion using 2D
homogeneous coordinates"): clipping makes no new attributes.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, F64, I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.primitives.assembled import (
    AT,
    INVERSE_W,
    LAYER,
    NUMBER,
    PROVOKING_AT,
    SUBPIXEL_BITS,
    SUBPIXELS,
    VIEWPORT_NUMBER,
    WINDOW_Z,
    PrimitiveBatch,
)
from pocketgpu.maxwell.graphics.primitives.clip import Clipper
from pocketgpu.maxwell.graphics.primitives.layout import CORNER_VECTORS, DOUBLES, HEAD_SIZE, plane_bytes, plane_offset
from pocketgpu.maxwell.graphics.records import GROUP, PIXEL_INPUT, PLANE, PLANE_NAMES, RASTER

Linear = list[Value]
"""Constant, slope along x, slope along y: f64, x and y in pixels from the origin."""


@dataclass
class Weights:
    """weights: of the first vertex, and of the differences of the second and the third.

    perspective, plain: factors of each vertex's values, for inputs with and without perspective. inverse_w, depth: 1 /
    w and window depth. origin: the pixel where x = y = 0.
    """

    weights: list[Linear]
    perspective: list[Value]
    plain: list[Value]
    inverse_w: Linear
    depth: Linear
    origin: tuple[Value, Value]


def _constant(k: Lang, v: float) -> Value:
    return k.const(v, F64)


def _mix(weights: list[Linear], values: list[Value]) -> Linear:
    """The plane of values (f64) of the vertices."""
    terms = [values[0], *(v - values[0] for v in values[1:])]
    out = []
    for i in range(3):
        total = terms[0] * weights[0][i]
        for term, weight in zip(terms[1:], weights[1:], strict=False):
            total = total + term * weight[i]
        out.append(total)
    return out


class PlaneMaker:
    """Makes the weights of one primitive of a batch, and its planes."""

    def __init__(self, batch: PrimitiveBatch, clipper: Clipper) -> None:
        self.k, self.batch, self.clipper = batch.k, batch, clipper
        self.kind = batch.kind

    # -- weights ----------------------------------------------------------------------------------------------------
    def weights(self, lane: Value, origin: tuple[Value, Value], clipped: Value) -> Weights:
        """The weights of the primitive in a lane whose corners are in the clipper."""
        k, kind = self.k, self.kind
        count = 3 * 3 + 2 * kind + 6

        def simple() -> tuple[Value, ...]:
            return self._flatten(self._simple(lane, origin))

        def hard() -> tuple[Value, ...]:
            return self._flatten(self._clipped(lane, origin))

        flat = list(simple() if kind == 1 else k.branch(clipped, hard, simple))
        assert len(flat) == count
        take = lambda n: [flat.pop(0) for _ in range(n)]
        linear = [take(3) for _ in range(3)]
        return Weights(linear, take(kind), take(kind), take(3), take(3), origin)

    @staticmethod
    def _flatten(w: Weights) -> tuple[Value, ...]:
        return (*(v for one in w.weights for v in one), *w.perspective, *w.plain, *w.inverse_w, *w.depth)

    def _of_corners(self, vector: int, lane: Value) -> list[Value]:
        """A number of each vertex (f64)."""
        read = lambda n: self.k.to_f64(self.batch.number(n * CORNER_VECTORS + vector, lane))
        return [read(n) for n in range(self.kind)]

    def _along(self, origin: tuple[Value, Value]) -> Linear:
        """The position along the line from the first corner to the second: 0 to 1."""
        k, c = self.k, self.clipper
        x, y = ([k.to_f64(v[i]) for i in range(2)] for v in (c.x, c.y))
        dx, dy = x[1] - x[0], y[1] - y[0]
        square = dx * dx + dy * dy
        scale = 1.0 / k.select(square == 0.0, _constant(k, 1.0), square)
        ox, oy = (k.to_f64(v << SUBPIXEL_BITS) for v in origin)
        at = ((ox - x[0]) * dx + (oy - y[0]) * dy) * scale
        return [at, dx * scale * float(SUBPIXELS), dy * scale * float(SUBPIXELS)]

    def _simple(self, lane: Value, origin: tuple[Value, Value]) -> Weights:
        """Weights of a primitive with all corners on the screen: from its snapped corners."""
        k = self.k
        zero, one = _constant(k, 0.0), _constant(k, 1.0)
        nothing, everywhere = [zero, zero, zero], [one, zero, zero]
        if self.kind == 3:
            weights = [everywhere, *self._areas(origin)]
        elif self.kind == 2:
            weights = [everywhere, self._along(origin), nothing]
        else:
            weights = [everywhere, nothing, nothing]
        inverse = self._of_corners(INVERSE_W, lane)
        depth = _mix(weights, self._of_corners(WINDOW_Z, lane))
        return Weights(weights, inverse, [one] * self.kind, _mix(weights, inverse), depth, origin)

    def _areas(self, origin: tuple[Value, Value]) -> list[Linear]:
        """Weights of the second and third corner of a triangle: areas between a point and its edges."""
        k, c = self.k, self.clipper
        x, y = ([k.to_i64(v[i]) for i in range(3)] for v in (c.x, c.y))
        ox, oy = (k.to_i64(v << SUBPIXEL_BITS) for v in origin)
        dx1, dy1, dx2, dy2 = x[1] - x[0], y[1] - y[0], x[2] - x[0], y[2] - y[0]
        px, py = ox - x[0], oy - y[0]
        area = k.to_f64(dx1 * dy2 - dx2 * dy1)
        scale = 1.0 / k.select(area == 0.0, _constant(k, 1.0), area)
        pixel = scale * float(SUBPIXELS)
        slope = lambda v: k.to_f64(v) * pixel
        second = [k.to_f64(px * dy2 - py * dx2) * scale, slope(dy2), -slope(dx2)]
        third = [k.to_f64(py * dx1 - px * dy1) * scale, -slope(dy1), slope(dx1)]
        return [second, third]

    def _clipped(self, lane: Value, origin: tuple[Value, Value]) -> Weights:
        """Weights of a clipped primitive: each vertex's share of value / w, from clip positions."""
        k, c = self.k, self.clipper
        vertices, (scale, offset) = c.vertices(lane), c.viewport(lane)
        w = [v[3] for v in vertices]
        one, zero = _constant(k, 1.0), _constant(k, 0.0)
        if self.kind == 3:
            half = k.to_f64(self.batch.of(RASTER.HALF)) * (1.0 / SUBPIXELS)
            x, y = (
                [v[a] * scale[a] + (offset[a] + half - k.to_f64(origin[a])) * v[3] for v in vertices] for a in range(2)
            )
            parts = []
            for i, j in ((1, 2), (2, 0), (0, 1)):
                parts.append([x[i] * y[j] - x[j] * y[i], y[i] * w[j] - y[j] * w[i], x[j] * w[i] - x[i] * w[j]])
            det = w[0] * parts[0][0] + x[0] * parts[0][1] + y[0] * parts[0][2]
            inverse = 1.0 / k.select(det == 0.0, one, det)
            parts = [[v * inverse for v in part] for part in parts]
        else:
            # The remaining ends have weights of both vertices.
            along = self._along(origin)
            parts = []
            for n in range(2):
                ends = []
                for i in range(2):
                    total = c.weights[0][i] * w[0] + c.weights[1][i] * w[1]
                    ends.append(c.weights[n][i] / total)
                difference = ends[1] - ends[0]
                parts.append([ends[0] + difference * along[0], difference * along[1], difference * along[2]])
        whole = [parts[0][i] + parts[1][i] + (parts[2][i] if self.kind == 3 else zero) for i in range(3)]
        weights = [whole, parts[1], parts[2] if self.kind == 3 else [zero, zero, zero]]
        depth = [v * scale[2] for v in _mix(weights, [v[2] for v in vertices])]
        depth[0] = depth[0] + offset[2]
        return Weights(weights, [one] * self.kind, w, whole, depth, origin)

    # -- planes -----------------------------------------------------------------------------------------------------
    def store(self, at: Value, lane: Value, w: Weights, front: Value, sprite: list[list[Value]] | None) -> None:
        """Store the planes of a primitive at `at`.

        front: 1 or 0. sprite: planes (f32) of s and t on a point.
        """
        k, batch = self.k, self.batch
        zero, one = _constant(k, 0.0), _constant(k, 1.0)
        half = k.to_f32(batch.of(RASTER.HALF)) * (1.0 / SUBPIXELS)
        x, y = (k.to_f64(k.to_f32(v) - half) for v in w.origin)
        nothing: Linear = [zero, zero, zero]
        s, t = ([k.to_f64(v) for v in plane] for plane in sprite) if sprite is not None else (nothing, nothing)
        moved = {
            "ZERO": nothing, "ONE": [one, zero, zero], "X": [x, one, zero], "Y": [y, zero, one],
            "Z": w.depth, "INVERSE_W": w.inverse_w, "POINT_S": s, "POINT_T": t,
        }  # fmt: skip
        doubles = at + plane_bytes(batch.of(RASTER.INPUT_GROUPS))
        for n, name in enumerate(PLANE_NAMES[:GROUP]):
            for i, v in enumerate(moved[name]):
                k.store(F64, doubles + 8 * (GROUP * i + n), v)
        out = [k.to_f32(k.load(F64, doubles + 8 * GROUP * i, GROUP)) for i in range(3)]
        self._group(at, out, out[0])
        constants = {
            "FRONT": -front, "PRIMITIVE_ID": batch.word(NUMBER, lane), "LAYER": batch.word(LAYER, lane),
            "VIEWPORT": batch.word(VIEWPORT_NUMBER, lane),
        }  # fmt: skip
        none = k.const(0.0, F32, GROUP)
        self._group(at + PLANE.size, [none, none, none], none)
        for name, v in constants.items():
            for word in (PLANE.C, PLANE.FLAT):
                k.store(I32, at + (plane_offset(name) + word), v)
        self._inputs(at + HEAD_SIZE, doubles + DOUBLES, lane, w, front, sprite)

    def _group(self, at: Value, linear: list[Value], flat: Value) -> None:
        """Store a group of planes: vectors (f32) of the constants, of both slopes, and of the flat values."""
        for n, v in enumerate((*linear, flat)):
            self.k.store(F32, at + 4 * GROUP * n, v)

    def _inputs(
        self, at: Value, doubles: Value, lane: Value, w: Weights, front: Value, sprite: list[list[Value]] | None
    ) -> None:
        """The planes of the program's inputs, eight at a time."""
        k, batch, kind = self.k, self.batch, self.kind
        wide = lambda v: k.fit(v, F64, GROUP)
        weights = [[wide(v) for v in one] for one in w.weights]
        perspective, plain = ([wide(v) for v in values] for values in (w.perspective, w.plain))
        places = [batch.word(n * CORNER_VECTORS + AT, lane) for n in range(kind)]
        provoking = batch.word(PROVOKING_AT, lane)
        back = (front == 0) & (batch.of(RASTER.TWO_SIDED) != 0)
        side = k.select(back, PIXEL_INPUT.BACK, PIXEL_INPUT.FRONT)
        table = batch.of(RASTER.INPUTS)
        for group in k.range(0, batch.of(RASTER.INPUT_GROUPS)):
            entry = table + group * PIXEL_INPUT.size
            source = k.load(I32, entry + side, GROUP)
            straight = k.load(F32, entry + PIXEL_INPUT.LINEAR, GROUP) != 0.0
            values = [
                k.to_f64(k.gather(F32, source + place)) * k.select(straight, p, q)
                for place, p, q in zip(places, plain, perspective, strict=True)
            ]
            out = _mix(weights, values)
            flat = k.bits_f32(k.gather(I32, source + provoking))
            if sprite is not None:
                kind_of = k.load(I32, entry + PIXEL_INPUT.SPRITE, GROUP)
                s, t = ([wide(k.to_f64(v)) for v in one] for one in sprite)
                for i in range(3):
                    constant = k.select(kind_of == 4, 1.0 if i == 0 else 0.0, wide(0.0))
                    made = k.select(kind_of == 1, s[i], k.select(kind_of == 2, t[i], constant))
                    out[i] = k.select(kind_of == 0, out[i], made)
            for i, v in enumerate(out):
                k.store(F64, doubles + group * DOUBLES + 8 * GROUP * i, v)
            self._group(at + group * PLANE.size, [k.to_f32(v) for v in out], flat)


def move(k: Lang, planes: Value, groups: Value, to: Value, x: Value, y: Value, origin: tuple[Value, Value]) -> None:
    """Make pixel x, y the origin of planes: constants of the copy at `to`, from the f64 words of `planes`.

    origin: the old origin. Constants of planes without slope stay.
    """
    far = [k.fit(k.to_f64(v - o), F64, GROUP) for v, o in zip((x, y), origin, strict=True)]

    def group(at: Value, place: Value) -> None:
        c, dx, dy = (k.load(F64, at + 8 * GROUP * i, GROUP) for i in range(3))
        k.store(F32, place, k.to_f32(c + dx * far[0] + dy * far[1]))

    doubles = planes + plane_bytes(groups)
    group(doubles, to)
    for n in k.range(0, groups):
        group(doubles + (n + 1) * DOUBLES, to + HEAD_SIZE + n * PLANE.size)
