"""Copies between surfaces of any layout, and between surfaces and arrays, at the speed of memory.

Nearly always a surface is contiguous in the arena; then kernels move GOBs with plain vector loads and stores, 16 bytes
at a time, because so many bytes of a row are adjacent. Two block-linear surfaces are copied through a small staging
area, which stays in the second-level cache. Where a surface is in several pieces, or has holes, a slower kernel looks
up every address: unmapped bytes read as zero, and writes to them are lost.

Source: `blocklinear.py` for the layout. Copies go in ascending order of rows; the result of a copy onto itself is not
documented.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SIZE, Bytes
from pocketgpu.errors import UsageError
from pocketgpu.lanes import I32, I64, U8, Engine, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.blocklinear import GOB_HEIGHT, GOB_SIZE, GOB_WIDTH, Layout
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.memory.page_table import STAGING, STAGING_SIZE

_CACHE_LINE = 64
_AHEAD = 2
"""How many GOBs ahead their bytes are asked for."""
_UNIT = 16  # adjacent bytes of a row in a GOB
_MAX_PIECE = 64 * 1024  # bytes of a row in the staging area
_LINE = 64  # bytes that a copy of plain rows moves at a time
MAX_WIDTH = 1 << 30
"""The limit for the bytes of a row, and for the rows of a copy."""


@dataclass(frozen=True, slots=True)
class SurfaceSide:
    """One side of a copy: where its first byte is.

    address: GPU address of the surface. x (bytes), y (rows), z (slices): start of the rectangle in it. pitch: bytes
    from a row to the next (can be negative), if there is no `layout`; with one the surface is block-linear.
    """

    address: int
    x: int = 0
    y: int = 0
    z: int = 0
    pitch: int = 0
    layout: Layout | None = None

    def reach(self, width_bytes: int, lines: int) -> tuple[int, int]:
        """The range of addresses [low, high) of a rectangle; for a block-linear surface, of whole blocks."""
        if self.layout is not None:
            low, high = self.layout.reach(self.x, self.y, self.z, width_bytes, lines)
            return self.address + low, self.address + high
        first = self.address + self.y * self.pitch + self.x
        last = first + (lines - 1) * self.pitch
        return min(first, last), max(first, last) + width_bytes

    def moved(self, x: int, y: int) -> SurfaceSide:
        """The same surface, with its start moved `x` bytes to the right and `y` rows down."""
        return replace(self, x=self.x + x, y=self.y + y)


# Kernels


def _copy_row(k: Lang, source: Value, target: Value, width: Value, step: int) -> None:
    """Copy `width` bytes (i32) between arena offsets, `step` at a time."""
    whole = width & -step
    for at in k.range(0, whole, step):
        far = k.to_i64(at)
        k.store(U8, target + far, k.load(U8, source + far, step))
    for at in k.range(whole, width):
        far = k.to_i64(at)
        k.store(U8, target + far, k.load(U8, source + far))


@kernel(1, source=I64, source_pitch=I64, target=I64, target_pitch=I64, width=I32, lines=I32)
def copy_lines(
    k: Lang, source: Value, source_pitch: Value, target: Value, target_pitch: Value, width: Value, lines: Value
) -> None:
    """Copy rows of `width` bytes between arena offsets."""
    read, write = k.var(source), k.var(target)
    for _ in k.range(0, lines):
        _copy_row(k, read.value, write.value, width, _LINE)
        read.value = read.value + source_pitch
        write.value = write.value + target_pitch


@kernel(
    1, linear=I64, pitch=I64, base=I64, row_size=I64, block_size=I64, block_height=I32,
    x=I32, y=I32, width=I32, lines=I32,
)  # fmt: skip
def copy_gobs(
    k: Lang, linear: Value, pitch: Value, base: Value, row_size: Value, block_size: Value, block_height: Value,
    x: Value, y: Value, width: Value, lines: Value, *, to_linear: bool,
) -> None:  # fmt: skip
    """Copy a rectangle between rows at arena offset `linear` and a block-linear surface (a slice begins at `base`).

    x, y: start of the rectangle in the surface. block_height: log2.
    """

    def move(row: Value, piece: Value, count: int) -> None:
        source, target = (piece, row) if to_linear else (row, piece)
        k.store(U8, target, k.load(U8, source, count))

    end, mask = x + width, (k.i32(1) << block_height) - 1
    for gob_y in k.range(y >> 3, ((y + lines - 1) >> 3) + 1):
        start = k.to_i64(gob_y >> block_height) * row_size + k.to_i64(gob_y & mask) * GOB_SIZE + base
        top = (gob_y << 3) - y  # rows before the rectangle are negative
        low, high = k.max(-top, 0), k.min(lines - top, GOB_HEIGHT)
        all_rows = (low == 0) & (high == GOB_HEIGHT)
        for column in k.range(x >> 6, ((end - 1) >> 6) + 1):
            gob = k.to_i64(column) * block_size + start
            left = (column << 6) - x
            corner = k.to_i64(top) * pitch + k.to_i64(left) + linear
            whole = all_rows & (left >= 0) & (left + GOB_WIDTH <= width)
            for _ in k.when(whole):
                # GOBs of a row are far apart, so the processor does not expect them by itself.
                for line in range(0, GOB_SIZE, _CACHE_LINE):
                    k.prefetch(gob + block_size * _AHEAD + line)
                for line in range(GOB_HEIGHT):
                    for unit in range(0, GOB_WIDTH, _UNIT):
                        place = (unit & 32) << 3 | (line & 6) << 5 | (unit & 16) << 1 | (line & 1) << 4
                        move(corner + pitch * line + unit, gob + place, _UNIT)
            for _ in k.when(~whole):
                for row in k.range(low, high):
                    start_of_row = k.to_i64(row) * pitch + corner
                    at = gob + k.to_i64(((row & 6) << 5) | ((row & 1) << 4))
                    for unit in range(0, GOB_WIDTH, _UNIT):
                        piece = at + ((unit & 32) << 3 | (unit & 16) << 1)
                        first, last = k.max(-left - unit, 0), k.min(width - left - unit, _UNIT)
                        full = (first == 0) & (last == _UNIT)
                        for _ in k.when(full):
                            move(start_of_row + unit, piece, _UNIT)
                        for _ in k.when(~full):
                            for byte in k.range(first, last):
                                far = k.to_i64(byte)
                                move(start_of_row + unit + far, piece + far, 1)


_SIDE = {"address": I64, "row_size": I64, "block_size": I64, "block_height": I32, "x": I32, "y": I32}
_SIDES = {f"{side}_{name}": type for side in ("source", "target") for name, type in _SIDE.items()}


@kernel(1, width=I32, lines=I32, **_SIDES)
def copy_anywhere(
    k: Lang, width: Value, lines: Value, *sides: Value, source_kind: str, target_kind: str
) -> None:  # fmt: skip
    """Copy a rectangle, looking up every GPU address. Stamps the pages that it writes, counts unmapped bytes.

    Kinds of sides are "tiled", "pitch" (`row_size` is the pitch), and "host" for rows at an arena offset.
    """

    def place(side: tuple[Value, ...], kind: str, column: Value, row: Value) -> Value:
        """The address of a byte of the rectangle."""
        address, row_size, block_size, block_height, x, y = side
        x, y = x + column, y + row
        if kind != "tiled":
            return k.to_i64(y) * row_size + k.to_i64(x) + address
        gob = y >> 3
        at = k.to_i64(gob >> block_height) * row_size + k.to_i64(x >> 6) * block_size + address
        at = at + k.to_i64(gob & ((k.i32(1) << block_height) - 1)) * GOB_SIZE
        inside = ((x & 32) << 3) | ((y & 6) << 5) | ((x & 16) << 1) | ((y & 1) << 4) | (x & 15)
        return at + k.to_i64(inside)

    both = ((sides[: len(_SIDE)], source_kind), (sides[len(_SIDE) :], target_kind))
    done = k.var(0)
    for row in k.range(0, lines):
        done.value = 0
        for _ in k.loop(lambda: done.value < width):
            column = done.value
            count = k.min(width - column, _UNIT)
            places = []
            for side, kind in both:
                at = place(side, kind, column, row)
                if kind == "tiled":
                    count = k.min(count, _UNIT - ((side[-2] + column) & (_UNIT - 1)))
                if kind != "host":
                    count = k.min(count, PAGE_SIZE - (k.low32(at) & (PAGE_SIZE - 1)))
                places.append((at, at == at) if kind == "host" else (at, None))
            (read, there), (write, mapped) = (
                (at, known) if known is not None else page_table.translate(k, at) for at, known in places
            )
            for _ in k.when(~(there & mapped)):
                page_table.miss(k, count)
            for _ in k.when(mapped):
                if target_kind != "host":
                    page_table.stamp(k, write)
                for _ in k.when(count == _UNIT):
                    k.store(U8, write, k.load(U8, read, _UNIT))
                for _ in k.when(count != _UNIT):
                    for byte in k.range(0, count):
                        far = k.to_i64(byte)
                        k.store(U8, write + far, k.load(U8, read + far))
            done.value = column + count


# Copies


def copy_rect(
    memory: GpuMemory, engine: Engine, source: SurfaceSide, target: SurfaceSide, width_bytes: int, lines: int = 1
) -> int:
    """Copy `lines` rows of `width_bytes` bytes; returns how many bytes are lost because an end is not mapped.

    Positions beyond a surface follow the address formula, as in the chip. The caller limits how much a guest may copy.

    :raises UsageError: a size or position does not fit 30 bits, or a block-linear position is negative.
    """
    for side in (source, target):
        _check(side, width_bytes, lines)
    if not width_bytes or not lines:
        return 0
    read, write = (_in_one_piece(memory, side, width_bytes, lines) for side in (source, target))
    # Rows that overlap in the target must be copied in order, and kernels that move GOBs use another order.
    tangled = target.layout is None and source.layout is not None and lines > 1 and abs(target.pitch) < width_bytes
    if read is None or write is None or tangled:
        return _copy_anywhere(memory, engine, source, target, width_bytes, lines)
    if source.layout is None and target.layout is None:
        if lines == 1 and abs(read - write) >= width_bytes:
            memory.arena[write : write + width_bytes] = memory.arena[read : read + width_bytes]
        else:
            engine.get(copy_lines)(read, source.pitch, write, target.pitch, width_bytes, lines)
    elif target.layout is None:
        _gobs(engine, True, source, read, write, target.pitch, width_bytes, lines)
    elif source.layout is None:
        _gobs(engine, False, target, write, read, source.pitch, width_bytes, lines)
    else:
        for x, y, wide, tall in _pieces(width_bytes, lines, target.y):
            _gobs(engine, True, source.moved(x, y), read, STAGING, wide, wide, tall)
            _gobs(engine, False, target.moved(x, y), write, STAGING, wide, wide, tall)
    _touch(memory, target, width_bytes, lines)
    return 0


def to_array(memory: GpuMemory, engine: Engine, side: SurfaceSide, width_bytes: int, lines: int) -> tuple[Bytes, int]:
    """The rectangle as uint8 of shape (lines, width_bytes), zero where nothing is mapped, and the number of unmapped
    bytes.

    :raises UsageError: as `copy_rect`.
    """
    _check(side, width_bytes, lines)
    rows = np.empty((lines, width_bytes), np.uint8)
    missed = 0
    for x, y, wide, tall in _pieces(width_bytes, lines, side.y):
        missed += _through_staging(memory, engine, side.moved(x, y), wide, tall, reading=True)
        rows[y : y + tall, x : x + wide] = _staged(memory, wide, tall)
    return rows, missed


def rows_at(memory: GpuMemory, side: SurfaceSide, width_bytes: int, lines: int) -> int | None:
    """Arena offset of the first byte of a rectangle whose rows already lie `side.pitch` bytes apart in the arena; None
    if they do not."""
    _check(side, width_bytes, lines)
    return _in_one_piece(memory, side, width_bytes, lines) if side.layout is None else None


def to_rows(
    memory: GpuMemory, engine: Engine, side: SurfaceSide, width_bytes: int, lines: int, target: int, pitch: int
) -> int:
    """Copy the rectangle to rows at arena offset `target`, `pitch` bytes apart, which are not guest memory; returns how
    many bytes are not mapped (they become zero).

    :raises UsageError: as `copy_rect`.
    """
    _check(side, width_bytes, lines)
    offset = _in_one_piece(memory, side, width_bytes, lines)
    if offset is None:
        return _copy_anywhere(memory, engine, side, None, width_bytes, lines, (target, pitch))
    if side.layout is not None:
        _gobs(engine, True, side, offset, target, pitch, width_bytes, lines)
    else:
        engine.get(copy_lines)(offset, side.pitch, target, pitch, width_bytes, lines)
    return 0


def in_one_piece(memory: GpuMemory, side: SurfaceSide, width_bytes: int, lines: int) -> bool:
    """Whether all bytes of a rectangle are contiguous in the arena; then parts of it may be copied at the same time."""
    return _in_one_piece(memory, side, width_bytes, lines) is not None


def slice_to_rows(
    engine: Engine, layout: Layout, base: int, x: int, y: int, width_bytes: int, lines: int, target: int
) -> None:
    """The same for the first slice of a block-linear surface at arena offset `base`, mapped or not; its rows at
    `target` have no gaps. The caller checks the rectangle."""
    side = SurfaceSide(0, x, y, layout=layout)
    _gobs(engine, True, side, base, target, width_bytes, width_bytes, lines)


def from_array(memory: GpuMemory, engine: Engine, side: SurfaceSide, rows: NDArray[np.uint8]) -> int:
    """Store rows, uint8 of shape (lines, width_bytes), in a surface; returns how many bytes are lost in holes.

    :raises UsageError: the array has another type or shape, or as `copy_rect`.
    """
    if rows.ndim != 2 or rows.dtype != np.uint8:
        raise UsageError(f"rows are uint8 of shape (lines, width_bytes), not {rows.dtype} of shape {rows.shape}")
    lines, width_bytes = rows.shape
    _check(side, width_bytes, lines)
    missed = 0
    for x, y, wide, tall in _pieces(width_bytes, lines, side.y):
        _staged(memory, wide, tall)[:] = rows[y : y + tall, x : x + wide]
        missed += _through_staging(memory, engine, side.moved(x, y), wide, tall, reading=False)
    return missed


def _check(side: SurfaceSide, width_bytes: int, lines: int) -> None:
    if not (0 <= width_bytes <= MAX_WIDTH and 0 <= lines <= MAX_WIDTH):
        raise UsageError(f"no copy has {lines} rows of {width_bytes} bytes")
    if not (-MAX_WIDTH < side.x < MAX_WIDTH and -MAX_WIDTH < side.y < MAX_WIDTH):
        raise UsageError(f"no surface has a byte at ({side.x}, {side.y})")
    if side.layout is not None and min(side.x, side.y, side.z) < 0:
        raise UsageError(f"a block-linear surface has nothing at ({side.x}, {side.y}, {side.z})")


def _in_one_piece(memory: GpuMemory, side: SurfaceSide, width_bytes: int, lines: int) -> int | None:
    """Arena offset of the surface (pitch: of the rectangle's first byte) if all accessed bytes are contiguous there."""
    low, high = side.reach(width_bytes, lines)
    offset = memory.offset_of(low, high - low)
    if offset is None:
        return None
    first = side.address if side.layout is not None else side.address + side.y * side.pitch + side.x
    return offset + first - low


def _gobs(
    engine: Engine,
    to_linear: bool,
    tiled: SurfaceSide,
    base: int,
    linear: int,
    pitch: int,
    width_bytes: int,
    lines: int,
) -> None:
    layout = tiled.layout
    assert layout is not None
    engine.get(copy_gobs, to_linear=to_linear)(
        linear, pitch, base + layout.start_of(tiled.z), layout.row_size, layout.block_size, layout.block_height_log2,
        tiled.x, tiled.y, width_bytes, lines,
    )  # fmt: skip


def _copy_anywhere(
    memory: GpuMemory,
    engine: Engine,
    source: SurfaceSide | None,
    target: SurfaceSide | None,
    width_bytes: int,
    lines: int,
    host: tuple[int, int] | None = None,
) -> int:
    """The slow copy; None is the staging area, or `host`: rows at an arena offset, so many bytes apart."""
    rows, pitch = (STAGING, width_bytes) if host is None else host
    memory.open_version()
    memory.take_missed()
    arguments: list[int] = []
    kinds: list[str] = []
    for side in (source, target):
        if side is None:
            kinds.append("host")
            arguments += [rows, pitch, 0, 0, 0, 0]
        elif side.layout is None:
            kinds.append("pitch")
            arguments += [side.address, side.pitch, 0, 0, side.x, side.y]
        else:
            kinds.append("tiled")
            layout = side.layout
            start = side.address + layout.start_of(side.z)
            arguments += [start, layout.row_size, layout.block_size, layout.block_height_log2, side.x, side.y]
    engine.get(copy_anywhere, source_kind=kinds[0], target_kind=kinds[1])(width_bytes, lines, *arguments)
    return memory.take_missed()


def _through_staging(
    memory: GpuMemory, engine: Engine, side: SurfaceSide, width_bytes: int, lines: int, reading: bool
) -> int:
    """Copy a piece to the staging area (reading) or from it; returns how many bytes are not mapped."""
    offset = _in_one_piece(memory, side, width_bytes, lines)
    if offset is None:
        source, target = (side, None) if reading else (None, side)
        return _copy_anywhere(memory, engine, source, target, width_bytes, lines)
    if side.layout is not None:
        _gobs(engine, reading, side, offset, STAGING, width_bytes, width_bytes, lines)
    elif reading:
        engine.get(copy_lines)(offset, side.pitch, STAGING, width_bytes, width_bytes, lines)
    else:
        engine.get(copy_lines)(STAGING, width_bytes, offset, side.pitch, width_bytes, lines)
    if not reading:
        _touch(memory, side, width_bytes, lines)
    return 0


def _touch(memory: GpuMemory, side: SurfaceSide, width_bytes: int, lines: int) -> None:
    low, high = side.reach(width_bytes, lines)
    memory.touch_spans(low, high - low)


def _staged(memory: GpuMemory, width_bytes: int, lines: int) -> Bytes:
    """The staging area as rows."""
    return memory.arena[STAGING : STAGING + width_bytes * lines].reshape(lines, width_bytes)


def _pieces(width_bytes: int, lines: int, y: int) -> Iterator[tuple[int, int, int, int]]:
    """Cut a rectangle into pieces (x, y, width, lines) that fit the staging area, whole rows of GOBs if possible."""
    for x in range(0, width_bytes, _MAX_PIECE):
        wide = min(width_bytes - x, _MAX_PIECE)
        tall = STAGING_SIZE // wide
        if tall >= GOB_HEIGHT:
            tall &= -GOB_HEIGHT
        at = 0
        while at < lines:
            # The first piece ends where a row of GOBs ends.
            stop = min(lines, at + tall - ((y + at) % GOB_HEIGHT if tall >= GOB_HEIGHT else 0))
            yield x, at, wide, stop - at
            at = stop
