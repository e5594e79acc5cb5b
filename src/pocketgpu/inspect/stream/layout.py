"""Where things are among the rows of a stream: segments, places, words of macros. It is made once, in slices, and is
small: it has numbers for segments, draws and uniforms, not for every row."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode import select
from pocketgpu.inspect.decode.names import named
from pocketgpu.inspect.decode.rows import (
    ADDRESS,
    BLOCKS,
    CHANGED,
    DATA,
    EFFECTS,
    GARBAGE,
    GX_BLOCK,
    ISSUED,
    NOT_REACHED,
    PADDING,
    Rows,
)
from pocketgpu.inspect.decode.stream import Stream
from pocketgpu.inspect.decode.uniforms import UniformsAt

SLICE: Final = 1 << 16
"""Rows of one step: some milliseconds."""
CODES: Final = len(BLOCKS) << 16
"""How many codes there are: see `codes_of`."""
_NAMELESS = (PADDING, NOT_REACHED, GARBAGE, ADDRESS)
_NAMELESS_CODE: Final = (len(BLOCKS) << 16) - 1
_COMMAND_SHIFT: Final = 8
_NOT_INHERITED: Final = CHANGED | DATA | EFFECTS["ignored"]
"""Effects that do not count for the word that called a macro (as in `maxwell_kernel`)."""


def codes_of(rows: Rows) -> NDArray[np.int32]:
    """A number for each row that tells which register it is about: its block and id, and of a word of a GX command the
    command. The last code is that of words that are about none."""
    ids = rows["id"].astype(np.int32)
    blocks = rows["block"].astype(np.int32)
    commands = blocks == GX_BLOCK
    if commands.any():
        ids = np.where(commands, ids & 0xFF | rows["subchannel"].astype(np.int32) << _COMMAND_SHIFT, ids)
    codes = blocks << 16 | ids
    return np.where(np.isin(rows["what"], _NAMELESS), np.int32(_NAMELESS_CODE), codes)


def parts_of(code: int) -> tuple[int, int, int]:
    """Block, id and GX command of a code, as `names.named` takes them."""
    block, id = code >> 16, code & 0xFFFF
    return (block, id & 0xFF, id >> _COMMAND_SHIFT) if block == GX_BLOCK else (block, id, 0)


class StreamLayout:
    """The layout of rows. stream: what they were made of. They are in the order of its segments."""

    def __init__(self, rows: Rows, stream: Stream) -> None:
        self.rows, self.stream = rows, stream
        self.uniforms = UniformsAt(rows)
        self.codes: NDArray[np.int64] = np.zeros(0, np.int64)
        """The codes that some row has."""
        self.issued: NDArray[np.int64] = np.zeros(0, np.int64)
        """Rows that are no words: methods that macros issue."""
        self._keys: NDArray[np.int64] = np.zeros(0, np.int64)
        self._starts: NDArray[np.int64] = np.zeros(0, np.int64)
        self.segments: NDArray[np.int64] = np.zeros(0, np.int64)
        """For each segment its first row, and at the end the number of rows."""

    def making(self) -> InSteps[StreamLayout]:
        """Look at all rows, a slice in each step."""
        rows, count = self.rows, len(self.rows)
        present = np.zeros(CODES, np.bool_)
        segments = np.full(len(self.stream.table) + 1, count, np.int64)
        keys, starts, issued = [], [], []
        last_key = last_segment = -1
        for first in range(0, count, SLICE):
            some = rows[first : first + SLICE]
            present[codes_of(some)] = True
            key = select.keys_of(some, self.stream.frame_count)
            begins = np.flatnonzero(np.diff(key, prepend=last_key))
            keys.append(key[begins])
            starts.append(first + begins)
            own = some["segment"].astype(np.int64)
            begins = np.flatnonzero(np.diff(own, prepend=last_segment))
            for at, number in zip(begins.tolist(), own[begins].tolist(), strict=True):
                segments[last_segment + 1 : number + 1] = first + at  # segments without words begin there, too
                last_segment = number
            last_key = int(key[-1])
            issued.append(first + np.flatnonzero(some["what"] == ISSUED))
            self.uniforms.note(first, first + len(some))
            yield
        self.uniforms.settle()
        present[_NAMELESS_CODE] = False
        self.codes, self.segments = np.flatnonzero(present), segments
        if keys:
            self._keys, self._starts = np.concatenate(keys), np.concatenate(starts)
            self.issued = np.concatenate(issued)
        self._inherit()
        return self

    def _inherit(self) -> None:
        """Effects of what a macro issues also count for the word that called it."""
        if not len(self.issued):
            return
        begins = np.flatnonzero(np.diff(self.issued, prepend=-2) > 1)
        effects = np.bitwise_or.reduceat(self.rows["effect"][self.issued] & np.uint16(0xFFFF ^ _NOT_INHERITED), begins)
        callers = self.issued[begins] - 1
        known = callers >= 0
        self.rows["effect"][callers[known]] |= effects[known]

    def of_keys(self, low: int, high: int) -> tuple[int, int]:
        """The rows whose keys (`select.keys_of`) are from `low` to `high`."""
        first, end = np.searchsorted(self._keys, low), np.searchsorted(self._keys, high, "right")
        return self._row_of_run(int(first)), self._row_of_run(int(end))

    def _row_of_run(self, run: int) -> int:
        return int(self._starts[run]) if run < len(self._starts) else len(self.rows)

    def place_of(self, row: int) -> tuple[int, int]:
        """The frame of a row, and the draw that it belongs to; `select.LAST` after the last draw."""
        key = int(self._keys[int(np.searchsorted(self._starts, row, "right")) - 1])
        return select.split_key(key)

    def draws_of(self, frame: int) -> dict[int, tuple[int, int]]:
        """The rows of each draw of a frame."""
        low, high = np.searchsorted(self._keys, [frame << 32, frame << 32 | select.LAST])
        return {
            select.split_key(int(self._keys[run]))[1]: (self._row_of_run(run), self._row_of_run(run + 1))
            for run in range(int(low), int(high))
        }

    def own_words(self, first: int, end: int) -> int:
        """How many rows from `first` up to `end` are words of the stream."""
        low, high = np.searchsorted(self.issued, [first, end])
        return end - first - int(high - low)

    def row_of_word(self, first: int, line: int) -> int:
        """The row of the word number `line` after a row."""
        row = first + line
        while (missing := line + 1 - self.own_words(first, row + 1)) > 0 and row < len(self.rows) - 1:
            row = min(row + missing, len(self.rows) - 1)
        return row

    def name_of(self, code: int) -> str:
        """Id and name of a register, as they are shown."""
        register = named(*parts_of(code))
        return f"{register.id} {register.name}"


__all__ = ["CODES", "SLICE", "StreamLayout", "codes_of", "parts_of"]
