"""ASTC's integer sequences: decoding numbers with shared trits or quints, and converting them to values.

A range has 2^b, 3 * 2^b or 5 * 2^b values. Five trits share 8 bits and three quints 7; the b lower bits of the numbers
are between them. All lanes can have different ranges.

Source: OpenGL extension KHR_texture_compression_astc_hdr, sections C.2.12, C.2.13 and C.2.17.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from pocketgpu.lanes import Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures.block_bits import Words, low_bits, read

PLAIN, TRITS, QUINTS = 0, 1, 2
STEP: Final = 15
"""Numbers that are decoded at a time: three groups of trits, five of quints."""


class Coding(NamedTuple):
    """One range: kind and plain bits; the conversion of a number to a value is below.

    With x the plain bits (without the lowest one for trits and quints), B = x * spread >> drop. That is the value of a
    plain number. Otherwise the value is (trit * scale + B) ^ (all ones if the lowest bit is set), without its two
    lowest bits and with the lowest bit of the number on top.
    """

    kind: int
    bits: int
    spread: int
    drop: int = 0
    scale: int = 0

    @property
    def packed(self) -> int:
        """The range in one word, for lanes."""
        return self.spread | self.scale << 9 | self.drop << 17 | self.bits << 20 | self.kind << 24


# Of weights, 0 to 63; for trits or quints without plain bits directly 0 to 64.
WEIGHTS: Final = (
    Coding(PLAIN, 1, 63), Coding(TRITS, 0, 0, 0, 128), Coding(PLAIN, 2, 21), Coding(QUINTS, 0, 0, 0, 64),
    Coding(TRITS, 1, 0, 0, 50), Coding(PLAIN, 3, 9), Coding(QUINTS, 1, 0, 0, 28), Coding(TRITS, 2, 69, 0, 23),
    Coding(PLAIN, 4, 17, 2), Coding(QUINTS, 2, 66, 0, 13), Coding(TRITS, 3, 33, 0, 11), Coding(PLAIN, 5, 33, 4),
)  # fmt: skip
# Of colours, 0 to 255, starting at the smallest range.
COLOURS: Final = (
    Coding(TRITS, 1, 0, 0, 204), Coding(PLAIN, 3, 73, 1), Coding(QUINTS, 1, 0, 0, 113), Coding(TRITS, 2, 278, 0, 93),
    Coding(PLAIN, 4, 17), Coding(QUINTS, 2, 268, 0, 54), Coding(TRITS, 3, 133, 0, 44), Coding(PLAIN, 5, 33, 2),
    Coding(QUINTS, 3, 261, 1, 26), Coding(TRITS, 4, 65, 0, 22), Coding(PLAIN, 6, 65, 4), Coding(QUINTS, 4, 129, 1, 13),
    Coding(TRITS, 5, 129, 2, 11), Coding(PLAIN, 7, 129, 6), Coding(QUINTS, 5, 257, 3, 6), Coding(TRITS, 6, 257, 4, 5),
    Coding(PLAIN, 8, 1),
)  # fmt: skip


@dataclass
class Ranges:
    """The range of each lane, from words of `Coding.packed`."""

    k: Lang
    packed: Value

    def __post_init__(self) -> None:
        packed = self.packed
        self.spread, self.scale, self.drop = packed.bits(0, 9), packed.bits(9, 8), packed.bits(17, 3)
        self.bits, kind = packed.bits(20, 4), packed.bits(24, 2)
        self.trits, self.quints = kind == TRITS, kind == QUINTS
        self.mixed = self.trits | self.quints

    def size(self, count: Value) -> Value:
        """The size in bits of `count` (below 300) numbers."""
        k = self.k
        shared = k.select(self.trits, trit_bits(count), k.select(self.quints, quint_bits(count), 0))
        return count * self.bits + shared

    def value(self, digit: Value, plain: Value, top: int) -> Value:
        """The value of a number; `top` is the highest bit of values."""
        k = self.k
        spread = (k.select(self.mixed, plain.lsr(1), plain) * self.spread).lsr(self.drop)
        ones = -(plain & 1)
        mixed = (digit * self.scale + spread) ^ (ones & ((4 << top) - 1))
        return k.select(self.mixed, (ones & (1 << top)) | mixed.lsr(2), spread)


def trit_bits(count: Value) -> Value:
    """ceil(8 * count / 5), for counts below 300."""
    return ((8 * count + 4) * 52429).lsr(18)


def quint_bits(count: Value) -> Value:
    """ceil(7 * count / 3), for counts below 300."""
    return ((7 * count + 2) * 43691).lsr(17)


def numbers(
    k: Lang, words: Words, ranges: Ranges, count: Value, each: Callable[[Value | int, Value, Value], None]
) -> None:
    """Call `each(number, digit, plain bits)` for the first `count` (a scalar) numbers of four words, and some more.

    The number is a scalar. Bits after the sequence must be zero.
    """
    bits, mask = ranges.bits, low_bits(k, ranges.bits)
    trit_group, quint_group = 5 * bits + 8, 3 * bits + k.select(ranges.quints, k.splat(7), 0)
    gap = k.select(ranges.quints, k.splat(1), 0)
    has_trits = k.any(ranges.trits)
    steps = k.udiv(count + (STEP - 1), STEP)
    for step in k.range(0, steps):

        def by_threes(step=step) -> tuple[Value, ...]:  # type: ignore[no-untyped-def]
            out: list[Value] = []
            for group in range(STEP // 3):
                piece = read(k, words, (step * 5 + group) * quint_group)
                shared = (
                    (piece.lsr(bits) & 7) | ((piece.lsr(2 * bits + 3) & 3) << 3) | ((piece.lsr(3 * bits + 5) & 3) << 5)
                )
                digits = _quints(k, shared)
                for i, (digit, skipped) in enumerate(zip(digits, (0, 3, 5), strict=True)):
                    out += [digit * gap, piece.lsr(i * bits + skipped * gap) & mask]
            return tuple(out)

        def by_fives(step=step) -> tuple[Value, ...]:  # type: ignore[no-untyped-def]
            out: list[Value] = []
            for group in range(STEP // 5):
                place = (step * 3 + group) * trit_group
                # Up to 38 bits: two pieces.
                piece, rest = read(k, words, place), read(k, words, place + 2 * bits + 4)
                shared = (
                    (piece.lsr(bits) & 3)
                    | ((piece.lsr(2 * bits + 2) & 3) << 2)
                    | ((rest.lsr(bits) & 1) << 4)
                    | ((rest.lsr(2 * bits + 1) & 3) << 5)
                    | ((rest.lsr(3 * bits + 3) & 1) << 7)
                )
                plain = [piece, piece.lsr(bits + 2), rest, rest.lsr(bits + 1), rest.lsr(2 * bits + 3)]
                for digit, part in zip(_trits(k, shared), plain, strict=True):
                    out += [digit, part & mask]
            return tuple(out)

        found = by_threes()
        fives = k.branch(has_trits, by_fives, lambda: tuple(k.splat(0) for _ in range(2 * STEP)))
        merged = [k.select(ranges.trits, five, three) for five, three in zip(fives, found, strict=True)]
        for i in range(STEP):
            each(step * STEP + i, merged[2 * i], merged[2 * i + 1])


def _trits(k: Lang, t: Value) -> list[Value]:
    """The five trits of 8 bits."""
    both = (t & 0x1C) == 0x1C
    upper = t.bits(5, 2) == 3
    c = k.select(both, (t.bits(5, 3) << 2) | (t & 3), t & 31)
    t4 = k.select(both | upper, k.splat(2), t.bits(7, 1))
    t3 = k.select(both, 2, k.select(upper, t.bits(7, 1), t.bits(5, 2)))
    low, middle = (c & 3) == 3, (c & 12) == 12
    pair = lambda lo: (c.bits(lo + 1, 1) << 1) | (c.bits(lo, 1) & ~c.bits(lo + 1, 1))
    t2 = k.select(low | middle, k.splat(2), c.bits(4, 1))
    t1 = k.select(low, c.bits(4, 1), k.select(middle, 2, c.bits(2, 2)))
    t0 = k.select(low, pair(2), k.select(middle, c & 3, pair(0)))
    return [t0, t1, t2, t3, t4]


def _quints(k: Lang, q: Value) -> list[Value]:
    """The three quints of 7 bits."""
    full = (q & 6) == 6
    four = full & ((q & 0x60) == 0)
    c = k.select(full, (q.bits(3, 2) << 3) | ((q.bits(5, 2) ^ 3) << 1) | (q & 1), q & 31)
    last = q & 1
    alone = (last << 2) | ((q.bits(4, 1) & ~last) << 1) | (q.bits(3, 1) & ~last)
    q2 = k.select(four, alone, k.select(full, 4, q.bits(5, 2)))
    fifth = (c & 7) == 5
    q1 = k.select(four | fifth, k.splat(4), c.bits(3, 2))
    q0 = k.select(four, 4, k.select(fifth, c.bits(3, 2), c & 7))
    return [q0, q1, q2]
