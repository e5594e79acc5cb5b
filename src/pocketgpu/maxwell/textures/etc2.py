"""ETC2 and EAC: 4x4 texels, RGB with or without one bit of alpha, RGBA, and one or two channels of 11 bits.

A colour block has two halves, each with a base colour and brighter and darker variants. Where the second base colour
would leave its range, the block is in one of three other modes: T and H (four colours around two) and planar. Bytes are
big-endian and texels go down columns.

Source: Khronos Data Format Specification, ETC2 Compressed Texture Image Formats.
"""

from __future__ import annotations

from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.textures.block_bits import Words, big_endian, field, lookup
from pocketgpu.maxwell.textures.sink import Row, TexelSink

# The two magnitudes of each intensity modifier table.
SMALL = (2, 5, 9, 13, 18, 24, 33, 47)
LARGE = (8, 17, 29, 42, 60, 80, 106, 183)
# The distances that T and H blocks add to a base colour.
DISTANCES = (3, 6, 11, 16, 23, 32, 41, 64)
# EAC: the magnitudes of each table's four negative modifiers; the positive ones are one less.
EAC = (
    (3, 6, 9, 15), (3, 7, 10, 13), (2, 5, 8, 13), (2, 4, 6, 13), (3, 6, 8, 12), (3, 7, 9, 11), (4, 7, 8, 11),
    (3, 5, 8, 11), (2, 6, 8, 10), (2, 5, 8, 10), (2, 4, 8, 10), (2, 5, 7, 10), (3, 4, 7, 10), (1, 2, 3, 10),
    (4, 6, 8, 9), (3, 5, 7, 9),
)  # fmt: skip
_EAC_ROWS = [sum(magnitude << 4 * i for i, magnitude in enumerate(row)) for row in EAC]


def decode_rgb(k: Lang, words: Words, sink: TexelSink, punch_through: bool = False) -> None:
    """A colour block of 8 bytes; with `punch_through` texels may be transparent black."""
    texels = _colours(k, big_endian(words[0]), big_endian(words[1]), punch_through)
    for y in range(4):
        sink.words(y, [texels[x, y] for x in range(4)])


def decode_rgba(k: Lang, words: Words, sink: TexelSink) -> None:
    """A block of alphas followed by one of colours."""
    texels = _colours(k, big_endian(words[2]), big_endian(words[3]), False)
    base, multiplier, modifiers = _eac(k, words[:2])
    for y in range(4):
        alphas = [k.clamp(base + modifiers[4 * x + y] * multiplier, 0, 255) for x in range(4)]
        sink.words(y, [(texels[x, y] & 0xFFFFFF) | (alphas[x] << 24) for x in range(4)])


def decode_eac(k: Lang, words: Words, sink: TexelSink, signed: tuple[bool, ...]) -> None:
    """One or two channels of 11 bits: 0 to 2047, or -1023 to 1023 if signed."""
    channels = [_eleven_bits(k, words[2 * i :], is_signed) for i, is_signed in enumerate(signed)]
    for y in range(4):
        for x in range(4):
            parts = [channel[4 * x + y] for channel in channels]
            texel: Row = (parts[0], parts[1], 0.0, 1.0) if len(parts) > 1 else (parts[0], 0.0, 0.0, 1.0)
            sink.floats(x, y, texel)


# Colour blocks


def _colours(k: Lang, high: Value, low: Value, punch_through: bool) -> dict[tuple[int, int], Value]:
    """The unorm8 words of the texels; `high` and `low` are bits 63..32 and 31..0 of the block."""
    flip, mark = high.bits(0, 1) == 1, high.bits(1, 1) == 1
    # Without individual mode its bit says whether all texels are opaque.
    differential = mark | True if punch_through else mark
    seconds = [high.bits(lo, 5) + high.bits(lo - 3, 3, signed=True) for lo in (27, 19, 11)]
    out_of_range = [differential & ((second & 32) != 0) for second in seconds]  # -4 .. -1 and 32 .. 34
    t_mode, h_mode = out_of_range[0], out_of_range[1]
    special = t_mode | h_mode
    planar = out_of_range[2] & ~special

    five = lambda v: (v << 3) | (v >> 2)
    halves: list[list[Value]] = []
    around = _paints_of_th(k, high, t_mode)
    for half in range(2):
        table = high.bits(2 if half else 5, 3)
        small, large = lookup(k, table, SMALL, 8), lookup(k, table, LARGE, 8)
        if punch_through:
            small = k.select(mark, small, 0)
        base = []
        for channel, lo in enumerate((24, 16, 8)):
            full = five(seconds[channel] & 31) if half else five(high.bits(lo + 3, 5))
            four = high.bits(lo if half else lo + 4, 4) * 17
            base.append(full if punch_through else k.select(differential, full, four))
        paints = [_shifted(k, base, by) for by in (small, large, -small, -large)]
        paints = [k.select(special, t, paint) for t, paint in zip(around, paints, strict=True)]
        if punch_through:
            paints[2] = k.select(mark, paints[2], 0)
        halves.append(paints)
    first, second = halves
    # By (right half, lower half): blocks are halved by columns, or with `flip` by rows.
    choose = lambda a, b: [k.select(flip, p, q) for p, q in zip(a, b, strict=True)]
    parts = {(0, 0): first, (1, 1): second, (1, 0): choose(first, second), (0, 1): choose(second, first)}
    plane = _plane(k, high, low)
    texels = {}
    for x in range(4):
        for y in range(4):
            number, paints = 4 * x + y, parts[x >> 1, y >> 1]
            odd, upper = low.bits(number, 1) == 1, low.bits(number + 16, 1) == 1
            painted = k.select(upper, k.select(odd, paints[3], paints[2]), k.select(odd, paints[1], paints[0]))
            texels[x, y] = k.select(planar, plane[x, y], painted)
    return texels


def _pack(red: Value, green: Value, blue: Value) -> Value:
    return red | (green << 8) | (blue << 16) | -(1 << 24)


def _shifted(k: Lang, base: list[Value], by: Value) -> Value:
    """The word of a colour, brighter by `by`."""
    red, green, blue = (k.clamp(part + by, 0, 255) for part in base)
    return _pack(red, green, blue)


def _paints_of_th(k: Lang, high: Value, t_mode: Value) -> list[Value]:
    """The four colours of a block in T or H mode."""
    four = lambda lo: high.bits(lo, 4)
    t_first = [(high.bits(27, 2) << 2) | high.bits(24, 2), four(20), four(16)]
    t_second = [four(12), four(8), four(4)]
    h_first = [four(27), (high.bits(24, 3) << 1) | high.bits(20, 1), (high.bits(19, 1) << 3) | high.bits(15, 3)]
    h_second = [four(11), four(7), four(3)]
    number = lambda rgb: (rgb[0] << 8) | (rgb[1] << 4) | rgb[2]
    larger = k.select(number(h_first) >= number(h_second), k.splat(1), 0)
    t_index = (high.bits(2, 2) << 1) | high.bits(0, 1)
    h_index = (high.bits(2, 1) << 2) | (high.bits(0, 1) << 1) | larger
    distance = lookup(k, k.select(t_mode, t_index, h_index), DISTANCES, 8)
    first = [k.select(t_mode, t, h) * 17 for t, h in zip(t_first, h_first, strict=True)]
    second = [k.select(t_mode, t, h) * 17 for t, h in zip(t_second, h_second, strict=True)]
    # T: the first colour; the second one brighter, unchanged, darker. H: both brighter and darker.
    near = [k.select(t_mode, b, a) for a, b in zip(first, second, strict=True)]
    zero = k.select(t_mode, k.splat(0), distance)
    return [
        _shifted(k, first, zero),
        _shifted(k, near, k.select(t_mode, distance, -distance)),
        _shifted(k, second, zero),
        _shifted(k, second, -distance),
    ]


def _plane(k: Lang, high: Value, low: Value) -> dict[tuple[int, int], Value]:
    """The texels of a planar block."""
    six, seven = lambda v: (v << 2) | (v >> 4), lambda v: (v << 1) | (v >> 6)
    words = (low, high)
    origin = [
        six(high.bits(25, 6)),
        seven((high.bits(24, 1) << 6) | high.bits(17, 6)),
        six((high.bits(16, 1) << 5) | (high.bits(11, 2) << 3) | high.bits(7, 3)),
    ]
    across = [six((high.bits(2, 5) << 1) | high.bits(0, 1)), seven(field(words, 25, 7)), six(field(words, 19, 6))]
    down = [six(field(words, 13, 6)), seven(field(words, 6, 7)), six(field(words, 0, 6))]
    texels = {}
    for x in range(4):
        for y in range(4):
            parts = []
            for start, right, below in zip(origin, across, down, strict=True):
                parts.append(k.clamp((x * (right - start) + y * (below - start) + 4 * start + 2) >> 2, 0, 255))
            texels[x, y] = _pack(*parts)
    return texels


# EAC


def _eac(k: Lang, words: Words) -> tuple[Value, Value, list[Value]]:
    """Base (0 to 255) and multiplier of an EAC block and, for its texels down the columns, the modifiers."""
    high, low = big_endian(words[0]), big_endian(words[1])
    row = lookup(k, high.bits(16, 4), _EAC_ROWS, 16)
    modifiers = []
    for texel in range(16):
        index = field((low, high), 45 - 3 * texel, 3)
        magnitude = row.lsr((index & 3) << 2) & 15
        modifiers.append(k.select(index >= 4, magnitude - 1, -magnitude))
    return high.lsr(24), high.bits(20, 4), modifiers


def _eleven_bits(k: Lang, words: Words, signed: bool) -> list[Value]:
    base, multiplier, modifiers = _eac(k, words)
    steps = k.select(multiplier == 0, k.splat(1), multiplier << 3)  # a multiplier of 0 means an eighth
    if signed:
        start = k.max(base.bits(0, 8, signed=True), -127) << 3
        return [k.to_f32(k.clamp(start + m * steps, -1023, 1023)) / 1023.0 for m in modifiers]
    return [k.to_f32(k.clamp((base << 3) + 4 + m * steps, 0, 2047)) / 2047.0 for m in modifiers]
