"""Slow decoders of compressed blocks, a texel at a time and as the specifications tell it: what fast ones must give."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.maxwell.textures import blocks
from pocketgpu.maxwell.textures.bc6h import MODES as BC6H_MODES
from pocketgpu.maxwell.textures.bptc import HALF_ANCHORS, HALVES, THIRD_ANCHORS, THIRDS

Rgba = tuple[int, int, int, int]
WEIGHTS = {2: (0, 21, 43, 64), 3: (0, 9, 18, 27, 37, 46, 55, 64),
           4: (0, 4, 9, 13, 17, 21, 26, 30, 34, 38, 43, 47, 51, 55, 60, 64)}  # fmt: skip
# Subsets, partition bits, rotation bits, index selection, colour and alpha bits, endpoint and shared P bits, indices.
BC7_MODES = (
    (3, 4, 0, 0, 4, 0, 1, 0, 3, 0), (2, 6, 0, 0, 6, 0, 0, 1, 3, 0), (3, 6, 0, 0, 5, 0, 0, 0, 2, 0),
    (2, 6, 0, 0, 7, 0, 1, 0, 2, 0), (1, 0, 2, 1, 5, 6, 0, 0, 2, 3), (1, 0, 2, 0, 7, 8, 0, 0, 2, 2),
    (1, 0, 0, 0, 7, 7, 1, 0, 4, 0), (2, 6, 0, 0, 5, 5, 1, 0, 2, 0),
)  # fmt: skip


def lively_blocks(layout: PixelLayout, seed: int, count: int) -> NDArray[np.uint8]:
    """Random blocks, uint8 (count, bytes). Of BC7 as many of each mode; of ASTC most are legal, and some constant."""
    rng = np.random.default_rng(seed)

    def draw(number: int) -> NDArray[np.uint8]:
        return rng.integers(0, 256, (number, layout.bytes), dtype=np.uint8)

    found = draw(count)
    if layout.name == "BC7U":
        mode = np.arange(count) % 9
        found[:, 0] = (found[:, 0].astype(int) << 1 | 1) << mode
    if not layout.name.startswith("ASTC"):
        return found
    # Of random blocks few are legal: keep those that are. This looks at one texel of each only.
    kept = [found[: count // 8]]
    constant = draw(count // 8)
    constant[:, 0], constant[:, 1] = 0xFC, constant[:, 1] & 0xF2 | 0x0D
    # Every other one without an extent, which is nearly never right by chance.
    constant[::2, 1:8] |= np.array([0xF0, *[0xFF] * 6], np.uint8)
    kept.append(constant)
    while sum(map(len, kept)) < count:
        more = draw(16 * count)
        texels = blocks.texels(more[:, None], layout, blocks.codec(layout))[:: layout.block[1], 0]
        kept.append(more[(texels != [1, 0, 1, 1]).any(1)])
    mixed = np.concatenate(kept)[:count]
    return mixed[rng.permutation(count)]


class Bits:
    """Takes bits from the lowest one on."""

    def __init__(self, block: bytes) -> None:
        self.left = int.from_bytes(block, "little")

    def take(self, count: int) -> int:
        value = self.left & ((1 << count) - 1)
        self.left >>= count
        return value


def subset_of(subsets: int, partition: int, texel: int) -> int:
    if subsets == 2:
        return HALVES[partition] >> texel & 1
    return THIRDS[partition] >> 2 * texel & 3 if subsets == 3 else 0


def anchors_of(subsets: int, partition: int) -> set[int]:
    if subsets == 2:
        return {0, HALF_ANCHORS[partition]}
    return {0, *(row[partition] for row in THIRD_ANCHORS)} if subsets == 3 else {0}


def mix(one: int, two: int, weight: int) -> int:
    return (one * (64 - weight) + two * weight + 32) >> 6


def bc7(block: bytes) -> list[Rgba]:
    """16 texels, row by row."""
    if not block[0]:
        return [(0, 0, 0, 0)] * 16
    bits = Bits(block)
    mode = 0
    while not bits.take(1):
        mode += 1
    subsets, pb, rb, isb, cb, ab, epb, spb, ib, ib2 = BC7_MODES[mode]
    partition, rotation, selection = bits.take(pb), bits.take(rb), bits.take(isb)
    ends = [[bits.take(cb) for _ in range(2 * subsets)] for _ in range(3)]
    ends.append([bits.take(ab) for _ in range(2 * subsets)])
    if epb:
        p = [bits.take(1) for _ in range(2 * subsets)]
    elif spb:
        p = [bit for _ in range(subsets) for bit in [bits.take(1)] * 2]
    for channel, width in enumerate((cb, cb, cb, ab)):
        for i in range(2 * subsets):
            value, full = ends[channel][i], width
            if epb or spb:
                value, full = value << 1 | p[i], width + 1
            value <<= 8 - full
            ends[channel][i] = value | value >> full if width else 255
    anchors = anchors_of(subsets, partition)
    first = [bits.take(ib - (i in anchors)) for i in range(16)]
    second = [bits.take(ib2 - (i == 0)) for i in range(16)] if ib2 else first
    texels = []
    for i in range(16):
        part = 2 * subset_of(subsets, partition, i)
        weights = [WEIGHTS[ib][first[i]], WEIGHTS[ib2 or ib][second[i]]]
        if selection:
            weights.reverse()
        texel = [mix(e[part], e[part + 1], weights[channel == 3]) for channel, e in enumerate(ends)]
        if rotation:
            texel[3], texel[rotation - 1] = texel[rotation - 1], texel[3]
        texels.append(tuple(texel))
    return texels


def bc6h(block: bytes, signed: bool) -> list[tuple[float, float, float, float]]:
    """16 texels, row by row."""
    number = block[0] & 31 if block[0] & 3 > 1 else block[0] & 3
    mode = next((mode for mode in BC6H_MODES if mode.number == number), None)
    if mode is None:
        return [(0.0, 0.0, 0.0, 1.0)] * 16
    bits = Bits(block)
    bits.take(2 if number < 2 else 5)
    ends = {f"{c}{i}": 0 for c in "rgb" for i in range(4)}
    for item in mode.layout.split():
        name, _, which = item.partition(".")
        high, _, low = which.partition(":")
        first, last = int(low or high), int(high)
        for place in range(first, last + 1) if first <= last else range(first, last - 1, -1):
            ends[name] |= bits.take(1) << place
    subsets = 1 if number & 3 == 3 else 2
    partition = bits.take(5) if subsets == 2 else 0
    width = 4 if subsets == 1 else 3
    anchors = anchors_of(subsets, partition)
    indices = [bits.take(width - (i in anchors)) for i in range(16)]
    full = (1 << mode.width) - 1

    def extended(value: int, count: int) -> int:
        return value - (1 << count) if value >> (count - 1) & 1 else value

    def unquantised(x: int) -> int:
        if signed:
            if mode.width >= 16:
                return x
            sign, x = (-1, -x) if x < 0 else (1, x)
            if x == 0:
                return 0
            return sign * (0x7FFF if x >= (1 << (mode.width - 1)) - 1 else ((x << 15) + 0x4000) >> (mode.width - 1))
        if mode.width >= 15 or x == 0:
            return x
        return 0xFFFF if x == full else ((x << 15) + 0x4000) >> (mode.width - 1)

    values: dict[str, list[int]] = {}
    for channel, delta in zip("rgb", mode.deltas, strict=True):
        raw = [ends[f"{channel}{i}"] for i in range(4)]
        if delta:
            raw = [raw[0]] + [(raw[0] + extended(v, delta)) & full for v in raw[1:]]
        values[channel] = [unquantised(extended(v, mode.width) if signed else v) for v in raw]

    def finished(value: int) -> float:
        code = abs(value) * 31 >> (5 if signed else 6) | (0x8000 if value < 0 else 0)
        return float(np.array(code, np.uint16).view(np.float16))

    texels = []
    for i in range(16):
        part, weight = 2 * subset_of(subsets, partition, i), WEIGHTS[width][indices[i]]
        red, green, blue = (finished(mix(e[part], e[part + 1], weight)) for e in values.values())
        texels.append((red, green, blue, 1.0))
    return texels


# ETC2 and EAC

INTENSITIES = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))
DISTANCES = (3, 6, 11, 16, 23, 32, 41, 64)
MODIFIERS = (
    (-3, -6, -9, -15, 2, 5, 8, 14), (-3, -7, -10, -13, 2, 6, 9, 12), (-2, -5, -8, -13, 1, 4, 7, 12),
    (-2, -4, -6, -13, 1, 3, 5, 12), (-3, -6, -8, -12, 2, 5, 7, 11), (-3, -7, -9, -11, 2, 6, 8, 10),
    (-4, -7, -8, -11, 3, 6, 7, 10), (-3, -5, -8, -11, 2, 4, 7, 10), (-2, -6, -8, -10, 1, 5, 7, 9),
    (-2, -5, -8, -10, 1, 4, 7, 9), (-2, -4, -8, -10, 1, 3, 7, 9), (-2, -5, -7, -10, 1, 4, 6, 9),
    (-3, -4, -7, -10, 2, 3, 6, 9), (-1, -2, -3, -10, 0, 1, 2, 9), (-4, -6, -8, -9, 3, 5, 7, 8),
    (-3, -5, -7, -9, 2, 4, 6, 8),
)  # fmt: skip


def clamp(value: int, low: int = 0, high: int = 255) -> int:
    return max(low, min(high, value))


def etc2_rgb(block: bytes, punch_through: bool = False) -> list[Rgba]:
    """16 texels, row by row."""
    word = int.from_bytes(block, "big")

    def field(high: int, low: int) -> int:
        return word >> low & ((1 << (high - low + 1)) - 1)

    def moved_by(low: int) -> int:
        return field(low + 2, low) - 2 * (field(low + 2, low) & 4)

    def index(x: int, y: int) -> int:
        return field(4 * x + y + 16, 4 * x + y + 16) << 1 | field(4 * x + y, 4 * x + y)

    def brighter(rgb: Sequence[int], by: int) -> Rgba:
        red, green, blue = (clamp(v + by) for v in rgb)
        return red, green, blue, 255

    opaque = not punch_through or bool(field(33, 33))
    differential = punch_through or bool(field(33, 33))
    places = [(x, y) for y in range(4) for x in range(4)]
    clear = (0, 0, 0, 0)
    fives = [field(63, 59), field(55, 51), field(47, 43)]
    moved = [five + moved_by(low) for five, low in zip(fives, (56, 48, 40), strict=True)]
    if differential and not 0 <= moved[0] <= 31:  # T
        one = [17 * v for v in (field(60, 59) << 2 | field(57, 56), field(55, 52), field(51, 48))]
        two = [17 * v for v in (field(47, 44), field(43, 40), field(39, 36))]
        d = DISTANCES[field(35, 34) << 1 | field(32, 32)]
        paints = [brighter(one, 0), brighter(two, d), brighter(two, 0), brighter(two, -d)]
        return [paints[i] if opaque or i != 2 else clear for i in (index(x, y) for x, y in places)]
    if differential and not 0 <= moved[1] <= 31:  # H
        one = [field(62, 59), field(58, 56) << 1 | field(52, 52), field(51, 51) << 3 | field(49, 47)]
        two = [field(46, 43), field(42, 39), field(38, 35)]
        one, two = [17 * v for v in one], [17 * v for v in two]
        d = DISTANCES[field(34, 34) << 2 | field(32, 32) << 1 | (one >= two)]  # red counts most
        paints = [brighter(one, d), brighter(one, -d), brighter(two, d), brighter(two, -d)]
        return [paints[i] if opaque or i != 2 else clear for i in (index(x, y) for x, y in places)]
    if differential and not 0 <= moved[2] <= 31:  # planar
        six, seven = lambda v: v << 2 | v >> 4, lambda v: v << 1 | v >> 6
        origin = (six(field(62, 57)), seven(field(56, 56) << 6 | field(54, 49)),
                  six(field(48, 48) << 5 | field(44, 43) << 3 | field(41, 39)))  # fmt: skip
        right = (six(field(38, 34) << 1 | field(32, 32)), seven(field(31, 25)), six(field(24, 19)))
        down = (six(field(18, 13)), seven(field(12, 6)), six(field(5, 0)))
        texels = []
        for x, y in places:
            exact = [o + Fraction(x * (r - o) + y * (d - o), 4) for o, r, d in zip(origin, right, down, strict=True)]
            red, green, blue = (clamp((v + Fraction(1, 2)).__floor__()) for v in exact)
            texels.append((red, green, blue, 255))
        return texels
    if differential:
        bases = [[v << 3 | v >> 2 for v in half] for half in (fives, moved)]
    else:
        bases = [[17 * field(low + 3, low) for low in lows] for lows in ((60, 52, 44), (56, 48, 40))]
    tables, flip = (field(39, 37), field(36, 34)), field(32, 32)
    texels = []
    for x, y in places:
        half, i = (y if flip else x) >> 1, index(x, y)
        small, large = INTENSITIES[tables[half]]
        if not opaque:
            if i == 2:
                texels.append(clear)
                continue
            small = 0
        texels.append(brighter(bases[half], (small, large, -small, -large)[i]))
    return texels


def eac(block: bytes, kind: str) -> list[int]:
    """16 values, row by row; kind: "alpha" (0 to 255), "unsigned" (0 to 2047) or "signed" (-1023 to 1023)."""
    word = int.from_bytes(block, "big")
    base, multiplier, table = word >> 56, word >> 52 & 15, MODIFIERS[word >> 48 & 15]
    values = []
    for y in range(4):
        for x in range(4):
            modifier = table[word >> 45 - 3 * (4 * x + y) & 7]
            if kind == "alpha":
                values.append(clamp(base + modifier * multiplier))
                continue
            step = modifier * (8 * multiplier or 1)
            if kind == "unsigned":
                values.append(clamp(8 * base + 4 + step, 0, 2047))
            else:
                signed = base - 256 if base > 127 else base
                values.append(clamp(8 * max(signed, -127) + step, -1023, 1023))
    return values
