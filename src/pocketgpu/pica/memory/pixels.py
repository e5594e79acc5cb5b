"""Pixels in lanes: loading, storing and converting them, derived from the format table.

In kernels a pixel is one 32-bit word, RGBA8 as the GPU stores it (0xRRGGBBAA). `unpack` makes it from a format's word,
`pack` is the inverse. Expansion repeats the upper bits, contraction drops the lower ones.
"""

from __future__ import annotations

from collections.abc import Callable

from pocketgpu.facts.formats import PixelFormat
from pocketgpu.lanes import I32, U8, U16, Lang, Value

CHANNEL_SHIFT = {"r": 24, "g": 16, "b": 8, "a": 0}


def expand(value: Value, width: int) -> Value:
    """`width` bits (right-aligned) to 8 by repetition."""
    if width == 8:
        return value
    if width == 1:
        return value * 255
    if width == 4:
        return value * 17
    return (value << (8 - width)) | (value >> (2 * width - 8))


def expand_by_scale(value: Value, width: int) -> Value:
    """`width` bits to 8 as v * 255 / (2 ** width - 1), truncated."""
    return value.k.udiv(value * 255, (1 << width) - 1) if width < 8 else value


def contract(value: Value, width: int) -> Value:
    """8 bits to `width` by dropping the lower ones."""
    return value >> (8 - width) if width < 8 else value


def contract_by_scale(value: Value, width: int) -> Value:
    """8 bits to `width` as v * (2 ** width - 1) / 255, truncated; a single bit is set unless v is 0."""
    k = value.k
    if width == 1:
        return k.select(value == 0, 0, k.splat(1, value.lanes))
    return k.udiv(value * ((1 << width) - 1), 255) if width < 8 else value


Widen = Callable[[Value, int], Value]
"""Converts a channel of some bits to 8 bits, or the reverse."""


def unpack_channels(word: Value, format: PixelFormat, widen: Widen = expand) -> dict[str, Value | int]:
    """The four channels (0-255) of a format's pixel words."""
    out: dict[str, Value | int] = dict(zip("rgba", format.defaults, strict=True))
    for channel, lo, width in format.channels:
        value = widen(word.bits(lo, width), width)
        for name in "rgb" if channel == "l" else channel:
            out[name] = value
    return out


def join(channels: dict[str, Value | int]) -> Value:
    """Four channels as one 0xRRGGBBAA word."""
    word: Value | int = 0
    for name, shift in CHANNEL_SHIFT.items():
        value = channels[name]
        word = word | (value << shift if shift else value)
    assert isinstance(word, Value)
    return word


def unpack(k: Lang, word: Value, format: PixelFormat, widen: Widen = expand) -> Value:
    """A format's pixel words as 0xRRGGBBAA."""
    if format.name == "RGBA8":
        return word
    if format.name == "RGB8":
        return (word << 8) | 0xFF
    return join(unpack_channels(word, format, widen))


def pack_channels(channels: dict[str, Value], format: PixelFormat, narrow: Widen = contract) -> Value:
    """Four channels (0-255) as a format's pixel words."""
    word: Value | int = 0
    for name, lo, width in format.channels:
        value = narrow(channels[name], width)
        word = word | (value << lo if lo else value)
    assert isinstance(word, Value)
    return word


def split(word: Value) -> dict[str, Value]:
    """The channels of a 0xRRGGBBAA word."""
    return {name: word.bits(shift, 8) for name, shift in CHANNEL_SHIFT.items()}


def pack(word: Value, format: PixelFormat, narrow: Widen = contract) -> Value:
    """0xRRGGBBAA as a format's pixel words."""
    if format.name == "RGBA8":
        return word
    if format.name == "RGB8":
        return word.lsr(8)
    return pack_channels(split(word), format, narrow)


def load_pixels(k: Lang, format: PixelFormat, offset: Value) -> Value:
    """`k.lanes` consecutive pixel words from an i64 byte offset."""
    if format.bits == 32:
        return k.load(I32, offset, lanes=k.lanes)
    if format.bits == 16:
        return k.load(U16, offset, lanes=k.lanes)
    if format.bits == 8:
        return k.load(U8, offset, lanes=k.lanes)
    return gather_pixels(k, format, k.to_i64(k.iota() * 3) + offset)


def gather_pixels(k: Lang, format: PixelFormat, offsets: Value, mask: Value | None = None) -> Value:
    """Pixel words at lane offsets (bytes)."""
    if format.bits == 32:
        return k.gather(I32, offsets, mask)
    if format.bits == 16:
        return k.gather(U16, offsets, mask)
    if format.bits == 8:
        return k.gather(U8, offsets, mask)
    low, middle, high = (k.gather(U8, offsets + i, mask) for i in range(3))
    return low | (middle << 8) | (high << 16)


def store_pixels(k: Lang, format: PixelFormat, offset: Value, word: Value, mask: Value | None = None) -> None:
    """Store `k.lanes` consecutive pixel words; with a mask the others are unchanged."""
    if format.bits == 32:
        k.store(I32, offset, word, mask)
    elif format.bits == 16:
        k.store(U16, offset, word, mask)
    else:
        scatter_pixels(k, format, k.to_i64(k.iota() * 3) + offset, word, mask)


def scatter_pixels(k: Lang, format: PixelFormat, offsets: Value, word: Value, mask: Value | None = None) -> None:
    """Store pixel words at lane offsets."""
    if format.bits == 32:
        k.scatter(I32, offsets, word, mask)
    elif format.bits == 16:
        k.scatter(U16, offsets, word, mask)
    else:
        for i in range(3):
            k.scatter(U8, offsets + i, word.lsr(8 * i) & 0xFF, mask)


# Four 24-bit pixels are three words: pixel i is (first[i] >> down[i]) | (second[i] << up[i]) cut to 24 bits.
_UNPACK24 = {"first": (0, 0, 1, 2), "down": (0, 24, 16, 8), "second": (0, 1, 2, 2), "up": (0, 8, 16, 24)}


def load_eight(k: Lang, format: PixelFormat, offset: Value) -> Value:
    """Eight consecutive pixel words (a vector of 8). For 24-bit formats 8 more bytes are read."""
    if format.bits == 24:
        words = k.load(I32, offset, lanes=8)
        place = lambda name: [p + 3 * half for half in range(2) for p in _UNPACK24[name]]
        amounts = lambda name: k.pattern_of([*_UNPACK24[name], *_UNPACK24[name]])
        low = k.shuffle(words, place("first")).lsr(amounts("down"))
        return (low | (k.shuffle(words, place("second")) << amounts("up"))) & 0xFFFFFF
    if format.bits == 4:
        pairs = k.load(U8, offset, lanes=4)
        return k.shuffle(pairs, [i >> 1 for i in range(8)]).lsr(k.pattern_of([0, 4] * 4)) & 15
    return k.load({8: U8, 16: U16, 32: I32}[format.bits], offset, lanes=8)


# Four 24-bit pixels are three words: word j is (first[j] >> down[j]) | (second[j] << up[j]).
_PACK24 = {"first": (0, 1, 2), "down": (0, 8, 16), "second": (1, 2, 3), "up": (24, 16, 8)}


def store_eight(k: Lang, format: PixelFormat, offset: Value, word: Value) -> None:
    """Store eight pixel words (a vector of 8) together; 24-bit ones as six words, `offset` a multiple of 4."""
    if format.bits == 32:
        k.store(I32, offset, word)
    elif format.bits == 16:
        k.store(U16, offset, word)
    else:
        place = lambda name: [p + 4 * half for half in range(2) for p in _PACK24[name]]
        amounts = lambda name: k.pattern_of([*_PACK24[name], *_PACK24[name]])
        low = k.shuffle(word, place("first")).lsr(amounts("down"))
        words = low | (k.shuffle(word, place("second")) << amounts("up"))
        k.store(I32, offset, k.shuffle(words, range(4)))
        k.store(I32, offset + 16, k.shuffle(words, (4, 5)))


def morton_x(i: int) -> int:
    """Column in an 8x8 tile of texel number i."""
    return (i & 1) | (i >> 1 & 2) | (i >> 2 & 4)


def morton_y(i: int) -> int:
    """Row in an 8x8 tile of texel number i."""
    return morton_x(i >> 1)


def morton(x: int, y: int) -> int:
    """Texel number in an 8x8 tile."""
    spread = lambda v: (v & 1) | (v & 2) << 1 | (v & 4) << 2
    return spread(x) | spread(y) << 1


def detile(
    k: Lang, read: PixelFormat, write: PixelFormat, source: Value, target: Value, stride: Value, width: Value,
    height: Value, flip: Value, widen: Widen = expand,
) -> None:  # fmt: skip
    """Tiles at `source`, `stride` pixels per row of tiles, to rows of `width` pixels at `target`; all multiples of 8.

    flip: nonzero for the last row first. A tile is eight vectors in memory; a row of it is a shuffle of two of them.
    """
    size = write.bits // 8
    tile_bytes = 8 * read.bits
    for ty in k.range(0, height >> 3):
        line = k.to_i64(ty * (stride >> 3) * tile_bytes) + source
        for tx in k.range(0, width >> 3):
            tile = k.to_i64(tx * tile_bytes) + line
            parts = [unpack(k, load_eight(k, read, tile + i * read.bits), read, widen) for i in range(8)]
            for y in range(8):
                # Bits of the vector's number: y1, x2, y2. In a vector: x0, y0, x1.
                first = (y >> 1 & 1) | (y >> 2 & 1) << 2
                places = [morton(x, y) & 7 for x in range(4)]
                row = k.shuffle(parts[first], [*places, *(p + 8 for p in places)], parts[first | 2])
                line_out = ty * 8 + y
                line_out = k.select(flip != 0, height - 1 - line_out, line_out)
                place = k.to_i64((line_out * width + tx * 8) * size) + target
                store_eight(k, write, place, pack(row, write))
