"""BC6H: 4x4 texels of RGB with half floats, signed or not, in fourteen modes.

Endpoints are integers of 6 to 16 bits whose bits are spread over the block, in each mode differently; most modes store
all endpoints but the first as differences. Reserved modes give black.

Source: Khronos Data Format Specification, BPTC Compressed Texture Image Formats; Direct3D 11, BC6H format.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from typing import Final, NamedTuple

from pocketgpu.lanes import Lang, Value
from pocketgpu.maxwell.textures.block_bits import Words, field, lookup, low_bits
from pocketgpu.maxwell.textures.bptc import IndexWeights, Indices, halves
from pocketgpu.maxwell.textures.sink import TexelSink


class Mode(NamedTuple):
    """One mode: its number; bits of an endpoint and of the differences of red, green, blue (0: not differences);
    layout.

    The layout lists what follows the mode's own bits, lowest bit first: endpoint 0 to 3 of red, green or blue, and
    which of its bits. In "9:0" bit 0 comes first, in "10:11" bit 11.
    """

    number: int
    width: int
    deltas: tuple[int, int, int]
    layout: str


MODES: Final = (
    Mode(0, 10, (5, 5, 5), "g2.4 b2.4 b3.4 r0.9:0 g0.9:0 b0.9:0 r1.4:0 g3.4 g2.3:0 g1.4:0 b3.0 g3.3:0 b1.4:0 b3.1 "
         "b2.3:0 r2.4:0 b3.2 r3.4:0 b3.3"),
    Mode(1, 7, (6, 6, 6), "g2.5 g3.4 g3.5 r0.6:0 b3.0 b3.1 b2.4 g0.6:0 b2.5 b3.2 g2.4 b0.6:0 b3.3 b3.5 b3.4 r1.5:0 "
         "g2.3:0 g1.5:0 g3.3:0 b1.5:0 b2.3:0 r2.5:0 r3.5:0"),
    Mode(2, 11, (5, 4, 4), "r0.9:0 g0.9:0 b0.9:0 r1.4:0 r0.10 g2.3:0 g1.3:0 g0.10 b3.0 g3.3:0 b1.3:0 b0.10 b3.1 "
         "b2.3:0 r2.4:0 b3.2 r3.4:0 b3.3"),
    Mode(6, 11, (4, 5, 4), "r0.9:0 g0.9:0 b0.9:0 r1.3:0 r0.10 g3.4 g2.3:0 g1.4:0 g0.10 g3.3:0 b1.3:0 b0.10 b3.1 "
         "b2.3:0 r2.3:0 b3.0 b3.2 r3.3:0 g2.4 b3.3"),
    Mode(10, 11, (4, 4, 5), "r0.9:0 g0.9:0 b0.9:0 r1.3:0 r0.10 b2.4 g2.3:0 g1.3:0 g0.10 b3.0 g3.3:0 b1.4:0 b0.10 "
         "b2.3:0 r2.3:0 b3.1 b3.2 r3.3:0 b3.4 b3.3"),
    Mode(14, 9, (5, 5, 5), "r0.8:0 b2.4 g0.8:0 g2.4 b0.8:0 b3.4 r1.4:0 g3.4 g2.3:0 g1.4:0 b3.0 g3.3:0 b1.4:0 b3.1 "
         "b2.3:0 r2.4:0 b3.2 r3.4:0 b3.3"),
    Mode(18, 8, (6, 5, 5), "r0.7:0 g3.4 b2.4 g0.7:0 b3.2 g2.4 b0.7:0 b3.3 b3.4 r1.5:0 g2.3:0 g1.4:0 b3.0 g3.3:0 "
         "b1.4:0 b3.1 b2.3:0 r2.5:0 r3.5:0"),
    Mode(22, 8, (5, 6, 5), "r0.7:0 b3.0 b2.4 g0.7:0 g2.5 g2.4 b0.7:0 g3.5 b3.4 r1.4:0 g3.4 g2.3:0 g1.5:0 g3.3:0 "
         "b1.4:0 b3.1 b2.3:0 r2.4:0 b3.2 r3.4:0 b3.3"),
    Mode(26, 8, (5, 5, 6), "r0.7:0 b3.1 b2.4 g0.7:0 b2.5 g2.4 b0.7:0 b3.5 b3.4 r1.4:0 g3.4 g2.3:0 g1.4:0 b3.0 "
         "g3.3:0 b1.5:0 b2.3:0 r2.4:0 b3.2 r3.4:0 b3.3"),
    Mode(30, 6, (0, 0, 0), "r0.5:0 g3.4 b3.0 b3.1 b2.4 g0.5:0 g2.5 b2.5 b3.2 g2.4 b0.5:0 g3.5 b3.3 b3.5 b3.4 r1.5:0 "
         "g2.3:0 g1.5:0 g3.3:0 b1.5:0 b2.3:0 r2.5:0 r3.5:0"),
    Mode(3, 10, (0, 0, 0), "r0.9:0 g0.9:0 b0.9:0 r1.9:0 g1.9:0 b1.9:0"),
    Mode(7, 11, (9, 9, 9), "r0.9:0 g0.9:0 b0.9:0 r1.8:0 r0.10 g1.8:0 g0.10 b1.8:0 b0.10"),
    Mode(11, 12, (8, 8, 8), "r0.9:0 g0.9:0 b0.9:0 r1.7:0 r0.10:11 g1.7:0 g0.10:11 b1.7:0 b0.10:11"),
    Mode(15, 16, (4, 4, 4), "r0.9:0 g0.9:0 b0.9:0 r1.3:0 r0.10:15 g1.3:0 g0.10:15 b1.3:0 b0.10:15"),
)  # fmt: skip
_ONE_PART = 3  # the two lowest bits of modes without a partition
_PARTITION = 77


def runs(mode: Mode) -> list[tuple[str, int, int, int]]:
    """The positions of a mode's endpoints: (endpoint, its lowest bit, the block's bit, number of bits, all
    ascending)."""
    found, at = [], 2 if mode.number < 2 else 5
    for end, high, low in re.findall(r"([rgb]\d)\.(\d+):?(\d*)", mode.layout):
        first, last = int(low or high), int(high)
        if first <= last:
            found.append((end, first, at, last - first + 1))
        else:  # downwards
            found += [(end, bit, at + first - bit, 1) for bit in range(last, first + 1)]
        at += abs(last - first) + 1
    assert at == (65 if mode.number & 3 == _ONE_PART else _PARTITION)
    return found


def _by_run() -> dict[str, dict[tuple[int, int, int], int]]:
    """For each endpoint, its runs of bits and, as a mask of mode numbers, which modes have them."""
    found: dict[str, dict[tuple[int, int, int], int]] = defaultdict(lambda: defaultdict(int))
    for mode in MODES:
        for end, bit, at, count in runs(mode):
            found[end][bit, at, count] |= 1 << mode.number
    return found


def _per_mode(values: dict[int, int]) -> list[int]:
    return [values.get(number, 0) for number in range(32)]


def decode(k: Lang, words: Words, sink: TexelSink, signed: bool) -> None:
    """Texels as floats."""
    short = words[0] & 3
    mode = k.select(short < 2, short, words[0] & 31)
    known = lookup(k, mode, _per_mode({m.number: 1 for m in MODES}), 1) == 1
    single = (mode & 3) == _ONE_PART
    width = lookup(k, mode, _per_mode({m.number: m.width - 1 for m in MODES}), 4) + 1

    number = field(words, _PARTITION, 5)
    shape2, short2 = halves(k, number, 32)
    shape = k.select(single, 0, shape2)
    index_width = k.select(single, k.splat(4), 3)
    indices = Indices(k, words, k.select(single, k.splat(65), 82), index_width, k.select(single, 1, short2))
    weights = IndexWeights(k, index_width)
    ends = _ends(k, words, mode, width, signed)
    lines = {channel: [(64 * a + 32, b - a) for a, b in ((e[0], e[1]), (e[2], e[3]))] for channel, e in ends.items()}
    for y in range(4):
        for x in range(4):
            second = shape.bits(8 * y + 2 * x, 1) == 1
            weight = weights.of(indices.take())
            parts = []
            for first, other in lines.values():
                start, by = k.select(second, other[0], first[0]), k.select(second, other[1], first[1])
                parts.append(k.select(known, _half(k, start + by * weight, signed), 0.0))
            red, green, blue = parts
            sink.floats(x, y, (red, green, blue, 1.0))


def _ends(k: Lang, words: Words, mode: Value, width: Value, signed: bool) -> dict[str, list[Value]]:
    """The four endpoints of red, green and blue, in 17 bits with sign."""
    member = {}
    strewn = _by_run()
    mask, sign = low_bits(k, width), k.splat(1) << (width - 1)
    plain = lookup(k, mode, _per_mode({m.number: int(m.deltas == (0, 0, 0)) for m in MODES}), 1) == 1
    ends: dict[str, list[Value]] = {}
    for position, channel in enumerate("rgb"):
        raw = []
        for end in range(4):
            value = k.splat(0)
            for (bit, at, count), modes in strewn[f"{channel}{end}"].items():
                if modes not in member:
                    member[modes] = (k.splat(modes).lsr(mode) & 1) == 1
                value = value | k.select(member[modes], field(words, at, count) << bit, 0)
            raw.append(value)
        delta = lookup(k, mode, _per_mode({m.number: m.deltas[position] for m in MODES}), 4)
        delta_sign = k.select(plain, k.splat(0), k.splat(1) << ((delta - 1) & 31))
        first = raw[0]
        moved = [first] + [
            k.select(plain, value, (first + ((value ^ delta_sign) - delta_sign)) & mask) for value in raw[1:]
        ]
        if signed:
            moved = [(value ^ sign) - sign for value in moved]
        ends[channel] = [_unquantised(k, value, width, signed) for value in moved]
    return ends


def _unquantised(k: Lang, value: Value, width: Value, signed: bool) -> Value:
    if signed:
        magnitude = k.abs(value)
        top = (k.splat(1) << (width - 1)) - 1
        wide = k.select(magnitude >= top, 0x7FFF, ((magnitude << 15) + 0x4000).lsr(width - 1))
        wide = k.select(magnitude == 0, 0, wide)
        return k.select(width >= 16, value, k.select(value < 0, -wide, wide))
    top = low_bits(k, width)
    wide = k.select(value == top, 0xFFFF, ((value << 15) + 0x4000).lsr(width - 1))
    return k.select((width >= 15) | (value == 0), value, wide)


def _half(k: Lang, scaled: Value, signed: bool) -> Value:
    """The f32 of the half float whose bits are an interpolated value (here times 64)."""
    value = scaled >> 6
    if not signed:
        return _float_of(k, (value * 31) >> 6)
    bits = (k.abs(value) * 31) >> 5
    # Only -32768, an endpoint of 16 bits, would give an infinity.
    magnitude = k.select(bits == 0x7C00, math.inf, _float_of(k, bits))
    return k.select(value < 0, -magnitude, magnitude)


def _float_of(k: Lang, bits: Value) -> Value:
    """The value of a finite half float's 15 lower bits: moved into position, the exponent is 112 too small."""
    return k.bits_f32(bits << 13) * 2.0**112
