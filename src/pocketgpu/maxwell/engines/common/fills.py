"""Filling a rectangle with one pattern under a bit mask: the common part of clears and constant copies.

A pattern has 16 bytes, a multiple of every pixel size, and repeats along a line. A table with one mask word for each
word of a line says which bits change, so edges, channel masks and stencil masks are handled alike. GOBs that are
completely inside are written in the order of memory, sixteen vectors each.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from pocketgpu.lanes import I32, I64, Engine, Lang, Value, kernel
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT, GOB_WIDTH
from pocketgpu.maxwell.memory.blocklinear import GOB_SIZE as GOB_BYTES

Array = np.ndarray[Any, Any]
PERIOD = 16


def _blend(k: Lang, at: Value, new: Value, mask: Value, lanes: int) -> None:
    old = k.load(I32, at, lanes=lanes)
    k.store(I32, at, old ^ ((old ^ new) & mask))


@kernel(8, target=I64, masks=I64, gob_from=I32, gob_to=I32, y_from=I32, y_to=I32, full_from=I32, full_to=I32,
        column_bytes=I64, block_row_bytes=I64, block_height=I32, v0=I32, v1=I32, v2=I32, v3=I32)  # fmt: skip
def fill_gobs(
    k: Lang, target: Value, masks: Value, gob_from: Value, gob_to: Value, y_from: Value, y_to: Value,
    full_from: Value, full_to: Value, column_bytes: Value, block_row_bytes: Value, block_height: Value,
    v0: Value, v1: Value, v2: Value, v3: Value,
) -> None:  # fmt: skip
    """Fill lines y_from .. y_to-1 of columns of GOBs gob_from .. gob_to-1 of a block-linear slice at `target`.

    masks: offset of the mask words of a line, starting at column gob_from. In columns full_from .. full_to-1 all their
    bits are set. v0 .. v3: the pattern.
    """
    words = [k.splat(v) for v in (v0, v1, v2, v3)]
    lane = [i & 3 for i in range(8)]
    pick = lambda n: k.pattern_of([int(i == n) for i in lane]) == 1
    eight = k.select(pick(0), words[0], k.select(pick(1), words[1], k.select(pick(2), words[2], words[3])))
    four = k.shuffle(eight, range(4))
    first_row, end_row, height = y_from >> 3, (y_to + 7) >> 3, k.i32(1) << block_height
    # In the order of memory: the rows of a block, one block after the other.
    for block_row in k.range(first_row >> block_height, ((end_row - 1) >> block_height) + 1):
        block_top = block_row << block_height
        block_line = k.to_i64(block_row) * block_row_bytes + target
        row_from, row_to = k.max(first_row - block_top, 0), k.min(end_row - block_top, height)
        for gob in k.range(gob_from, gob_to):
            block = k.to_i64(gob) * column_bytes + block_line
            inner = (gob >= full_from) & (gob < full_to)
            for row in k.range(row_from, row_to):
                at, top = block + k.to_i64(row * GOB_BYTES), (block_top + row) << 3
                whole = (top >= y_from) & (top + GOB_HEIGHT <= y_to)
                full = whole & inner
                mask = k.to_i64((gob - gob_from) * GOB_WIDTH) + masks
                for _ in k.when(full):
                    for part in range(0, GOB_BYTES, 32):
                        k.store(I32, at + part, eight)
                for _ in k.when(whole & ~full):
                    for chunk in range(4):
                        row = k.load(I32, mask + 16 * chunk, lanes=4)
                        both = k.shuffle(row, lane)
                        for pair in range(4):  # two lines that are adjacent in memory
                            place = (chunk >> 1) << 8 | pair << 6 | (chunk & 1) << 5
                            _blend(k, at + place, eight, both, 8)
                for _ in k.when(~whole):
                    for y in k.range(k.max(y_from, top), k.min(y_to, top + GOB_HEIGHT)):
                        inside = ((y >> 1 & 3) << 6) | ((y & 1) << 4)
                        row = k.to_i64(inside) + at
                        for chunk in range(4):
                            place = (chunk >> 1) << 8 | (chunk & 1) << 5
                            _blend(k, row + place, four, k.load(I32, mask + 16 * chunk, lanes=4), 4)


@kernel(8, target=I64, masks=I64, pitch=I64, words=I32, lines=I32, v0=I32, v1=I32, v2=I32, v3=I32)
def fill_lines(
    k: Lang, target: Value, masks: Value, pitch: Value, words: Value, lines: Value,
    v0: Value, v1: Value, v2: Value, v3: Value,
) -> None:  # fmt: skip
    """Fill `words` words of each of `lines` lines, `pitch` bytes apart; masks: offset of the mask words of a line."""
    values = [k.splat(v) for v in (v0, v1, v2, v3)]
    lane = [i & 3 for i in range(8)]
    pick = lambda n: k.pattern_of([int(i == n) for i in lane]) == 1
    eight = k.select(pick(0), values[0], k.select(pick(1), values[1], k.select(pick(2), values[2], values[3])))
    line = k.var(target)
    vectors = words & -8
    for _ in k.range(0, lines):
        start = line.value
        for i in k.range(0, vectors, 8):
            at = k.to_i64(i << 2)
            _blend(k, start + at, eight, k.load(I32, masks + at, lanes=8), 8)
        for i in k.range(vectors, words):
            at = k.to_i64(i << 2)
            turn = i & 3
            value = k.select(turn == 0, v0, k.select(turn == 1, v1, k.select(turn == 2, v2, v3)))
            _blend(k, start + at, value, k.load(I32, masks + at), 1)
        line.value = start + pitch


def line_masks(first: int, x_from: int, x_to: int, end: int, bits: bytes) -> Array:
    """Mask words of the bytes `first` .. `end`-1 of a line, where bytes x_from .. x_to-1 change the bits `bits`.

    first is a multiple of 4. `bits` is a mask of 16 bytes, aligned to byte 0 of the line.
    """
    phase, size = first % PERIOD, end - first
    repeated = bits * ((phase + size) // PERIOD + 1)
    mask = np.frombuffer(bytearray(repeated[phase : phase + size]), np.uint8)
    mask[: x_from - first] = 0
    mask[x_to - first :] = 0
    return mask.view(np.int32)


def pattern_words(pattern: bytes, phase: int) -> tuple[int, ...]:
    """The four words of a 16-byte pattern, beginning at its byte `phase`."""
    phase %= PERIOD
    return struct.unpack("<4i", pattern[phase:] + pattern[:phase])


class Fill:
    """A rectangle of a plane to be filled: bytes x_from .. x_to-1 of lines y_from .. y_to-1.

    pattern, bits: 16 bytes each, aligned to byte 0 of a line. A block-linear plane begins at a multiple of 512; a pitch
    plane and its lines begin at multiples of 4. `low`, `high`: the range of bytes that is written, from the plane's
    address.
    """

    def __init__(
        self, plane: Plane, x_from: int, x_to: int, y_from: int, y_to: int, pattern: bytes, bits: bytes
    ) -> None:
        self.plane = plane
        self._lines = (y_from, y_to)
        if plane.layout is None:
            first, end = x_from & -4, (x_to + 3) & -4
            corners = y_from * plane.pitch, (y_to - 1) * plane.pitch
            self.low, self.high = min(corners) + first, max(corners) + end
            self._start = corners[0] + first - self.low
            self._words = pattern_words(pattern, first)
        else:
            gobs = x_from // GOB_WIDTH, -(-x_to // GOB_WIDTH)
            first, end = gobs[0] * GOB_WIDTH, gobs[1] * GOB_WIDTH
            top, bottom = (int(plane.layout.rows(y & -GOB_HEIGHT, plane.z)) for y in (y_from, y_to - 1))
            column = plane.layout.block_size
            self.low, self.high = top + gobs[0] * column, bottom + (gobs[1] - 1) * column + GOB_BYTES
            self._gobs = gobs
            self._words = pattern_words(pattern, 0)
            whole = bits == b"\xff" * PERIOD
            self._full = (-(-x_from // GOB_WIDTH), x_to // GOB_WIDTH) if whole else (0, 0)
        self.masks = line_masks(first, x_from, x_to, end, bits)

    @property
    def amount(self) -> int:
        """About how many words are written."""
        return len(self.masks) * (self._lines[1] - self._lines[0])

    def run(self, engine: Engine, target: int, masks: int, part: int = 0, parts: int = 1) -> None:
        """Fill the rectangle. target: arena offset of byte `low`; masks: that of a copy of `masks`. part, parts: which
        share of the lines."""
        top, bottom = self._lines
        cut = lambda n: min(max(top + (bottom - top) * n // parts & -GOB_HEIGHT, top), bottom) if n < parts else bottom
        y_from, y_to = top if not part else cut(part), cut(part + 1)
        layout = self.plane.layout
        if layout is None:
            start, pitch = target + self._start, self.plane.pitch
            engine.get(fill_lines)(
                start + (y_from - top) * pitch, masks, pitch, len(self.masks), y_to - y_from, *self._words
            )
            return
        engine.get(fill_gobs)(
            target - self.low + layout.start_of(self.plane.z), masks, *self._gobs, y_from, y_to, *self._full,
            layout.block_size, layout.row_size, layout.block_height_log2, *self._words,
        )  # fmt: skip
