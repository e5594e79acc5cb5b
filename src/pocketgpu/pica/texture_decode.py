"""Decoding textures, once, into rows of 0xRRGGBBAA words with row 0 at the bottom (t = 0).

Source: 3dbrew GPU/Textures; ETC1 from the Khronos specification, with the block's bytes reversed as the GPU has them.
"""

from __future__ import annotations

from ..facts.formats import RGBA8, TEXTURE_FORMATS
from ..lanes import I32, I64, U8, Lang, Value, kernel
from .pixels import Widen, detile, expand, expand_by_scale, gather_pixels, morton, unpack

# ETC1: the two magnitudes of each modifier table (Khronos ETC1 specification, table 3.17.2).
ETC_MODIFIERS = ((2, 8), (5, 17), (9, 29), (13, 42), (18, 60), (24, 80), (33, 106), (47, 183))


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


def _widen(switches: tuple[tuple[str, str], ...]) -> Widen:
    return expand_by_scale if dict(switches).get("texture.expand") == "scale" else expand


def whole_tiles(format: int, width: int, height: int) -> bool:
    """Whether `decode_tiles` can decode a level."""
    return TEXTURE_FORMATS[format].kind != "etc1" and not (width | height) & 7


@kernel(8, source=I64, target=I64, width=I32, height=I32)
def decode_tiles(
    k: Lang, source: Value, target: Value, width: Value, height: Value,
    *, format: int, switches: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """`decode_texture` for levels of whole tiles in formats without blocks: the same words, faster."""
    read, bottom_first = TEXTURE_FORMATS[format], k.i32(1)
    detile(k, read, RGBA8, source, target, width, width, height, bottom_first, _widen(switches))


@kernel(source=I64, target=I64, width=I32, height=I32)
def decode_texture(
    k: Lang, source: Value, target: Value, width: Value, height: Value,
    *, format: int, switches: tuple[tuple[str, str], ...] = (),
) -> None:  # fmt: skip
    """One level: tiled texels at `source` to rows at `target` (4 * width bytes each, bottom row first)."""
    widen = _widen(switches)
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
        # Rows of tiles are as long as there are whole tiles: columns of a part of a tile lie in the next row's first.
        for _ in k.when((width & 7) != 0):
            texels(tiles, k.iota() < (width & 7))
