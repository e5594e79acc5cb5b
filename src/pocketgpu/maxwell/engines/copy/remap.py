"""Remapping copies: each component of the target is a component of the source, a constant, or unchanged.

The kernel has no layouts. For each unit (a component, or its bytes where it has three or is unaligned) there is a table
of columns for the source and one for the target; each side has a table of rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import I32, I64, Lang, Value, kernel
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.base import EngineHost
from pocketgpu.maxwell.engines.common.slices import Plane
from pocketgpu.maxwell.engines.common.windows import Scratch, Window
from pocketgpu.maxwell.formats.words import UNITS, load, store

_COLUMNS = 8192  # elements of a line in one call, and lines
_ROWS = 8192
_LANES = 64  # tables are padded to the largest number of lanes of any evaluator

Move = tuple[int, int | None]
"""Unit of the target, and unit of the source or None for a constant."""


@kernel(source=I64, target=I64, tables=I64, columns=I32, rows=I32)
def remap_rows(
    k: Lang, source: Value, target: Value, tables: Value, columns: Value, rows: Value, *, unit: int,
    moves: tuple[Move, ...],
) -> None:  # fmt: skip
    """Move units of `columns` elements in each of `rows` lines.

    tables: for each move a constant (padded to 64 bytes for all of them), then _ROWS offsets of source and target
    lines, then _COLUMNS + _LANES offsets for each move: of the source unit and of the target unit.
    """
    lines, first = tables + 64, tables + 64 + 8 * _ROWS
    width = 4 * (_COLUMNS + _LANES)
    for row in k.range(0, rows):
        at = k.to_i64(row << 2) + lines
        read = k.to_i64(k.load(I32, at)) + source
        write = k.to_i64(k.load(I32, at + 4 * _ROWS)) + target
        for start in k.range(0, columns, k.lanes):
            mask = k.iota() + start < columns
            column = k.to_i64(start << 2) + first
            values: list[Value] = []
            for i, (_, of) in enumerate(moves):
                if of is None:
                    values.append(k.splat(k.load(I32, tables + 4 * i)))
                else:
                    places = k.to_i64(k.load(I32, column + 2 * i * width, k.lanes))
                    values.append(load(k, unit, places + read, mask)[0])
            for i, value in enumerate(values):
                places = k.to_i64(k.load(I32, column + (2 * i + 1) * width, k.lanes))
                store(k, unit, places + write, (value,), mask)


Part = tuple[int, int, int | None]
"""Bits of the target's component, its width, and bits of the source's, or None for a constant."""


@kernel(source=I64, target=I64, tables=I64, columns=I32, rows=I32)
def remap_words(
    k: Lang, source: Value, target: Value, tables: Value, columns: Value, rows: Value, *, read: int, write: int,
    parts: tuple[Part, ...],
) -> None:  # fmt: skip
    """`remap_rows` for elements of 1, 2 or 4 bytes (`read` and `write`), which are decoded in a register. tables: as in
    `remap_rows`, for a single move."""
    lines, first = tables + 64, tables + 64 + 8 * _ROWS
    written = sum(((1 << width) - 1) << lo for lo, width, _ in parts)
    for row in k.range(0, rows):
        at = k.to_i64(row << 2) + lines
        from_line = k.to_i64(k.load(I32, at)) + source
        to_line = k.to_i64(k.load(I32, at + 4 * _ROWS)) + target
        for start in k.range(0, columns, k.lanes):
            mask = k.iota() + start < columns
            column = k.to_i64(start << 2) + first
            (word,) = load(k, read, k.to_i64(k.load(I32, column, k.lanes)) + from_line, mask)
            place = k.to_i64(k.load(I32, column + 4 * (_COLUMNS + _LANES), k.lanes)) + to_line
            # The first word of the tables holds all constants.
            out = k.splat(k.load(I32, tables))
            for lo, width, of in parts:
                if of is not None:
                    out = out | (word.bits(of, width) << lo)
            if written != (1 << 8 * write) - 1:
                out = out | (load(k, write, place, mask)[0] & ~written)
            store(k, write, place, (out,), mask)


@dataclass(frozen=True)
class Side:
    """One side of a remapping copy: a plane, the start of the rectangle (bytes, lines), and bytes of an element."""

    plane: Plane
    x: int
    y: int
    element: int


@dataclass(frozen=True)
class Remap:
    """The mapping of components of `size` bytes each. components: for each of the target a source component, or None
    with its constant, or absent."""

    size: int
    components: tuple[tuple[int, int | None, int], ...]

    def units(self, aligned: bool) -> tuple[int, tuple[Move, ...], list[int]]:
        """(bytes of a unit, moves, the constant of each move)."""
        if aligned and self.size in UNITS:
            moves = tuple((to, of) for to, of, _ in self.components)
            return self.size, moves, [value for _, _, value in self.components]
        parts = [
            ((to * self.size + b, None if of is None else of * self.size + b), value >> 8 * b & 0xFF)
            for to, of, value in self.components
            for b in range(self.size)
        ]
        return 1, tuple(move for move, _ in parts), [value for _, value in parts]

    def parts(self) -> tuple[tuple[Part, ...], int]:
        """The components as bit fields of a word, and a word with the constants in their positions."""
        bits = 8 * self.size
        constants = sum(value << bits * to for to, of, value in self.components if of is None)
        return tuple((bits * to, bits, None if of is None else bits * of) for to, of, _ in self.components), constants


def run(host: EngineHost, source: Side, target: Side, remap: Remap, columns: int, rows: int) -> None:
    """Copy `columns` elements in each of `rows` lines. Unmapped bytes are an event, and the rest is left out."""
    step = remap.size if remap.size in UNITS else 1
    low_bits = source.plane.va | source.plane.pitch | target.plane.va | target.plane.pitch
    reads = any(of is not None for _, of, _ in remap.components)
    words = source.element in UNITS and target.element in UNITS and reads
    if words and not low_bits & (max(source.element, target.element) - 1):
        parts, constant = remap.parts()
        moves: tuple[Move, ...] = ((0, 0),)
        constants, units = [constant], (source.element, target.element)
        code = host.engine.get(remap_words, read=source.element, write=target.element, parts=parts)
    else:
        unit, moves, constants = remap.units(not low_bits & (step - 1))
        units = (unit, unit)
        code = host.engine.get(remap_rows, unit=unit, moves=moves)
    for row in range(0, rows, _ROWS):
        for column in range(0, columns, _COLUMNS):
            wide, tall = min(columns - column, _COLUMNS), min(rows - row, _ROWS)
            scratch = Scratch(host)
            tables = np.zeros(16 + 2 * _ROWS + 2 * len(moves) * (_COLUMNS + _LANES), np.int32)
            tables[: len(moves)] = np.array(constants, np.uint32).view(np.int32)
            columns_at = tables[16 + 2 * _ROWS :].reshape(len(moves), 2, -1)
            windows: list[Window | None] = []
            for i, side in enumerate((source, target)):
                if i == 0 and not reads:
                    windows.append(None)
                    continue
                places = _columns(side, [move[1 - i] for move in moves], units[i], column, wide)
                lines = side.plane.rows(np.arange(side.y + row, side.y + row + tall, dtype=np.int64))
                low = int(lines.min()) + min(int(p.min()) for p in places if p is not None)
                high = int(lines.max()) + max(int(p.max()) for p in places if p is not None) + units[i]
                window = scratch.open(side.plane.va + low, high - low, "copy")
                if window is None:
                    return
                windows.append(window)
                # Offsets are relative to the least of their part, so that each fits 32 bits.
                base = int(lines.min())
                tables[16 + i * _ROWS :][:tall] = lines - base
                for n, place in enumerate(places):
                    if place is not None:
                        columns_at[n, i, :wide] = place - (low - base)
            at = scratch.put(tables)
            if at is None or windows[1] is None:
                return
            code(windows[0].offset if windows[0] else 0, windows[1].offset, at, wide, tall)
            scratch.close(windows[1])


def _columns(side: Side, units: list[int | None], unit: int, first: int, count: int) -> list[NDArray[np.int64] | None]:
    """Byte offsets of each unit of `count` elements."""
    start = side.x + np.arange(first, first + count, dtype=np.int64) * side.element
    return [None if u is None else side.plane.columns(start + u * unit) for u in units]
