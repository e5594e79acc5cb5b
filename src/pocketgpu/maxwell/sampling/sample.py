"""Filtered texture reads: TEX, TEXS, TXD.

There are three kernels with the same kind of result. `sample` is for what nearly all programs do: two-dimensional
textures of 8-bit colours without a border, each lane one bilinear read, or two with mipmaps. It calls `sample_numbers`
for the same reads of other formats, and `sample_rare` for others: that one handles every target, filter and address
mode, and loops over the texels of a footprint with one piece of code for all of them. In one kernel with it, the usual
reads would take a quarter longer: LLVM prepares for both before the loops. And one kernel for all formats would take
six times as long to be compiled.

Weights have 8 bits. Products of 8-bit colours and weights are summed exactly and divided once; other formats are summed
as f32 in the order of texels (x first, then y, z, levels, samples).
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.lanes import BOOL, F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.lookup import Record, Request, each_texture
from pocketgpu.maxwell.sampling.records import RECORD, Call
from pocketgpu.maxwell.sampling.texels import TexelSum, compared, finish, load_texel, texel, texel_offsets
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH

_FULL = 255.0 * 65536.0


def _divided(k: Lang, total: Value) -> Value:
    """A sum of products of codes and weights divided by the largest one, to the nearest f32."""
    if not k.fused:
        return total / _FULL
    # Two multiply-adds correct the product with the reciprocal to the nearest quotient (Markstein). A division takes
    # several times as long.
    inverse = k.f32(1.0) / _FULL
    first = total * inverse
    return k.fma(k.fma(-first, _FULL, total), inverse, first)


class Sampling:
    """One call, for the lanes that use one texture."""

    def __init__(self, request: Request, record: Record, lanes: Value, choices: Mapping[str, str]) -> None:
        self.k, self.request, self.record, self.lanes = request.k, request, record, lanes
        self.choices = choices
        self.k.probe("texture.lanes", lanes)
        request_bits = request.bits
        self.cube = request_bits(Call.CUBE) != 0
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
        xyz = [self._f32(n) for n in (r.V_X, r.V_Y, r.V_Z)]
        zero = k.splat(0.0, type=F32)

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
            sign = k.select(pick(xyz) < 0.0, k.splat(-1.0, type=F32), 1.0)
            inverse = 0.5 / (major * major)
            out = []
            for d in along:
                _, ds, dt = self._on_face(xyz, d)
                dm = pick(d) * sign
                out += [(ds * major - s * dm) * inverse, (dt * major - t * dm) * inverse, zero]
            return tuple(out)

        found = k.branch(self.cube, on_faces, lambda: tuple(along[0] + along[1]))
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

    def level(self) -> Value:
        """The level of detail."""
        k = self.k

        def computed() -> Value:
            return c.level_of(k, *self.gradients(self.scale())) + self.explicit()

        return self.bounded(k.branch(self.from_pixels(), computed, self.explicit))

    # -- the quick way ----------------------------------------------------------------------------------------------
    def quick(self, codes: bool) -> None:
        """Two dimensions, no border. codes: the format is UNORM8, otherwise it is another one."""
        k, record = self.k, self.record
        mag, least, mip = record.word("MAG"), record.word("MIN"), record.word("MIP")
        needed = record.flag(r.NEEDS_LEVEL)
        level = k.branch(needed, self.level, lambda: k.splat(0.0, type=F32))
        k.probe("texture.level", level)
        nearby = level <= 0.0
        linear = k.select(nearby, k.splat(mag == r.LINEAR), k.splat(least == r.LINEAR))
        s, t = self._f32(r.V_X), self._f32(r.V_Y)
        layer = k.branch(
            self.request.bits(Call.ARRAY) != 0,
            lambda: k.clamp(self.request.take(r.V_LAYER) & 0xFFFF, 0, record.word("LAYERS") - 1),
            lambda: k.splat(0),
        )

        last = record.word("LEVELS") - 1
        smooth = mip == r.MIP_LINEAR
        fixed = k.to_i32(k.floor(level * 256.0 + k.select(smooth, 0.5, 128.0)), 0.0, 4095.0)
        first = k.min(fixed >> 8, last)
        part = k.select(smooth & (first < last), fixed & 255, 0)

        def at(n: Value) -> tuple[Value, ...]:
            width, height = (k.max(k.splat(record.word(side)).lsr(n), 1) for side in ("WIDTH", "HEIGHT"))
            start = k.gather(I32, (n << 2) + (record.at + RECORD.LEVEL))
            return self._two(codes, s, t, (width, height), start, layer, linear)

        def levels(first: Value, part: Value) -> tuple[Value, ...]:
            """The lower level is mixed in by a second turn of a loop, so that there is one piece of code for both."""
            sums = [k.var(k.splat(0.0, type=F32)) for _ in range(4)]
            share = k.to_f32(part) * (1.0 / 256.0)
            for number in k.range(0, k.select(k.any((part != 0) & self.lanes), 2, 1)):
                for sum, value in zip(sums, at(k.min(first + number, last)), strict=True):
                    mixed = sum.value + (value - sum.value) * share
                    sum.value = k.select(number == 0, value, k.select(part != 0, mixed, sum.value))
            return tuple(sum.value for sum in sums)

        def flat() -> tuple[Value, ...]:
            width, height = record.word("WIDTH"), record.word("HEIGHT")
            return self._two(codes, s, t, (width, height), k.splat(record.word("LEVEL")), layer, linear)

        several = needed & (mip != r.MIP_NONE)
        if codes:
            found = k.branch(several, lambda: levels(first, part), flat)
            finish(self.request, [_divided(k, v) for v in found], None, self.lanes)
        else:
            found = levels(k.select(several, first, 0), k.select(several, part, 0))
            finish(self.request, found, None, self.lanes)

    def _two(
        self, codes: bool, s: Value, t: Value, size: tuple[Value, Value], start: Value, layer: Value, linear: Value
    ) -> tuple[Value, ...]:  # fmt: skip
        """Four components on one level; of codes of 8 bits their sums with weights (65536 in all).

        size: of the level, scalars or lanes. start: arena offset of its copy.
        """
        k, record = self.k, self.record
        width, height = size
        powers = record.flag(r.POWERS)
        u = c.places(k, s * k.to_f32(width), linear, self.choices)
        v = c.places(k, t * k.to_f32(height), linear, self.choices)
        wide = k.splat(width) if width.lanes == 1 else width
        high = k.splat(height) if height.lanes == 1 else height
        around = lambda x, n, axis: c.wrap(k, x, n, record.word("WRAP", axis), powers)[0]
        x0, y0 = around(u >> 8, wide, 0), around(v >> 8, high, 1)

        before, place = layer * (wide * high), start
        index = lambda x, y: before + (y * wide + x)
        x1 = lambda: around((u >> 8) + 1, wide, 0)
        y1 = lambda: around((v >> 8) + 1, high, 1)
        fx, fy = u & 255, v & 255
        for name, value in (("x", x0), ("y", y0), ("part_x", fx), ("part_y", fy)):
            k.probe(f"texture.{name}", value)

        def word(x: Value, y: Value) -> Value:
            found = k.gather(I32, (index(x, y) << 2) + place, self.lanes)
            k.probe("texture.texel", found)
            return found

        def one_code() -> tuple[Value, ...]:
            w = word(x0, y0)
            return tuple(k.to_f32(w.lsr(8 * n) & 255) * 65536.0 for n in range(4))

        def four_codes() -> tuple[Value, ...]:
            right = fx | (fx << 16)
            left = 0x01000100 - right
            below, above = k.to_f32(fy), k.to_f32(256 - fy)
            even, xs = 0x00FF00FF, (x0, x1())

            def row(y: Value) -> tuple[Value, Value]:
                a, b = (word(x, y) for x in xs)
                mixed = lambda a, b: k.mul_halves(a, left) + k.mul_halves(b, right)
                return mixed(a & even, b & even), mixed(a.lsr(8) & even, b.lsr(8) & even)

            top, bottom = row(y0), row(y1())
            out = []
            for n in range(4):
                part = lambda pair, n=n: k.to_f32((pair[n & 1] & 0xFFFF) if n < 2 else pair[n & 1].lsr(16))
                out.append(part(top) * above + part(bottom) * below)
            return tuple(out)

        between = k.any(linear & self.lanes)
        if codes:
            return tuple(k.branch(between, four_codes, one_code))
        total = [k.var(k.splat(0.0, type=F32)) for _ in range(4)]
        right_x, lower_y = x1(), y1()
        for corner in k.range(0, k.select(between, 4, 1)):
            right, lower = (corner & 1) != 0, (corner & 2) != 0
            x, y = k.select(right, right_x, x0), k.select(lower, lower_y, y0)
            words = load_texel(self.request, record, place, index(x, y), self.lanes)
            part = k.select(right, fx, 256 - fx) * k.select(lower, fy, 256 - fy)
            weight = k.to_f32(part) * (1.0 / 65536.0)
            for sum, word_ in zip(total, words, strict=True):
                value = k.bits_f32(word_)
                # Texels with weight 0 are ignored, even if they are infinite.
                product = k.select(weight > 0.0, weight * value, 0.0)
                summed = k.select(corner == 0, product, sum.value + product)
                sum.value = k.select(between, summed, value)
        return tuple(sum.value for sum in total)

    # -- the general way --------------------------------------------------------------------------------------------
    def general(self) -> None:
        """Every target, filter and format."""
        k, record, request = self.k, self.record, self.request
        xyz = [self._f32(n) for n in (r.V_X, r.V_Y, r.V_Z)]
        most = record.word("ANISOTROPY")
        scale = self.scale()
        zero, none = k.splat(0.0, type=F32), k.splat(1)

        def several() -> tuple[Value, ...]:
            along_x, along_y = self.gradients(scale)
            level, count, by_x = c.footprint(k, along_x[:2], along_y[:2], most)
            pick = lambda n: k.select(by_x, along_x[n], along_y[n]) / scale[n]
            return self.bounded(level + self.explicit()), count, pick(0), pick(1)

        wanted = (most > 1) & self.from_pixels() & ~self.cube
        level, count, step_x, step_y = k.branch(wanted, several, lambda: (self.level(), none, zero, zero))
        k.probe("texture.level", level)
        linear = k.select(
            level <= 0.0, k.splat(record.word("MAG") == r.LINEAR), k.splat(record.word("MIN") == r.LINEAR)
        )
        mip, last = record.word("MIP"), record.word("LEVELS") - 1
        smooth = mip == r.MIP_LINEAR
        fixed = k.to_i32(k.floor(level * 256.0 + k.select(smooth, 0.5, 128.0)), 0.0, 4095.0)
        fixed = k.select(mip == r.MIP_NONE, k.splat(0), fixed)
        first = k.min(fixed >> 8, last)
        part = k.select(smooth & (first < last), fixed & 255, 0)
        face, s, t, major = c.face_of(k, *xyz)
        half = 0.5 / k.select(major > 0.0, major, 1.0)
        on_face = [s * half + 0.5, t * half + 0.5, zero]
        xyz = [k.select(self.cube, a, b) for a, b in zip(on_face, xyz, strict=True)]
        face = k.select(self.cube, face, k.splat(0))
        layer = k.select(request.bits(Call.ARRAY) != 0, request.take(r.V_LAYER) & 0xFFFF, 0)
        layer = k.select(self.cube, layer * 6 + face, layer)
        layer = k.clamp(layer, 0, record.word("LAYERS") - 1)
        total = TexelSum(k)
        reduction = record.word("REDUCTION")
        levels = k.select(k.any((part != 0) & self.lanes), 2, 1)
        dimensions = request.bits(Call.DIMENSIONS)
        corners = k.select(self.cube, 4, k.i32(1) << dimensions)
        corners = k.select(k.any(linear & self.lanes), corners, 1)
        taps = k.reduce("max", k.select(self.lanes, count, 1))
        share = 1.0 / k.to_f32(count)
        for tap in k.range(0, taps):
            off = (k.to_f32(tap) + 0.5) * share - 0.5
            at = [xyz[0] + step_x * off, xyz[1] + step_y * off, xyz[2]]
            in_tap = tap < count
            for second in k.range(0, levels):
                number = k.min(first + second, last)
                weight = k.select(k.i32(0) == second, 256 - part, part)
                weight = k.select(in_tap, k.to_f32(weight) * (1.0 / 256.0) * share, 0.0)
                self._level(at, layer, number, linear, corners, weight, total, reduction)
        values = total.values()
        integer = record.word("KIND") == r.INTEGER
        finish(request, values, (integer, total.words()), self.lanes)

    def _level(
        self, at: list[Value], layer: Value, number: Value, linear: Value, corners: Value, weight: Value,
        total: TexelSum, reduction: Value,
    ) -> None:  # fmt: skip
        """Add the texels around a place on one level."""
        k, record, request = self.k, self.record, self.request
        normalized = record.flag(r.NORMALIZED)
        sizes = [k.max(k.splat(record.word(name)).lsr(number), 1) for name in ("WIDTH", "HEIGHT", "DEPTH")]
        place = []
        offsets = texel_offsets(request)
        for axis in range(3):
            scaled = at[axis] * k.select(normalized, k.to_f32(sizes[axis]), 1.0)
            fixed = c.places(k, scaled, linear, self.choices) + (offsets[axis] << 8)
            place.append(c.confined(k, fixed, sizes[axis], record.word("WRAP", axis), linear))
        whole, parts = [p >> 8 for p in place], [p & 255 for p in place]
        # Axes that a target does not have are one texel wide.
        dimensions = request.bits(Call.DIMENSIONS)
        for axis, has in ((1, dimensions >= 2), (2, (dimensions >= 3) & ~self.cube)):
            whole[axis] = k.select(has, whole[axis], 0)
            parts[axis] = k.select(has, parts[axis], 0)
        seamless = record.flag(r.SEAMLESS) & self.cube
        lost = k.branch(seamless, lambda: self._lost(whole, parts, sizes[0]), lambda: k.splat(0.0, type=F32))
        for corner in k.range(0, corners):
            bits = [corner.lsr(n) & 1 for n in range(3)]
            w = weight
            for axis in range(3):
                w = w * (k.to_f32(k.select(bits[axis] != 0, parts[axis], 256 - parts[axis])) * (1.0 / 256.0))
            # A whole level's weight without that of a cube's corner, which has no texel.
            w = w + lost * weight * (1.0 / 3.0)
            x, y, z = (whole[n] + bits[n] for n in range(3))
            found, nowhere = texel(request, record, x, y, z, layer, number, sizes, self.cube, self.lanes)
            w = k.select(nowhere, 0.0, w)
            k.probe("texture.weight", w)
            total.add(compared(request, record, found), w, reduction)

    def _lost(self, whole: list[Value], parts: list[Value], n: Value) -> Value:
        """The weight of the texel beyond a corner of a cube's face."""
        k = self.k
        total = k.splat(0.0, type=F32)
        for corner in range(4):
            x, y = whole[0] + (corner & 1), whole[1] + (corner >> 1)
            fx = parts[0] if corner & 1 else 256 - parts[0]
            fy = parts[1] if corner >> 1 else 256 - parts[1]
            total = total + k.select(~x.below(n) & ~y.below(n), k.to_f32(fx * fy) * (1.0 / 65536.0), 0.0)
        return total


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, handle=I32)
def sample(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Filtered reads for the lanes of a mask. what, handle: see calls.py; vectors in and out: records.py."""
    request = Request(k, launch, slot, warp, instruction, what)

    def run(record: Record, lanes: Value) -> None:
        one = Sampling(request, record, lanes, dict(choices))
        plain = (Call.DIMENSIONS, 2), (Call.CUBE, 0), (Call.COMPARE, 0), (Call.OFFSETS, 0)
        quick = record.flag(r.FAST)
        for field, value in plain:
            quick = quick & (request.bits(field) == value)
        codes = record.word("KIND") == r.UNORM8
        for _ in k.when(quick & codes):
            one.quick(True)
        for _ in k.when(~(quick & codes)):
            kernel = k.select(quick, 8 * r.SAMPLE_NUMBERS, 8 * r.SAMPLE_RARE)
            other = k.load(I64, launch + LAUNCH.TEXTURE + kernel)
            k.invoke(other, launch, slot, warp, instruction, k.ballot(lanes), what, record.at)

    each_texture(request, mask, handle, r.SAMPLED, run)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, record=I32)
def sample_numbers(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, record: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """The usual reads of `sample` where a texel is not four codes of 8 bits. record: as for `sample_rare`."""
    request = Request(k, launch, slot, warp, instruction, what)
    Sampling(request, Record(k, record), k.mask_of(mask), dict(choices)).quick(False)


@kernel(lanes=32, launch=I32, slot=I32, warp=I32, instruction=I32, mask=I32, what=I32, record=I32)
def sample_rare(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, record: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """The reads of `sample` that are not of the usual kind. record: arena offset of the texture's record."""
    request = Request(k, launch, slot, warp, instruction, what)
    Sampling(request, Record(k, record), k.mask_of(mask), dict(choices)).general()
