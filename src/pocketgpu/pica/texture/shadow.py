"""Shadow maps: drawing them, and the comparisons with them in texture unit 0.

A texel is 32 bits: depth in three bytes, the most significant first, then an intensity (255: fully lit). For each texel
drawing keeps the nearest solid depth and the least intensity of translucent fragments in front of it. A lookup gives
the intensity if the stored depth is not nearer than the fragment, else 0.

Source: 3dbrew GPU/Internal Registers ("GPUREG_TEXUNIT0_SHADOW", "GPUREG_FRAGOP_SHADOW"); where the two shadow models of
one simulator differ there are choices (texture.shadow_*). Channel masks do not affect shadow maps: not measured.
"""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.pica.core.colors import Color
from pocketgpu.pica.core.registers import Flag, LiveRegisters, State
from pocketgpu.pica.texture.units import FRACTION_BITS, ONE, Sampler, wrap

FARTHEST = float((1 << 24) - 1)
_LIMIT = float(1 << 30)


def depth_of(word: Value) -> Value:
    """The 24-bit depth of a shadow texel's little-endian word."""
    return ((word & 0xFF) << 16) | (word & 0xFF00) | (word.lsr(16) & 0xFF)


def to_word(depth: Value, intensity: Value) -> Value:
    """The word of a texel; inverse of `depth_of`."""
    return depth.lsr(16) | (depth & 0xFF00) | ((depth & 0xFF) << 16) | (intensity << 24)


def _units(k: Lang, depth: Value) -> Value:
    """A depth of 0..1 in 24-bit steps, truncated."""
    return k.to_i32(depth * FARTHEST, 0.0, FARTHEST)


class ShadowLookup:
    """Comparisons of one draw with the shadow map of a sampler; constants are loaded before the fragment loops."""

    def __init__(
        self, k: Lang, state: State, live: LiveRegisters, sampler: Sampler, choices: Mapping[str, str]
    ) -> None:
        self.k, self.sampler = k, sampler
        self.orthographic: Flag = state("TEXUNIT0_SHADOW.orthographic") != 0
        """The coordinates of a flat map are not divided by w."""
        self.bias = live("TEXUNIT0_SHADOW.bias") << 1
        self.linear = choices.get("texture.shadow_filter") == "linear"
        self.equal_is_dark = choices.get("texture.shadow_equal") == "dark"
        self.wraps = choices.get("texture.shadow_bias") == "wrap"

    def _lit(self, number: Value, outside: Value, beyond: Value, depth: Value) -> Value:
        """Intensity of one texel for a fragment's depth; `beyond` is the texel's word where `outside`."""
        k = self.k
        word = k.gather(I32, (number << 2) + k.low32(self.sampler.base))
        word = k.select(outside, beyond, word)
        stored = depth_of(word)
        shown = depth.below(stored) if self.equal_is_dark else ~stored.below(depth)
        return k.select(shown, word.lsr(24), 0)

    def lookup(self, s: Value, t: Value, z: Value, face: Value | None = None) -> Color:
        """The light that a fragment gets, the same in all channels. z: its depth in the map's units, 0..1."""
        k, sampler = self.k, self.sampler
        depth = _units(k, z) - self.bias
        if not self.wraps:
            depth = k.max(depth, 0)
        first = face * sampler.face_words if face is not None else k.splat(0)
        sizes = (sampler.width, sampler.height)
        scaled = [c * k.to_f32(size) for c, size in zip((s, t), sizes, strict=True)]
        if self.linear:
            result = self._four(scaled, sizes, first, depth)
        else:
            column, row = (self._texel(c) for c in scaled)
            x, x_out = wrap(k, column, sizes[0], sampler.wrap_s, sampler.power_of_two)
            y, y_out = wrap(k, row, sizes[1], sampler.wrap_t, sampler.power_of_two)
            result = self._lit(y * sizes[0] + x + first, x_out | y_out, sampler.border, depth)
        return dict.fromkeys("rgba", result)

    def _texel(self, c: Value) -> Value:
        k = self.k
        return k.to_i32(c if self.sampler.truncates else k.floor(c), -_LIMIT, _LIMIT)

    def _four(self, scaled: list[Value], sizes: tuple[Value, Value], first: Value, depth: Value) -> Value:
        """Four comparisons mixed; texels outside of the map count as lit."""
        k = self.k
        fixed = [k.to_i32(k.floor(c * float(ONE) - ONE / 2), -_LIMIT, _LIMIT) for c in scaled]
        (x, y), (fx, fy) = ([c >> FRACTION_BITS for c in fixed], [c & (ONE - 1) for c in fixed])
        mix = lambda a, b, f: (a * (ONE - f) + b * f + ONE // 2) >> FRACTION_BITS

        def lit(dx: int, dy: int) -> Value:
            outside = ~((x + dx).below(sizes[0]) & (y + dy).below(sizes[1]))
            number = k.select(outside, 0, (y + dy) * sizes[0] + (x + dx))
            return self._lit(number + first, outside, k.splat(-1), depth)

        return mix(mix(lit(0, 0), lit(1, 0), fx), mix(lit(0, 1), lit(1, 1), fx), fy)


class ShadowMap:
    """Draws into a shadow map, which is the colour buffer at arena offset `base`."""

    def __init__(self, k: Lang, state: State, live: LiveRegisters, base: Value) -> None:
        self.k, self.base = k, base
        self.writes: Flag = state("COLORBUFFER_WRITE.mask") != 0
        self.constant, self.linear = live.float("FRAGOP_SHADOW.constant"), live.float("FRAGOP_SHADOW.linear")

    def store(self, mask: Value, intensity: Value, depth: Value, number: Value) -> None:
        """Draw consecutive texels from `number` on: intensity 0 is solid, 1-255 is a soft shadow."""
        k = self.k
        place = k.to_i64(number << 2) + self.base
        for _ in k.when(self.writes):
            old = k.load(I32, place, lanes=k.lanes)
            incoming, stored = _units(k, depth), depth_of(old)
            # A shadow gets softer with the distance from the edge that casts it.
            softness = self.constant + self.linear * (k.to_f32(incoming) / k.to_f32(stored))
            soft = k.to_i32(k.to_f32(intensity) / softness, 0.0, 255.0)
            solid = intensity == 0
            fresh = to_word(k.select(solid, incoming, stored), k.select(solid, old.lsr(24), k.min(soft, old.lsr(24))))
            k.store(I32, place, fresh, mask & (incoming < stored))


__all__ = ["ShadowLookup", "ShadowMap", "depth_of", "to_word"]
