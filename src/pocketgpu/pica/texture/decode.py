"""Decodes textures, once, into rows of 0xRRGGBBAA words with row 0 at the bottom (t = 0).

Source: 3dbrew GPU/Textures; ETC1 from the Khronos specification, with the GPU's reversed byte order in blocks.
"""

from __future__ import annotations

from typing import Any

from pocketgpu.facts.formats import RGBA8, TEXTURE_FORMATS
from pocketgpu.lanes import I32, I64, U8, Kernel, Lang, Value, kernel
from pocketgpu.pica.memory.pixels import Widen, detile, expand, expand_by_scale, gather_pixels, morton, unpack

# ETC1: the two magnitudes of each modifier table (Khronos ETC1 specification, table 3.17.2).
ETC_MODIFIERS = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))

_BLOCKS = 16  # blocks decoded together


def _etc1(k: Lang, low: Value, high: Value, x: Value, y: Value) -> dict[str, Value]:
    """One texel of an ETC1 block per lane: block words, column and row in the block (0-3)."""
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


def _widen(choices: tuple[tuple[str, str], ...]) -> Widen:
    return expand_by_scale if dict(choices).get("texture.expand") == "scale" else expand


def decoder(
    format: int, width: int, height: int, choices: tuple[tuple[str, str], ...]
) -> tuple[Kernel, dict[str, Any]]:
    """The fastest kernel for a level, with its static values."""
    if (width | height) & 7 == 0:
        if TEXTURE_FORMATS[format].kind != "etc1":
            return decode_tiles, {"format": format, "choices": choices}
        if width % (4 * _BLOCKS) == 0:
            return decode_blocks, {"format": format}
    return decode_texture, {"format": format, "choices": choices}


@kernel(8, source=I64, target=I64, width=I32, height=I32)
def decode_tiles(
    k: Lang, source: Value, target: Value, width: Value, height: Value,
    *, format: int, choices: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """`decode_texture` for levels of whole tiles in uncompressed formats: the same words, faster."""
    read, bottom_first = TEXTURE_FORMATS[format], k.i32(1)
    detile(k, read, RGBA8, source, target, width, width, height, bottom_first, _widen(choices))


class _Blocks:
    """ETC1 blocks, one per lane: the four colours of each half that texels choose from, and the texels."""

    def __init__(self, k: Lang, low: Value, high: Value) -> None:
        self.k, self.low = k, low
        flip, differential = high.bits(0, 1) == 1, high.bits(1, 1) == 1
        halves: list[list[Value]] = []
        for half in range(2):
            table = high.bits(2 if half else 5, 3)
            small, big = k.splat(0), k.splat(0)
            for i, (a, b) in enumerate(ETC_MODIFIERS):
                small, big = k.select(table == i, a, small), k.select(table == i, b, big)
            modifiers = [small, big, -small, -big]
            words: list[Value | int] = [0] * 4
            for at in (24, 16, 8):
                five, four = high.bits(at + 3, 5), high.bits(at + (0 if half else 4), 4)
                if half:
                    five = (five + high.bits(at, 3, signed=True)) & 31
                base = k.select(differential, (five << 3) | (five >> 2), four * 17)
                words = [
                    (k.clamp(base + modifier, 0, 255) << at) | word
                    for word, modifier in zip(words, modifiers, strict=True)
                ]
            halves.append([word for word in words if isinstance(word, Value)])
        first, second = halves
        # By (right half, lower half): blocks are halved by columns, or with `flip` by rows.
        choose = lambda a, b: [k.select(flip, one, other) for one, other in zip(a, b, strict=True)]
        self.parts = {
            (0, 0): first, (1, 1): second, (1, 0): choose(first, second), (0, 1): choose(second, first),
        }  # fmt: skip

    def texel(self, x: int, y: int, alpha: Value | int) -> Value:
        """The 0xRRGGBBAA words of column x, row y of all blocks."""
        k, part, number = self.k, self.parts[x >> 1, y >> 1], 4 * x + y
        # The sign of a word is the bit that is shifted there: machines choose by it at once.
        big, negative = (self.low << (31 - number)) < 0, (self.low << (15 - number)) < 0
        return k.select(negative, k.select(big, part[3], part[2]), k.select(big, part[1], part[0])) | alpha


def _opacities(word: Value) -> list[Value]:
    """The eight 4-bit opacities of a word, lowest first, as 8 bits each."""
    pairs = [word.lsr(shift) & 0x0F0F0F0F for shift in (0, 4)]
    pairs = [pair | (pair << 4) for pair in pairs]
    return [pairs[i & 1].bits(8 * (i >> 1), 8) for i in range(8)]


def _interleave(k: Lang, columns: list[Value]) -> list[Value]:
    """Vectors a, b, c, d as the vectors of a0 b0 c0 d0 a1 b1 ..."""
    lanes = k.lanes
    zip_half = lambda a, b, start: k.shuffle(
        a, [p for i in range(start, start + lanes // 2) for p in (i, i + lanes)], b
    )
    pairs = [[zip_half(a, b, start) for start in (0, lanes // 2)] for a, b in (columns[:2], columns[2:])]
    # Lanes 2i, 2i+1 of the pairs are two neighbouring texels of one block.
    fours = lambda a, b, start: k.shuffle(
        a, [p for i in range(start, start + lanes // 2, 2) for p in (i, i + 1, i + lanes, i + 1 + lanes)], b
    )
    return [fours(pairs[0][half], pairs[1][half], start) for half in range(2) for start in (0, lanes // 2)]


@kernel(_BLOCKS, source=I64, target=I64, width=I32, height=I32)
def decode_blocks(k: Lang, source: Value, target: Value, width: Value, height: Value, *, format: int) -> None:
    """`decode_texture` for ETC1 and ETC1A4 levels whose blocks per row are a multiple of the lanes."""
    size = TEXTURE_FORMATS[format].block_bytes
    for by in k.range(0, height >> 2):
        # Two blocks of a row are side by side in each tile; the other two blocks of the tile follow them.
        row = ((by >> 1) * (width >> 3) << 2) + ((by & 1) << 1)
        for bx in k.range(0, width >> 2, k.lanes):
            n = k.iota() + bx
            place = k.to_i64((((n >> 1) << 2) + (n & 1) + row) * size) + source
            low, high = (k.gather(I32, place + (size - 8 + at)) for at in (0, 4))
            opacity = [one for at in (0, 4) for one in _opacities(k.gather(I32, place + at))] if size == 16 else None
            blocks = _Blocks(k, low, high)
            for y in range(4):
                columns = []
                for x in range(4):
                    columns.append(blocks.texel(x, y, opacity[4 * x + y] if opacity else 255))
                line = height - 1 - ((by << 2) + y)
                out = k.to_i64((line * width + (bx << 2)) << 2) + target
                for i, vector in enumerate(_interleave(k, columns)):
                    k.store(I32, out + 4 * k.lanes * i, vector)


@kernel(source=I64, target=I64, width=I32, height=I32)
def decode_texture(
    k: Lang, source: Value, target: Value, width: Value, height: Value,
    *, format: int, choices: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """One level: tiled texels at `source` to rows at `target` (4 * width bytes each, bottom row first)."""
    widen = _widen(choices)
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

        def texels(t: Value, mask: Value | None, y=y, row=row, in_tile=in_tile, row_number=row_number) -> None:  # type: ignore[no-untyped-def]
            first = ((y >> 3) * tiles + (tile_lane + t)) << 6
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
                word = unpack(k, raw, pixel, widen)
            k.store(I32, target + k.to_i64((row * width + (t << 3)) << 2), word, mask)

        for t in k.range(0, tiles, step):
            texels(t, (tile_lane + t) < tiles if step > 1 else None)
        # A row of tiles is as long as its whole tiles: columns of a partial tile are in the next row's first tile.
        for _ in k.when((width & 7) != 0):
            texels(tiles, k.iota() < (width & 7))
