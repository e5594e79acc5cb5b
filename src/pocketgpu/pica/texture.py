"""Texture units 0-2: decoding textures once, and sampling them.

A texture is decoded when a draw first needs it: to rows of 0xRRGGBBAA words, row 0 at the bottom (t = 0), and kept
until its memory changes. So the sampler knows one format and one layout, whatever the guest uses.

Source: 3dbrew GPU/Internal Registers ("Texture unit registers"), GPU/Textures; wrap codes 4-7 and bilinear precision
are not documented (see the switches).
"""

from __future__ import annotations

from ..facts.formats import TEXTURE_FORMATS
from ..lanes import I32, I64, U8, Lang, Value, kernel
from .pixels import gather_pixels, morton, unpack
from .registers import LiveRegisters, StaticRegisters

FRACTION_BITS = 8
_HALF = 0x00800080
_EVEN = 0x00FF00FF

# ETC1: the two magnitudes of each modifier table (Khronos ETC1 specification, table 3.17.2).
ETC_MODIFIERS = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))


# -- decoding ---------------------------------------------------------------------------------------------------------
def _etc1(k: Lang, low: Value, high: Value, x: Value, y: Value) -> dict[str, Value]:
    """One texel of an ETC1 block each lane: block words, column and row inside the block (0-3)."""
    number = (x << 2) + y
    flip, differential = high.bits(0, 1) == 1, high.bits(1, 1) == 1
    second = k.select(flip, y, x) >= 2
    table = k.select(second, high.bits(2, 3), high.bits(5, 3))
    small, big = k.splat(0), k.splat(0)
    for i, (a, b) in enumerate(ETC_MODIFIERS):
        small, big = k.select(table == i, a, small), k.select(table == i, b, big)
    magnitude = k.select((low.lsr(number) & 1) == 1, big, small)
    modifier = k.select((low.lsr(number + 16) & 1) == 1, -magnitude, magnitude)
    out: dict[str, Value] = {}
    for name, at in (("r", 24), ("g", 16), ("b", 8)):
        first5, delta = high.bits(at + 3, 5), high.bits(at, 3, signed=True)
        five = k.select(second, (first5 + delta) & 31, first5)
        four = k.select(second, high.bits(at, 4), high.bits(at + 4, 4))
        base = k.select(differential, (five << 3) | (five >> 2), four * 17)
        out[name] = k.clamp(base + modifier, 0, 255)
    return out


@kernel(source=I64, target=I64, width=I32, height=I32)
def decode_texture(k: Lang, source: Value, target: Value, width: Value, height: Value, *, format: int) -> None:
    """One level: tiled texels at `source` to rows at `target` (4 * width bytes each, bottom row first)."""
    pixel = TEXTURE_FORMATS[format]
    tiles = width >> 3
    # Eight lanes cover a row of a tile; more lanes cover more tiles of the row.
    step = k.lanes >> 3
    tile_lane = k.iota() >> 3
    column = k.pattern([morton(x, 0) for x in range(8)])
    for y in k.range(0, height):
        row = height - 1 - y
        in_tile = y & 7
        row_number = (in_tile & 1) * 2 + (in_tile & 2) * 4 + (in_tile & 4) * 8
        for t in k.range(0, tiles, step):
            tile = tile_lane + t
            mask = tile < tiles if step > 1 else None
            first = ((y >> 3) * tiles + tile) << 6
            if pixel.kind == "etc1":
                x = k.iota() & 7
                size = pixel.block_bytes
                block = (first >> 4) + (x >> 2) + (in_tile >> 2) * 2
                place = k.to_i64(block * size) + source
                color = place + (size - 8)
                low, high = k.gather(I32, color, mask), k.gather(I32, color + 4, mask)
                channels = _etc1(k, low, high, x & 3, k.splat(in_tile & 3))
                alpha: Value = k.splat(255)
                if size == 16:
                    number = ((x & 3) << 2) + (in_tile & 3)
                    byte = k.gather(U8, place + k.to_i64(number >> 1), mask)
                    alpha = (byte.lsr((number & 1) << 2) & 15) * 17
                word = (channels["r"] << 24) | (channels["g"] << 16) | (channels["b"] << 8) | alpha
            else:
                number = first + column + row_number
                if pixel.bits == 4:
                    byte = k.gather(U8, k.to_i64(number >> 1) + source, mask)
                    raw = byte.lsr((number & 1) << 2) & 15
                else:
                    raw = gather_pixels(k, pixel, k.to_i64(number * (pixel.bits // 8)) + source, mask)
                word = unpack(k, raw, pixel)
            k.store(I32, target + k.to_i64((row * width + (t << 3)) << 2), word, mask)


# -- sampling ---------------------------------------------------------------------------------------------------------
def _repeat(k: Lang, c: Value, size: Value, power_of_two: bool) -> Value:
    """c modulo size, into 0..size-1."""
    if power_of_two:
        return c & (size - 1)
    positive = c - k.udiv(c, size) * size
    below = -1 - c
    negative = size - 1 - (below - k.udiv(below, size) * size)
    return k.select(c >= 0, positive, negative)


def wrap(k: Lang, c: Value, size: Value, mode: Value | int, power_of_two: bool) -> tuple[Value, Value]:
    """A texel coordinate brought into the texture by a wrap code; (coordinate, where the border colour shows)."""
    nowhere = c != c
    edge = lambda: k.clamp(c, 0, size - 1)  # noqa: E731
    outside = lambda: ~c.below(size)  # noqa: E731

    def mirrored() -> Value:
        m = _repeat(k, c, size * 2, power_of_two)
        return k.min(m, size * 2 - 1 - m)

    repeat = lambda: _repeat(k, c, size, power_of_two)  # noqa: E731
    cases = [
        lambda: (edge(), nowhere),
        lambda: (edge(), outside()),
        lambda: (repeat(), nowhere),
        lambda: (mirrored(), nowhere),
        lambda: (k.select(c < 0, repeat(), edge()), nowhere),
        lambda: (repeat(), c >= size),
        lambda: (repeat(), nowhere),
        lambda: (repeat(), nowhere),
    ]
    x, border = k.switch(mode, cases)
    return x, border


def _mix(a: Value, b: Value, f: Value) -> Value:
    """a + (b - a) * f / 256 of two 8-bit numbers in the halves of a word, rounded."""
    return ((a * (256 - f) + b * f + _HALF).lsr(8)) & _EVEN


class Sampler:
    """Texture unit `unit` for one draw: sizes and wrap modes, ready before the fragment loops."""

    def __init__(
        self, k: Lang, unit: int, state: StaticRegisters, live: LiveRegisters, base: Value, power_of_two: bool
    ) -> None:
        self.k, self.unit, self.base, self.power_of_two = k, unit, k.to_i64(base), power_of_two
        name = f"TEXUNIT{unit}"
        self.width, self.height = live(f"{name}_DIM.width"), live(f"{name}_DIM.height")
        self.wrap_s, self.wrap_t = state(f"{name}_PARAM.wrap_s"), state(f"{name}_PARAM.wrap_t")
        self.linear = state(f"{name}_PARAM.mag_filter") == 1
        border = live.word(f"{name}_BORDER_COLOR")
        # The register has R in its low byte, our words have it in the top one.
        self.border = (
            (border << 24) | ((border & 0xFF00) << 8) | (border.lsr(8) & 0xFF00) | border.lsr(24)
        )

    def _fetch(self, x: tuple[Value, Value], y: tuple[Value, Value]) -> Value:
        k = self.k
        texel = k.gather(I32, k.to_i64((y[0] * self.width + x[0]) << 2) + self.base)
        if self.wrap_s in (1, 5) or self.wrap_t in (1, 5):
            texel = k.select(x[1] | y[1], self.border, texel)
        return texel

    def sample(self, u: Value, v: Value) -> dict[str, Value]:
        """The texel colour at (u, v): channels 0-255."""
        k = self.k
        wrap_s = lambda c: wrap(k, c, self.width, self.wrap_s, self.power_of_two)  # noqa: E731
        wrap_t = lambda c: wrap(k, c, self.height, self.wrap_t, self.power_of_two)  # noqa: E731
        limit = float(1 << 30)
        scale = float(1 << FRACTION_BITS)
        if not self.linear:
            s, t = (
                k.to_i32(k.floor(c * k.to_f32(size)), -limit, limit)
                for c, size in ((u, self.width), (v, self.height))
            )
            word = self._fetch(wrap_s(s), wrap_t(t))
        else:
            s, t = (
                k.to_i32(k.floor(c * (k.to_f32(size) * scale) - scale / 2), -limit, limit)
                for c, size in ((u, self.width), (v, self.height))
            )
            fs, ft = s & (1 << FRACTION_BITS) - 1, t & (1 << FRACTION_BITS) - 1
            s, t = s >> FRACTION_BITS, t >> FRACTION_BITS
            s0, s1, t0, t1 = wrap_s(s), wrap_s(s + 1), wrap_t(t), wrap_t(t + 1)
            near, right, up, both = (self._fetch(a, b) for a, b in ((s0, t0), (s1, t0), (s0, t1), (s1, t1)))
            low = _mix(_mix(near & _EVEN, right & _EVEN, fs), _mix(up & _EVEN, both & _EVEN, fs), ft)
            top = lambda w: w.lsr(8) & _EVEN  # noqa: E731
            high = _mix(_mix(top(near), top(right), fs), _mix(top(up), top(both), fs), ft)
            return {"r": high.lsr(16), "g": low.lsr(16), "b": high & 0xFF, "a": low & 0xFF}
        return {"r": word.lsr(24), "g": word.lsr(16) & 0xFF, "b": word.lsr(8) & 0xFF, "a": word & 0xFF}


__all__ = ["Sampler", "decode_texture", "wrap"]
