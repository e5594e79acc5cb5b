"""Bits of compressed blocks, for decoders that have one block in each lane: fields, tables, interleaving."""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.lanes import Lang, Value

Words = Sequence[Value]
"""A block as 32-bit words, lowest address first, one block in each lane."""


def field(words: Words, lo: int, width: int) -> Value:
    """The bits lo .. lo+width-1, 32 at most, of little-endian words."""
    number, shift = divmod(lo, 32)
    if shift + width <= 32:
        return words[number].bits(shift, width)
    both = words[number].lsr(shift) | (words[number + 1] << (32 - shift))
    return both if width == 32 else both & ((1 << width) - 1)


def read(k: Lang, words: Words, at: Value) -> Value:
    """32 bits of four words, starting at bit `at` (0 to 127, different in each lane); zeros follow the last word."""
    odd, high = (at & 32) != 0, (at & 64) != 0
    first, second, third, fourth = words
    low = k.select(high, k.select(odd, fourth, third), k.select(odd, second, first))
    above = k.select(high, k.select(odd, 0, fourth), k.select(odd, third, second))
    shift = at & 31
    return low.lsr(shift) | ((above << 1) << (shift ^ 31))


def low_bits(k: Lang, count: Value) -> Value:
    """A mask of the `count` (0 to 31) lowest bits."""
    return (k.splat(1) << count) - 1


def lookup(k: Lang, index: Value, values: Sequence[int], width: int) -> Value:
    """values[index] of a table of unsigned numbers of `width` bits, a power of two; no more values than the index has.

    Several numbers share a constant where they fit; the bits of the index select between the constants.
    """
    each = 32 // width
    packed = [sum(v << width * i for i, v in enumerate(values[at : at + each])) for at in range(0, len(values), each)]
    level, bit = [k.splat(word) for word in packed], each.bit_length() - 1
    while len(level) > 1:
        chosen = ((index >> bit) & 1) != 0
        pairs = [(level[i], level[min(i + 1, len(level) - 1)]) for i in range(0, len(level), 2)]
        level = [k.select(chosen, b, a) for a, b in pairs]
        bit += 1
    if each == 1:
        return level[0]
    shift = (index & (each - 1)) << (width.bit_length() - 1)
    return level[0].lsr(shift) & ((1 << width) - 1)


def big_endian(word: Value) -> Value:
    """The word with its bytes reversed."""
    pairs = ((word & 0x00FF00FF) << 8) | (word.lsr(8) & 0x00FF00FF)
    return (pairs << 16) | pairs.lsr(16)


def reverse(word: Value) -> Value:
    """The word with its bits reversed."""
    for shift, mask in ((1, 0x55555555), (2, 0x33333333), (4, 0x0F0F0F0F)):
        word = ((word & mask) << shift) | (word.lsr(shift) & mask)
    return big_endian(word)


def interleave(k: Lang, columns: Sequence[Value]) -> list[Value]:
    """Four vectors a, b, c, d as the vectors of a0 b0 c0 d0 a1 b1 ..."""
    lanes = k.lanes
    halves = (0, lanes // 2)
    pairs = [
        [k.shuffle(a, [p for i in range(at, at + lanes // 2) for p in (i, i + lanes)], b) for at in halves]
        for a, b in (columns[:2], columns[2:])
    ]
    # Lanes 2i and 2i+1 of the pairs are adjacent.
    fours = [[p for i in range(at, at + lanes // 2, 2) for p in (i, i + 1, i + lanes, i + 1 + lanes)] for at in halves]
    return [k.shuffle(pairs[0][half], places, pairs[1][half]) for half in range(2) for places in fours]
