"""Filtered texture reads: TEX, TEXS, TXD.

There are three kernels with the same kind of result, because LLVM prepares for all of a kernel's code before its loops.
`sample` reads what is the simplest and is read most (`plain.py`). It calls `sample_quick` for two-dimensional textures
without a border, each lane one bilinear read, or two with mipmaps (`quick.py`), and `sample_rare` for others: that one
handles every target, filter and address mode, and loops over the texels of a footprint with one piece of code for all
of them.

Weights have 8 bits. Products of 8-bit colours and weights are summed exactly and divided once; other formats are summed
as f32 in the order of texels (x first, then y, z, levels, samples).
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.sampling import coordinates as c
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.detail import Sampling
from pocketgpu.maxwell.sampling.lookup import Record, Request, each_texture
from pocketgpu.maxwell.sampling.plain import plain_reads
from pocketgpu.maxwell.sampling.quick import quick_reads
from pocketgpu.maxwell.sampling.records import Call
from pocketgpu.maxwell.sampling.texels import TexelSum, compared, finish, halve, texel, texel_offsets
from pocketgpu.maxwell.sass.thread_memory.work import LAUNCH


class _General(Sampling):
    """Every target, filter and format."""

    def run(self) -> None:
        """Read, and return the results to the instruction."""
        k, record, request = self.k, self.record, self.request
        k.probe("texture.lanes", self.lanes)
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


_NAMES = ("launch", "slot", "warp", "instruction", "mask", "what")
_CALL = dict.fromkeys(_NAMES, I32)


@kernel(lanes=32, **_CALL, handle=I32)
def sample(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, handle: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """Filtered reads for the lanes of a mask. what, handle: see calls.py; vectors in and out: records.py."""
    k.hurry()  # half the time to make it, and as fast
    request, done = Request(k, launch, slot, warp, instruction, what), k.var(0)

    def run(record: Record, here: Value) -> None:
        quick = record.flag(r.FAST)
        for field, value in ((Call.DIMENSIONS, 2), (Call.CUBE, 0), (Call.COMPARE, 0), (Call.OFFSETS, 0)):
            quick = quick & (request.bits(field) == value)
        plain = quick & (record.word("PLAIN") != r.NOT_PLAIN) & (request.bits(Call.ARRAY) == 0)
        # Lanes that are done here get halves after the loop, for which LLVM would prepare before each turn.
        left = k.branch(plain, lambda: plain_reads(request, record, here, dict(choices)), lambda: here)
        done.value = done.value | (here & ~left)
        for _ in k.when(left != 0):
            other = k.select(quick, k.i32(r.SAMPLE_QUICK), r.SAMPLE_RARE)
            function = k.load(I64, launch + LAUNCH.TEXTURE + (other << 3))
            k.invoke(function, launch, slot, warp, instruction, left, what, record.at)

    each_texture(request, mask, handle, r.SAMPLED, run)
    halve(request, k.mask_of(done.value), None)


@kernel(lanes=32, **_CALL, record=I32)
def sample_quick(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, record: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """The reads of `sample` of the usual kind. record: arena offset of the texture's record."""
    k.hurry()  # two thirds of the time to make it, and as fast
    quick_reads(Request(k, launch, slot, warp, instruction, what), Record(k, record), mask, dict(choices))


@kernel(lanes=32, **_CALL, record=I32)
def sample_rare(
    k: Lang, launch: Value, slot: Value, warp: Value, instruction: Value, mask: Value, what: Value, record: Value,
    *, choices: tuple[tuple[str, str], ...],
) -> None:  # fmt: skip
    """The reads of `sample` that are of no usual kind."""
    request = Request(k, launch, slot, warp, instruction, what)
    _General(request, Record(k, record), k.mask_of(mask), dict(choices)).run()
