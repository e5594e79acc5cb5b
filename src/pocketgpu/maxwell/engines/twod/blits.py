"""The kernel of the 2D engine: every target pixel from one or four source pixels, through tables of columns and rows.

The offsets of target pixels and the source pixels that they read are computed before, separately for columns and rows.
So the kernel needs neither layouts nor steps, and clipping and flipping cost nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.maxwell.formats.channels import Channels, Colour
from pocketgpu.maxwell.formats.components import ABSENT, Quotient, Rounding
from pocketgpu.maxwell.formats.words import load, store

LANES = 64  # columns of a table are padded to the largest number of lanes of any evaluator
_ALPHA = 3
_AHEAD = 4
"""How many vectors of pixels ahead their source is asked for."""


@kernel(
    source=I64, target=I64, columns=I64, rows=I64, width=I32, height=I32, curve=I64,
    rop=I32, beta1=F32, red=F32, green=F32, blue=F32, alpha=F32,
)  # fmt: skip
def blit_rows(
    k: Lang, source: Value, target: Value, columns: Value, rows: Value, width: Value, height: Value, curve: Value,
    rop: Value, beta1: Value, red: Value, green: Value, blue: Value, alpha: Value,
    *, read: Channels, write: Channels, bilinear: bool, raw: bool, operation: str, alpha_test: bool,
) -> None:  # fmt: skip
    """Write `width` x `height` pixels.

    columns: tables of `width` (padded to a multiple of LANES) words each: target offsets, source offsets of the left
    pixel, of the right one, and its weight. rows: for each row the same four words, one after the other. curve:
    `srgb_tables`. raw: pixel words are copied unchanged. rop: four bits of SET_ROP, see `_raster`. beta1 and the four
    factors are those of SET_BETA1 and SET_BETA4.
    """
    read_bytes, write_bytes = _bytes_of(read), _bytes_of(write)
    table = k.to_i64((width + (LANES - 1)) & -LANES) << 2
    factors = (red, green, blue, alpha)
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
            # Bytes of blocks are far apart, so the processor does not expect them by itself.
            for word in range(_AHEAD * k.lanes, (_AHEAD + 1) * k.lanes, k.lanes // 2):
                k.prefetch(k.to_i64(k.load(I32, column + table + 4 * word)) + upper)
            words = load(k, read_bytes, left + upper)
            if raw:
                store(k, write_bytes, place, words, mask)
                continue
            steps = read.unpack(k, words, curve, Quotient.STEPS)
            if bilinear:
                right = k.to_i64(k.load(I32, column + table * 2, k.lanes))
                across = k.load(F32, column + table * 3, k.lanes)
                taps = [steps]
                for offset in (right + upper, left + lower, right + lower):
                    taps.append(read.unpack(k, load(k, read_bytes, offset), curve, Quotient.STEPS))
                steps = [
                    _mixed(four, across, down) if channel.type != ABSENT else four[0]
                    for channel, four in zip(read.channels, zip(*taps, strict=True), strict=True)
                ]
            colour = read.from_steps(k, steps)
            if alpha_test:
                mask = mask & (colour[_ALPHA] != 0.0)
            if operation in ("BLEND_AND", "BLEND_PREMULT"):
                steps = write.unpack(k, load(k, write_bytes, place), curve, Quotient.STEPS)
                old = write.from_steps(k, steps)
                colour = _blended(operation, colour, old, beta1, factors)
            elif operation == "SRCCOPY_PREMULT":
                colour = [value * factor for value, factor in zip(colour, factors, strict=True)]
            words = write.pack(k, colour, curve, Rounding.SINGLE)
            if operation in ("ROP", "ROP_AND"):
                words = tuple(_raster(rop, a, b) for a, b in zip(words, load(k, write_bytes, place), strict=True))
            store(k, write_bytes, place, words, mask)


def _bytes_of(channels: Channels) -> int:
    """Bytes of a pixel whose format is constant in the kernel."""
    assert isinstance(channels.bytes, int)
    return channels.bytes


def _mixed(taps: Sequence[Value], across: Value, down: Value) -> Value:
    """The bilinear interpolation of four values: upper left, upper right, lower left, lower right."""
    a, b, c, d = taps
    top, bottom = a + (b - a) * across, c + (d - c) * across
    return top + (bottom - top) * down


def _blended(operation: str, colour: Colour, old: Colour, beta1: Value, factors: Sequence[Value]) -> Colour:
    """The colour that BLEND_AND or BLEND_PREMULT stores over an old one."""
    if operation == "BLEND_AND":
        return [new * beta1 + kept * (1.0 - beta1) for new, kept in zip(colour, old, strict=True)]
    own = colour[_ALPHA] * factors[_ALPHA]
    mixed = [
        new * factor + kept * (1.0 - own) for new, kept, factor in zip(colour[:_ALPHA], old, factors, strict=False)
    ]
    return [*mixed, own + old[_ALPHA] * (1.0 - own)]


def _raster(rop: Value, source: Value, target: Value) -> Value:
    """A raster operation of source and target bits: bit 2 s + d of `rop` is the result for bits s and d."""
    result = source & 0
    for case in range(4):
        chosen = -(rop >> case & 1)  # all ones or none
        result = result | ((source if case & 2 else ~source) & (target if case & 1 else ~target) & chosen)
    return result
