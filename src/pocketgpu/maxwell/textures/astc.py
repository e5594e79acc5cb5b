"""ASTC of low dynamic range, 2D: blocks of 16 bytes for 4x4 to 12x12 texels.

A block has a grid of weights, which is stretched over its texels, and two colours for each of its one to four
partitions; with two planes one channel has its own weights. Blocks have no state outside themselves, so lanes differ in
all of it; they share only the positions of scratch values. Illegal blocks, and partitions whose colours have high
dynamic range, give opaque magenta.

Results are the sixteen bits of the interpolation as a half float rounded towards zero; with sRGB red, green and blue
are their upper eight bits.

Source: OpenGL extension KHR_texture_compression_astc_hdr, sections C.2.7 to C.2.24 (LDR profile).
"""

from __future__ import annotations

from typing import Final

from pocketgpu.lanes import I32, Lang, Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.textures.astc_colours import ERROR, ends
from pocketgpu.maxwell.textures.astc_integers import (
    COLOURS,
    WEIGHTS,
    Coding,
    Ranges,
    numbers,
    quint_bits,
    trit_bits,
)
from pocketgpu.maxwell.textures.block_bits import Words, field, lookup, low_bits, read, reverse
from pocketgpu.maxwell.textures.sink import TexelSink
from pocketgpu.maxwell.textures.sizes import COLOUR_CELLS, WEIGHT_CELLS

MAX_WEIGHTS, MAX_COLOURS, MAX_PARTS = 64, 18, 4
WEIGHT_BITS: Final = (24, 96)
_LOW = 0x00FF00FF


@dataclass
class _BlockHeader:
    """The fixed bits of the blocks. If a block is not `legal`, the numbers are harmless."""

    legal: Value
    void: Value
    """A block of one colour."""
    columns: Value
    rows: Value
    two_planes: Value
    weights: Ranges
    weight_count: Value
    weight_bits: Value
    parts: Value
    partition: Value
    ways: list[Value]
    """The colour endpoint mode of each partition."""
    own_channel: Value
    """The channel with the second plane's weights."""
    colours: Ranges
    colour_count: Value
    colour_start: Value
    """29 or 17."""


def decode(k: Lang, words: Words, sink: TexelSink, scratch: Value, block: tuple[int, int], srgb: bool) -> None:
    """Texels as floats."""
    head = _header(k, words, block)
    first, second = _endpoints(k, words, head, scratch)
    grid = scratch + 4 * k.lanes * (COLOUR_CELLS + WEIGHT_CELLS)
    _weights(k, words, head, scratch + 4 * k.lanes * COLOUR_CELLS, grid)

    (width, height), lane = block, k.iota()
    own = k.select(head.two_planes, head.own_channel, -1)
    # The halves of words with red and blue, and green and alpha: which use the second plane's weight.
    red_blue = k.select(own == 0, 0xFFFF, k.select(own == 2, -0x10000, k.splat(0)))
    green_alpha = k.select(own == 1, 0xFFFF, k.select(own == 3, -0x10000, k.splat(0)))
    constant = [field(words, 64 + 16 * channel, 16) for channel in range(4)]
    several = k.any(head.parts > 1)
    pattern = _Pattern(k, head.partition, head.parts, small=width * height < 31)
    across, down = (1024 + width // 2) // (width - 1), (1024 + height // 2) // (height - 1)
    for y in k.range(0, height):
        gt = ((y * down) * (head.rows - 1) + 32) >> 6
        ft, line = gt & 15, (gt >> 4) * head.columns
        for x in k.range(0, width):
            gs = ((x * across) * (head.columns - 1) + 32) >> 6
            fs, corner = gs & 15, line + (gs >> 4)
            w11 = (fs * ft + 8) >> 4
            w10, w01, w00 = ft - w11, fs - w11, 16 - fs - ft + w11
            place = k.to_i64((corner * k.lanes + lane) << 2) + grid
            above, below = k.gather(I32, place), k.gather(I32, place + 4 * k.to_i64(head.columns * k.lanes))
            # Two planes at once, in halves.
            weight = (
                (above & _LOW) * w00 + (above.lsr(8) & _LOW) * w01
                + (below & _LOW) * w10 + (below.lsr(8) & _LOW) * w11 + 0x00080008
            ).lsr(4) & 0x007F007F  # fmt: skip
            plain, other = (weight & 0xFFFF) * 0x10001, weight.lsr(16) * 0x10001

            def of_parts(x=x, y=y) -> tuple[Value, Value]:  # type: ignore[no-untyped-def]
                part = pattern.at(x, y)
                pick = lambda e: k.select(part >= 2, k.select(part == 3, e[3], e[2]), k.select(part == 1, e[1], e[0]))
                return pick(first), pick(second)

            one, two = k.branch(several, of_parts, lambda: (first[0], second[0]))
            sums = []
            for shift, swapped in ((0, red_blue), (8, green_alpha)):
                mixed = plain ^ ((plain ^ other) & swapped)
                start, end = one.lsr(shift) & _LOW, two.lsr(shift) & _LOW
                sums.append(k.mul_halves(start, 0x00400040 - mixed) + k.mul_halves(end, mixed))
            linear = [sums[0] & 0xFFFF, sums[1] & 0xFFFF, sums[0].lsr(16), sums[1].lsr(16)]
            result = []
            for channel, value in enumerate(linear):
                if srgb and channel < 3:
                    code = k.select(head.void, constant[channel].lsr(8), (value + 32).lsr(6))
                    result.append(k.to_f32(code) / 255.0)
                else:
                    code = k.select(head.void, constant[channel], (value * 257 + 32).lsr(6))
                    result.append(_half(k, code))
            red, green, blue, alpha = result
            sink.floats(x, y, (red, green, blue, alpha))


def _half(k: Lang, code: Value) -> Value:
    """16 bits as a number from 0 to 1: 65535 is 1, others are x / 65536 with 11 significant bits, truncated."""
    full = k.to_f32(code + (code + 1).lsr(16))
    return k.bits_f32(k.bits_i32(full) & -8192) * (1 / 65536)


# The header


def _header(k: Lang, words: Words, block: tuple[int, int]) -> _BlockHeader:
    low = words[0]
    is_void = (low & 0x1FF) == 0x1FC
    columns, rows, known = _grid(k, low)
    tall = (low & 3) == 0
    number = low.bits(4, 1) | (k.select(tall, low.bits(2, 2), low.bits(0, 2)) << 1)
    unusual = tall & (low.bits(7, 2) == 2)  # no room for the two bits
    two_planes = (low.bits(10, 1) == 1) & ~unusual
    fine = k.select(unusual, k.splat(0), low.bits(9, 1))
    index = k.max(number - 2, 0) + 6 * fine
    weights = Ranges(k, lookup(k, index, [r.packed for r in WEIGHTS], 32))
    planes = k.select(two_planes, k.splat(2), 1)
    count = columns * rows * planes
    size = weights.size(count)
    legal = known & ~is_void & (columns <= block[0]) & (rows <= block[1]) & (count <= MAX_WEIGHTS)
    legal = legal & (size >= WEIGHT_BITS[0]) & (size <= WEIGHT_BITS[1])

    parts = low.bits(11, 2) + 1
    legal = legal & ~(two_planes & (parts == MAX_PARTS))
    single, same = parts == 1, (low.bits(23, 2) == 0) | (parts == 1)
    extra = k.select(same, 0, 3 * parts - 4)
    end = 128 - size - extra  # harmless beyond the block: `read` takes any position
    more = read(k, words, end & 127) & low_bits(k, extra)
    common = k.select(single, low.bits(13, 4), low.bits(25, 4))
    selectors = low.bits(25, 4) | (more << 4)
    ways, colour_count = [], k.splat(0)
    for part in range(MAX_PARTS):
        kind = low.bits(23, 2) - 1 + selectors.bits(part, 1)
        way = k.select(same, common, (kind << 2) | (selectors.lsr(parts + 2 * part) & 3))
        ways.append(way)
        colour_count = colour_count + k.select(parts > part, (way.lsr(2) + 1) << 1, 0)
    legal = legal & (colour_count <= MAX_COLOURS)
    start = k.select(single, k.splat(17), 29)
    room = end - k.select(two_planes, k.splat(2), 0) - start
    colours, fits = _colour_range(k, colour_count, room)
    legal = legal & fits

    safe = lambda value, instead: k.select(legal, value, instead)
    return _BlockHeader(
        legal=legal | (is_void & _void_is_legal(words)),
        void=is_void & _void_is_legal(words),
        columns=safe(columns, 2),
        rows=safe(rows, 2),
        two_planes=two_planes & legal,
        weights=weights,
        weight_count=safe(count, 0),
        weight_bits=safe(size, 0),
        parts=safe(parts, 1),
        partition=low.bits(13, 10),
        ways=ways,
        own_channel=read(k, words, (end - 2) & 127) & 3,
        colours=colours,
        colour_count=safe(colour_count, 0),
        colour_start=start,
    )


def _grid(k: Lang, low: Value) -> tuple[Value, Value, Value]:
    """Columns and rows of the grid of weights, and whether the block mode is not reserved."""
    a, b = low.bits(5, 2), low.bits(7, 2)
    form = low.bits(2, 2)
    odd, upper = (form & 1) == 1, form >= 2
    # Modes whose two lowest bits are not both 0.
    last = k.select(low.bits(8, 1) == 1, (b & 1) + 2, a + 2)
    columns = k.select(upper, k.select(odd, last, a + 2), k.select(odd, b + 8, b + 4))
    last = k.select(low.bits(8, 1) == 1, a + 2, (b & 1) + 6)
    rows = k.select(upper, k.select(odd, last, b + 8), a + 2)
    # The others, by bits 8 and 7.
    six = k.select(a == 0, k.splat(6), 10), k.select(a == 0, k.splat(10), 6)
    upper, odd = b >= 2, (b & 1) == 1
    others = k.select(upper, k.select(odd, six[0], a + 6), k.select(odd, a + 2, 12))
    other_rows = k.select(upper, k.select(odd, six[1], low.bits(9, 2) + 6), k.select(odd, 12, a + 2))
    tall = (low & 3) == 0
    reserved = tall & (((low & 12) == 0) | ((b == 3) & (a >= 2)))
    return k.select(tall, others, columns), k.select(tall, other_rows, rows), ~reserved


def _colour_range(k: Lang, count: Value, room: Value) -> tuple[Ranges, Value]:
    """The largest range that `count` numbers can have in so many bits, and whether there is one."""
    shared = {1: trit_bits(count), 2: quint_bits(count)}

    def size(r: Coding) -> Value:
        return count * r.bits + shared[r.kind] if r.kind else count * r.bits

    best = k.splat(COLOURS[0].packed)
    for candidate in COLOURS[1:]:
        best = k.select(size(candidate) <= room, candidate.packed, best)
    return Ranges(k, best), size(COLOURS[0]) <= room


def _void_is_legal(words: Words) -> Value:
    """Low dynamic range, reserved bits set, and an extent that is not empty in any direction, or no extent."""
    marks = (words[0] & 0xE00) == 0xC00
    low_s, high_s, low_t, high_t = (field(words, 12 + 13 * i, 13) for i in range(4))
    none = (low_s & high_s & low_t & high_t) == 0x1FFF
    return marks & (none | ((low_s < high_s) & (low_t < high_t)))


# Sequences


def _kept(k: Lang, words: Words, size: Value) -> list[Value]:
    """Words with the bits from `size` on cleared."""
    kept = []
    for i, word in enumerate(words):
        left = k.clamp(size - 32 * i, 0, 32)
        kept.append(word & k.select(left == 32, -1, low_bits(k, left & 31)))
    return kept


def _endpoints(k: Lang, words: Words, head: _BlockHeader, scratch: Value) -> tuple[list[Value], list[Value]]:
    """The two colours of each partition, as unorm8 words."""
    single, zero = head.colour_start == 17, k.splat(0)
    shifted = [
        k.select(single, *(word.lsr(by) | (after << (32 - by)) for by in (17, 29)))
        for word, after in zip(words, [*words[1:], zero], strict=True)
    ]
    stream = _kept(k, shifted, head.colours.size(head.colour_count))

    def keep(number: Value | int, digit: Value, plain: Value) -> None:
        at = scratch + k.to_i64(k.fit(number, I32, 1)) * (4 * k.lanes)
        k.store(I32, at, head.colours.value(digit, plain, 7))

    numbers(k, stream, head.colours, k.reduce("max", head.colour_count), keep)
    first: list[Value] = []
    last: list[Value] = []
    start, error = k.splat(0), k.splat(ERROR)
    for part in range(MAX_PARTS):

        def found(part=part, start=start) -> tuple[Value, Value]:  # type: ignore[no-untyped-def]
            used = k.select(head.parts > part, start, 0)
            values = [k.gather(I32, k.to_i64(((used + i) * k.lanes + k.iota()) << 2) + scratch) for i in range(8)]
            return ends(k, head.ways[part], values)

        one, two = k.branch(k.any(head.parts > part), found, lambda: (error, error))
        first.append(k.select(head.legal, one, error))
        last.append(k.select(head.legal, two, error))
        start = start + ((head.ways[part].lsr(2) + 1) << 1)
    return first, last


def _weights(k: Lang, words: Words, head: _BlockHeader, raw: Value, grid: Value) -> None:
    """Store for each point of the grid its weight and its right neighbour's, of both planes, in a word."""
    stream = _kept(k, [reverse(word) for word in reversed(words)], head.weight_bits)
    line = 4 * k.lanes
    # What follows the last number is not used, only multiplied by 0.
    steps_up = k.select(head.weights.bits == 0, k.splat(0), 1)

    def keep(number: Value | int, digit: Value, plain: Value) -> None:
        value = head.weights.value(digit, plain, 5)
        at = raw + k.to_i64(k.fit(number, I32, 1)) * line
        k.store(I32, at, (value + k.select(value > 32, steps_up, 0)) & 0x7F)

    most = k.reduce("max", head.weight_count)
    numbers(k, stream, head.weights, most, keep)
    load = lambda at: k.load(I32, at, k.lanes) & 0x7F
    any_two = k.any(head.two_planes)
    for i in k.range(0, k.min(most, MAX_WEIGHTS)):
        here = raw + k.to_i64(i) * line
        alone = load(here) | (load(here + line) << 8)

        def both(i=i) -> Value:  # type: ignore[no-untyped-def]
            two = raw + k.to_i64(k.min(i, MAX_WEIGHTS // 2)) * (2 * line)
            a, b, c, d = (load(two + line * j) for j in range(4))
            return a | (c << 8) | (b << 16) | (d << 24)

        k.store(
            I32, grid + k.to_i64(i) * line,
            k.select(head.two_planes, k.branch(any_two, both, lambda: alone), alone),
        )  # fmt: skip


class _Pattern:
    """The partition of a texel: four numbers of 6 bits that grow along the block, and the largest of them."""

    def __init__(self, k: Lang, seed: Value, parts: Value, small: bool) -> None:
        self.k, self.parts, self.step = k, parts, 2 if small else 1
        seed = seed + (parts - 1) * 1024
        n = self._hash(seed)
        three = k.select(parts == 3, k.splat(6), 5)
        by = k.select((seed & 2) != 0, k.splat(4), 5)
        odd = (seed & 1) == 1
        shifts = k.select(odd, by, three), k.select(odd, three, by)
        squares = [n.bits(4 * i, 4) for i in range(8)]
        grow = [(v * v).lsr(shifts[i & 1]) for i, v in enumerate(squares)]
        self.lines = [(grow[2 * i], grow[2 * i + 1], n.lsr(14 - 4 * i)) for i in range(4)]

    def at(self, x: Value, y: Value) -> Value:
        """The partition of the texel in column x, row y (scalars)."""
        k = self.k
        a, b, c, d = (
            (across * (x * self.step) + down * (y * self.step) + start) & 63 for across, down, start in self.lines
        )
        c, d = k.select(self.parts < 3, 0, c), k.select(self.parts < 4, 0, d)
        first = (a >= b) & (a >= c) & (a >= d)
        second = (b >= c) & (b >= d)
        part = k.select(first, k.splat(0), k.select(second, k.splat(1), k.select(c >= d, k.splat(2), 3)))
        return k.select(self.parts == 1, 0, part)

    @staticmethod
    def _hash(p: Value) -> Value:
        p = p ^ p.lsr(15)
        p = p - (p << 17)
        p = p + (p << 7)
        p = p + (p << 4)
        p = p ^ p.lsr(5)
        p = p + (p << 16)
        p = p ^ p.lsr(7)
        p = p ^ p.lsr(3)
        p = p ^ (p << 6)
        return p ^ p.lsr(17)
