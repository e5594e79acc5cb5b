"""A call that reads a texture: its coordinates, and the level of detail."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pocketgpu.lanes import BOOL, F32, I32, Value
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.lookup import Record, Request
from pocketgpu.maxwell.sampling.records import Call
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH


class Sampling:
    """One call, for the lanes that use one texture."""

    def __init__(self, request: Request, record: Record, lanes: Value, choices: Mapping[str, str]) -> None:
        self.k, self.request, self.record, self.lanes = request.k, request, record, lanes
        self.choices = choices
        request_bits = request.bits
        self.cube = request_bits(Call.CUBE) != 0
        self.faces: Value | bool = self.cube
        """Whether coordinates are directions, as the level of detail takes them."""
        self.lod = request_bits(Call.LOD)

    def _f32(self, n: int) -> Value:
        return self.k.bits_f32(self.request.take(n))

    # -- the level of detail ----------------------------------------------------------------------------------------
    def quads(self) -> Value:
        """Whether adjacent lanes are adjacent pixels."""
        k, request = self.k, self.request
        known = k.load(I32, request.launch + LAUNCH.QUADS) | request.bits(Call.QUADS)
        return k.fit(known != 0, BOOL, 1)

    def gradients(self, scale: tuple[Value, Value, Value]) -> tuple[list[Value], list[Value]]:
        """Derivatives of coordinates along x and y, times `scale` (texels for coordinates); 0 if there is no source for
        them."""
        k = self.k
        zero = self.request.splat(0.0, F32)
        # Coordinates that the target does not have are what an earlier call has left.
        dimensions = self.request.bits(Call.DIMENSIONS)
        xyz = [self._f32(r.V_X)]
        xyz += [k.select(dimensions > n, self._f32(r.V_X + n), zero) for n in (1, 2)]

        def by_quads() -> tuple[Value, ...]:
            pairs = [c.slopes(k, v) for v in xyz]
            return tuple(x for x, _ in pairs) + tuple(y for _, y in pairs)

        def given() -> tuple[Value, ...]:
            four = [self._f32(r.V_GRADIENTS + n) for n in range(4)]
            if self.choices["texture.gradient_order"] == "pairs":
                return four[0], four[1], zero, four[2], four[3], zero
            return four[0], four[2], zero, four[1], four[3], zero

        nothing = lambda: (zero,) * 6
        way = k.select(self.lod == r.GRADIENTS, 2, k.select(self.quads(), 1, 0))
        found = k.switch(way, [nothing, by_quads, given])
        along = [list(found[:3]), list(found[3:])]

        def on_faces() -> tuple[Value, ...]:
            """Derivatives of the coordinates on the face: by the quotient rule."""
            _, s, t, major = c.face_of(k, *xyz)
            x_major, y_major = k.abs(xyz[0]) == major, k.abs(xyz[1]) == major
            pick = lambda v: k.select(x_major, v[0], k.select(y_major, v[1], v[2]))
            sign = k.select(pick(xyz) < 0.0, self.request.splat(-1.0, F32), 1.0)
            inverse = 0.5 / (major * major)
            out = []
            for d in along:
                _, ds, dt = self._on_face(xyz, d)
                dm = pick(d) * sign
                out += [(ds * major - s * dm) * inverse, (dt * major - t * dm) * inverse, zero]
            return tuple(out)

        found = k.branch(self.faces, on_faces, lambda: tuple(along[0] + along[1]))
        scaled = [v * scale[n % 3] for n, v in enumerate(found)]
        return scaled[:3], scaled[3:]

    def _on_face(self, xyz: list[Value], d: list[Value]) -> tuple[Value, Value, Value]:
        """A change of a direction in the coordinates of its face."""
        k = self.k
        ax, ay, az = (k.abs(v) for v in xyz)
        on_x, on_y = (ax >= ay) & (ax >= az), ay >= az
        pick = lambda a, b, e: k.select(on_x, a, k.select(on_y, b, e))
        minus = pick(*xyz) < 0.0
        s = pick(k.select(minus, d[2], -d[2]), d[0], k.select(minus, -d[0], d[0]))
        t = pick(-d[1], k.select(minus, -d[2], d[2]), -d[1])
        return on_x, s, t

    def scale(self) -> tuple[Value, Value, Value]:
        """Texels for a coordinate's unit on the first level; 1 where coordinates are in texels."""
        k, record = self.k, self.record
        normalized = record.flag(r.NORMALIZED)
        one = lambda name: k.select(normalized, k.to_f32(record.word(name)), 1.0)
        return one("WIDTH"), one("HEIGHT"), one("DEPTH")

    def bounded(self, level: Value) -> Value:
        """A level of detail with the bias of header and sampler, clamped to their range."""
        record = self.record
        return self.k.clamp(level + record.number("LOD_BIAS"), record.number("MIN_LOD"), record.number("MAX_LOD"))

    def explicit(self) -> Value:
        """The level of detail or bias of the instruction, or 0."""
        k = self.k
        given = self._f32(r.V_LOD)
        used = (self.lod == r.LEVEL) | (self.lod == r.BIAS)
        return k.select(used, k.select(given == given, given, 0.0), 0.0)

    def from_pixels(self) -> Value:
        """Whether the level comes from neighbours or gradients."""
        return (self.lod == r.AUTO) | (self.lod == r.BIAS) | (self.lod == r.GRADIENTS)

    def raw_level(self) -> Value:
        """The level of detail of neighbours or gradients."""
        return c.level_of(self.k, *self.gradients(self.scale()))

    def level(self, raw: Callable[[], Value] | None = None) -> Value:
        """The level of detail. raw: gives `raw_level`, if it is known."""
        computed = lambda: (raw or self.raw_level)() + self.explicit()
        return self.bounded(self.k.branch(self.from_pixels(), computed, self.explicit))

    def levels_of(self, level: Value) -> tuple[Value, Value, Value]:
        """(the first of the two levels that are read, the last level that there is, how much the second one counts, in
        1/256) for a level of detail."""
        k, record = self.k, self.record
        last = record.word("LEVELS") - 1
        smooth = record.word("MIP") == r.MIP_LINEAR
        fixed = k.to_i32(k.floor(level * 256.0 + k.select(smooth, 0.5, 128.0)), 0.0, 4095.0)
        first = k.min(fixed >> 8, last)
        return first, last, k.select(smooth & (first < last), fixed & 255, 0)
