"""Shared by BC6H and BC7: partitions of blocks, texels with a shorter index, and weights of indices.

Source: Khronos Data Format Specification, BPTC Compressed Texture Image Formats; the tables are Direct3D's.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures.block_bits import Words, lookup, low_bits, read

# Texel i belongs to the second of two subsets if bit i is set.
HALVES: Final = (
    0xCCCC, 0x8888, 0xEEEE, 0xECC8, 0xC880, 0xFEEC, 0xFEC8, 0xEC80, 0xC800, 0xFFEC, 0xFE80, 0xE800, 0xFFE8, 0xFF00,
    0xFFF0, 0xF000, 0xF710, 0x008E, 0x7100, 0x08CE, 0x008C, 0x7310, 0x3100, 0x8CCE, 0x088C, 0x3110, 0x6666, 0x366C,
    0x17E8, 0x0FF0, 0x718E, 0x399C, 0xAAAA, 0xF0F0, 0x5A5A, 0x33CC, 0x3C3C, 0x55AA, 0x9696, 0xA55A, 0x73CE, 0x13C8,
    0x324C, 0x3BDC, 0x6996, 0xC33C, 0x9966, 0x0660, 0x0272, 0x04E4, 0x4E40, 0x2720, 0xC936, 0x936C, 0x39C6, 0x639C,
    0x9336, 0x9CC6, 0x817E, 0xE718, 0xCCF0, 0x0FCC, 0x7744, 0xEE22,
)  # fmt: skip
# Three subsets: two bits a texel.
THIRDS: Final = (
    0xAA685050, 0x6A5A5040, 0x5A5A4200, 0x5450A0A8, 0xA5A50000, 0xA0A05050, 0x5555A0A0, 0x5A5A5050, 0xAA550000,
    0xAA555500, 0xAAAA5500, 0x90909090, 0x94949494, 0xA4A4A4A4, 0xA9A59450, 0x2A0A4250, 0xA5945040, 0x0A425054,
    0xA5A5A500, 0x55A0A0A0, 0xA8A85454, 0x6A6A4040, 0xA4A45000, 0x1A1A0500, 0x0050A4A4, 0xAAA59090, 0x14696914,
    0x69691400, 0xA08585A0, 0xAA821414, 0x50A4A450, 0x6A5A0200, 0xA9A58000, 0x5090A0A8, 0xA8A09050, 0x24242424,
    0x00AA5500, 0x24924924, 0x24499224, 0x50A50A50, 0x500AA550, 0xAAAA4444, 0x66660000, 0xA5A0A5A0, 0x50A050A0,
    0x69286928, 0x44AAAA44, 0x66666600, 0xAA444444, 0x54A854A8, 0x95809580, 0x96969600, 0xA85454A8, 0x80959580,
    0xAA141414, 0x96960000, 0xAAAA1414, 0xA05050A0, 0xA0A5A5A0, 0x96000000, 0x40804080, 0xA9A8A9A8, 0xAAAAAA44,
    0x2A4A5254,
)  # fmt: skip
# The texels whose index has one bit less: in the second of two subsets, in the second and the third of three. Texel 0
# always has.
HALF_ANCHORS: Final = (
    15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 2, 8, 2, 2, 8, 8, 15, 2, 8, 2, 2, 8, 8, 2, 2,
    15, 15, 6, 8, 2, 8, 15, 15, 2, 8, 2, 2, 2, 15, 15, 6, 6, 2, 6, 8, 15, 15, 2, 2, 15, 15, 15, 15, 15, 2, 2, 15,
)  # fmt: skip
THIRD_ANCHORS: Final = (
    (
        3, 3, 15, 15, 8, 3, 15, 15, 8, 8, 6, 6, 6, 5, 3, 3, 3, 3, 8, 15, 3, 3, 6, 10, 5, 8, 8, 6, 8, 5, 15, 15,
        8, 15, 3, 5, 6, 10, 8, 15, 15, 3, 15, 5, 15, 15, 15, 15, 3, 15, 5, 5, 5, 8, 5, 10, 5, 10, 8, 13, 15, 12, 3, 3,
    ),
    (
        15, 8, 8, 3, 15, 15, 3, 8, 15, 15, 15, 15, 15, 15, 15, 8, 15, 8, 15, 3, 15, 8, 15, 8, 3, 15, 6, 10, 15, 15,
        10, 8, 15, 3, 15, 10, 10, 8, 9, 10, 6, 15, 8, 15, 3, 6, 6, 8, 15, 3, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,
        3, 15, 15, 8,
    ),
)  # fmt: skip
_TWO_BITS = [sum(((half >> i) & 1) << 2 * i for i in range(16)) for half in HALVES]
_HALF_SHORT = [1 | 1 << anchor for anchor in HALF_ANCHORS]
_THIRD_SHORT = [1 | 1 << one | 1 << two for one, two in zip(*THIRD_ANCHORS, strict=True)]


def halves(k: Lang, number: Value, count: int = 64) -> tuple[Value, Value]:
    """The first `count` partitions into two subsets: each texel's subset in two bits, and a mask of short indices."""
    return lookup(k, number, _TWO_BITS[:count], 32), lookup(k, number, _HALF_SHORT[:count], 16)


def thirds(k: Lang, number: Value) -> tuple[Value, Value]:
    """The same for three subsets."""
    return lookup(k, number, THIRDS, 32), lookup(k, number, _THIRD_SHORT, 16)


@dataclass
class Indices:
    """A stream of indices of `width` bits (1 to 4), one bit less where `short` has a bit; 64 bits, starting at `at`."""

    k: Lang
    words: Words
    at: Value
    width: Value
    short: Value

    def __post_init__(self) -> None:
        self.low, self.high = read(self.k, self.words, self.at), read(self.k, self.words, self.at + 32)
        self.next = 0

    def take(self) -> Value:
        """The index of the next texel."""
        width = self.width - ((self.short >> self.next) & 1)
        index = self.low & low_bits(self.k, width)
        self.low = self.low.lsr(width) | (self.high << (32 - width))
        self.high = self.high.lsr(width)
        self.next += 1
        return index


@dataclass
class IndexWeights:
    """Weights of indices of `width` bits (2 to 4), in 1/64: i * 64 / (2^width - 1) to the nearest."""

    k: Lang
    width: Value

    def __post_init__(self) -> None:
        k, narrow = self.k, self.width == 2
        three = self.width == 3
        # Division by 3, 7 and 15 of numbers below 1024.
        reciprocal = k.select(narrow, 174763, k.select(three, 74899, 34953))
        half = k.select(narrow, k.splat(1), k.select(three, k.splat(3), 7))
        self.step, self.start = reciprocal << 6, reciprocal * half

    def of(self, index: Value) -> Value:
        """The weight of the second endpoint."""
        return (index * self.step + self.start).lsr(19)
