"""The kernel of the 2D engine: every target pixel from one or four source pixels, through tables of columns and rows.

Where a pixel lies in memory and which source pixels it takes is worked out beforehand, for columns and rows apart; so
the kernel knows neither layouts nor steps, and clipping and flipping cost nothing.
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.formats.pixels import Layout, colour_of, load, pack, store, unpack, unpack_steps

LANES = 64  # columns of a table are padded to what any evaluator has


@kernel(
    source=I64, target=I64, columns=I64, rows=I64, width=I32, height=I32, curve=I64,
    rop=I32, beta1=F32, red=F32, green=F32, blue=F32, alpha=F32,
)  # fmt: skip
def blit_rows(
    k: Lang, source: Value, target: Value, columns: Value, rows: Value, width: Value, height: Value, curve: Value,
    rop: Value, beta1: Value, red: Value, green: Value, blue: Value, alpha: Value,
    *, read: tuple[int, Layout], write: tuple[int, Layout], bilinear: bool, raw: bool, operation: str,
    alpha_test: bool,
) -> None:  # fmt: skip
    """Write `width` x `height` pixels.

    columns: tables of `width` (padded to a multiple of LANES) words each: target offsets, source offsets of the left
    pixel, of the right one, and its weight. rows: for each row the same four words in a row. curve: `srgb_tables`.
    raw: pixel words are moved as they are. rop: four bits of SET_ROP, see `_raster`. beta1 and the four factors are
    those of SET_BETA1 and SET_BETA4.
    """
    table = k.to_i64((width + (LANES - 1)) & -LANES) << 2
    factors = {"r": red, "g": green, "b": blue, "a": alpha}
    for row in k.range(0, height):
        at = k.to_i64(row << 4) + rows
        out = k.to_i64(k.load(I32, at)) + target
        upper, lower = (k.to_i64(k.load(I32, at + i)) + source for i in (4, 8))
        down = k.load(F32, at + 12)
        for start in k.range(0, width, k.lanes):
            mask = k.iota() + start < width
            column = k.to_i64(start << 2) + columns
            place = k.to_i64(k.load(I32, column, k.lanes)) + out
            left = k.to_i64(k.load(I32, column + table, k.lanes))
            words = load(k, read[0], left + upper)
            if raw:
                store(k, write[0], place, words, mask)
                continue
            steps = unpack_steps(k, words, read[1], curve)
            if bilinear:
                right = k.to_i64(k.load(I32, column + table * 2, k.lanes))
                across = k.load(F32, column + table * 3, k.lanes)
                taps = [steps]
                for offset in (right + upper, left + lower, right + lower):
                    taps.append(unpack_steps(k, load(k, read[0], offset), read[1], curve))
                for channel in steps:
                    a, b, c, d = (tap[channel] for tap in taps)
                    top, bottom = a + (b - a) * across, c + (d - c) * across
                    steps = {**steps, channel: top + (bottom - top) * down}
            colour = colour_of(k, steps, read[1])
            if alpha_test:
                mask = mask & (colour["a"] != 0.0)
            if operation in ("BLEND_AND", "BLEND_PREMULT"):
                old = unpack(k, load(k, write[0], place), write[1], curve)
                for channel in "rgba":
                    new, kept = colour[channel], old[channel]
                    if operation == "BLEND_AND":
                        colour[channel] = new * beta1 + kept * (1.0 - beta1)
                    elif channel != "a":
                        colour[channel] = new * factors[channel] + kept * (1.0 - colour["a"] * alpha)
                if operation == "BLEND_PREMULT":
                    own = colour["a"] * alpha
                    colour["a"] = own + old["a"] * (1.0 - own)
            elif operation == "SRCCOPY_PREMULT":
                colour = {channel: colour[channel] * factors[channel] for channel in "rgba"}
            words = pack(k, colour, *write, curve)
            if operation in ("ROP", "ROP_AND"):
                words = [_raster(rop, new, old) for new, old in zip(words, load(k, write[0], place), strict=True)]
            store(k, write[0], place, words, mask)


def _raster(rop: Value, source: Value, target: Value) -> Value:
    """A raster operation of source and target bits: bit 2 s + d of `rop` tells what becomes of bits s and d."""
    result = source & 0
    for case in range(4):
        chosen = -(rop >> case & 1)  # all ones or none
        result = result | ((source if case & 2 else ~source) & (target if case & 1 else ~target) & chosen)
    return result
