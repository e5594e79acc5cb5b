"""Kernels that make the picture of a surface where its bytes lie; `present.py` does the same with arrays of bytes.

Rows of pixels come through the staging area unless they lie plainly in the arena, and leave it as rows (or columns) of
the picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.maxwell.formats import PixelLayout, shown_layout
from pocketgpu.lanes import I32, I64, U8, Engine, Lang, Value, kernel
from pocketgpu.maxwell.display.present import FLIP_X, FLIP_Y, TURN, Shown, to_picture
from pocketgpu.maxwell.formats.words import unit_of
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT, Layout
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import STAGING, STAGING_SIZE
from pocketgpu.maxwell.memory.surface_copy import SurfaceSide, slice_to_rows, to_rows

Rows = Callable[[int, int], tuple[int, int]]
"""Brings rows of pixels, from one and so many: the arena offset of the first pixel, and bytes from row to row."""
_RGB = 3
_ROWS_SIZE = 1 << 18
_PICTURE = STAGING + _ROWS_SIZE
_PICTURE_SIZE = STAGING_SIZE - _ROWS_SIZE


@kernel(
    source=I64, pitch=I64, target=I64, right=I32, down=I64, width=I32, height=I32,
    red=I32, green=I32, blue=I32, red_bits=I32, green_bits=I32, blue_bits=I32,
)  # fmt: skip
def show_rows(
    k: Lang, source: Value, pitch: Value, target: Value, right: Value, down: Value, width: Value, height: Value,
    red: Value, green: Value, blue: Value, red_bits: Value, green_bits: Value, blue_bits: Value, *, size: int,
) -> None:  # fmt: skip
    """Bytes of red, green and blue of rows of pixels that have `size` bytes, 2 or 4.

    right, down: bytes from a pixel of the picture to the next one of its row, and to the next row. red, green, blue:
    the lowest bits of channels, and how many they have.
    """
    lanes = k.lanes
    wide = lambda n: k.i32(-1).lsr(32 - n)
    channels = ((red, wide(red_bits)), (green, wide(green_bits)), (blue, wide(blue_bits)))
    # Four pixels of three bytes are three words. Each is the end of one pixel and the begin of the next.
    words = [(4 * group + n, n) for group in range(lanes // 4) for n in range(3)]
    ends, begins = [at for at, _ in words], [at + 1 for at, _ in words]
    drops, lifts = k.pattern_of([8 * n for _, n in words]), k.pattern_of([24 - 8 * n for _, n in words])
    read, write = k.var(source), k.var(target)
    for _ in k.range(0, height):
        start, line = read.value, write.value
        for first in k.range(0, width, lanes):
            pixels = k.load(unit_of(size), k.to_i64(first) * size + start, lanes)
            codes = [pixels.lsr(low) & mask for low, mask in channels]
            if size == 2:
                codes = [
                    k.to_i32(k.to_f32(code) / k.to_f32(mask) * 255.0 + 0.5, 0, 255)
                    for code, (_, mask) in zip(codes, channels, strict=True)
                ]
            packed = (first + lanes <= width) & (right == _RGB)
            for _ in k.when(packed):
                three = codes[0] | (codes[1] << 8) | (codes[2] << 16)
                both = k.shuffle(three, ends).lsr(drops) | (k.shuffle(three, begins) << lifts)
                k.store(I32, k.to_i64(first) * _RGB + line, both)
            for _ in k.when(~packed):
                column = k.iota() + first
                at = k.to_i64(column * right) + line
                for n, code in enumerate(codes):
                    k.scatter(U8, at + n, code, column < width)
        read.value = start + pitch
        write.value = line + down


def _channels(layout: PixelLayout) -> Sequence[int]:
    """The lowest bits of red, green and blue, and how many they have."""
    parts = [next(part for part in layout.components if part.name == name) for name in "RGB"]
    return [*(part.lo for part in parts), *(part.width for part in parts)]


def picture_at(memory: GpuMemory, engine: Engine, offset: int, surface: Shown, size: int) -> NDArray[np.uint8]:
    """`present.to_picture` of the `size` bytes of a surface at an arena offset."""
    layout = Layout(surface.stride, surface.height, block_height_log2=surface.block_height_log2)
    needed = layout.size if surface.block_linear else surface.stride * (surface.height - 1) + surface.row
    if engine.evaluator == "numpy" or needed > size or offset + needed > memory.guest_end:
        return to_picture(memory.arena[offset : offset + size].tobytes(), surface)
    skipped = surface.left * shown_layout(surface.format).bytes
    width = surface.row - skipped
    if not surface.block_linear:
        return _picture(memory, engine, surface, lambda y, n: (offset + y * surface.stride + skipped, surface.stride))

    def tiled(y: int, lines: int) -> tuple[int, int]:
        slice_to_rows(engine, layout, offset, skipped, y, width, lines, STAGING)
        return STAGING, width

    return _picture(memory, engine, surface, tiled)


def picture_of(memory: GpuMemory, engine: Engine, gpu_va: int, surface: Shown, size: int) -> NDArray[np.uint8]:
    """The same of a surface at a GPU address; bytes that are not mapped are zero."""
    offset = memory.offset_of(gpu_va, size)
    if offset is not None:
        return picture_at(memory, engine, offset, surface, size)
    if engine.evaluator == "numpy":
        return to_picture(memory.try_read(gpu_va, size)[0], surface)
    skipped = surface.left * shown_layout(surface.format).bytes
    width, side = surface.row - skipped, SurfaceSide(gpu_va, pitch=surface.stride)
    if surface.block_linear:
        layout = Layout(surface.stride, surface.height, block_height_log2=surface.block_height_log2)
        side = SurfaceSide(gpu_va, layout=layout)

    def anywhere(y: int, lines: int) -> tuple[int, int]:
        to_rows(memory, engine, side.moved(skipped, y), width, lines, STAGING, width)
        return STAGING, width

    return _picture(memory, engine, surface, anywhere)


def _picture(memory: GpuMemory, engine: Engine, surface: Shown, bring: Rows) -> NDArray[np.uint8]:
    """The picture of rows of pixels; `bring` gets rows of the surface, and leaves out the columns before `left`."""
    layout = shown_layout(surface.format)
    width, height = surface.width - surface.left, surface.height - surface.top
    mirrored, turned = bool(surface.transform & FLIP_X), bool(surface.transform & TURN)
    upwards = bool(surface.transform & FLIP_Y)
    picture = np.empty((width, height, _RGB) if turned else (height, width, _RGB), np.uint8)
    run, channels = engine.get(show_rows, size=layout.bytes), _channels(layout)
    most = max(1, min(_ROWS_SIZE // (width * layout.bytes), _PICTURE_SIZE // (width * _RGB)))
    step = most & -GOB_HEIGHT or most
    y = 0
    while y < height:
        # A piece ends where a row of GOBs of the surface does.
        lines = min(step - (surface.top + y) % GOB_HEIGHT if step >= GOB_HEIGHT else step, height - y)
        source, pitch = bring(surface.top + y, lines)
        right, down = (_RGB * lines, -_RGB) if turned else (_RGB, _RGB * width)
        start = _PICTURE + (lines - 1) * _RGB * turned
        if mirrored:
            start, right = start + (width - 1) * right, -right
        if upwards:
            start, down = start + (lines - 1) * down, -down
        run(source, pitch, start, right, down, width, lines, *channels)
        made = memory.arena[_PICTURE : _PICTURE + width * lines * _RGB]
        at = height - y - lines if upwards != turned else y
        if turned:
            picture[:, at : at + lines] = made.reshape(width, lines, _RGB)
        else:
            picture[at : at + lines] = made.reshape(lines, width, _RGB)
        y += lines
    return picture


__all__ = ["picture_at", "picture_of", "show_rows"]
