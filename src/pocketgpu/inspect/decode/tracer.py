"""Parts of both consoles' tracers: an arena with words, segments and rows, and the collection of rows."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.in_steps import InSteps
from pocketgpu.inspect.decode.emit import CONTROL, ROW_SIZE, SEGMENT_SIZE
from pocketgpu.inspect.decode.rows import EFFECTS, ROW, Rows
from pocketgpu.inspect.decode.stream import Stream

_PIECE = 1 << 16
_ARENA_LIMIT = 0x7FFFF000
MOST_ROWS = 1 << 26
"""Most rows of one decode, including methods that macros issue: 3.2 GB."""


class TracerArena:
    """Memory of a kernel: a fixed part of `fixed` bytes, then segments, words and marks of one stream.

    :raises UsageError: the stream does not fit.
    """

    def __init__(self, fixed: int, control: int, rows: int, stream: Stream) -> None:
        table, words = len(stream.table) * SEGMENT_SIZE, 4 * len(stream.words)
        drawn = 0 if stream.drawn is None else len(stream.drawn)
        start = (fixed + 63) & ~63
        size = (start + table + words + drawn + 4095) & ~4095
        if size > _ARENA_LIMIT:
            raise UsageError(
                f"{len(stream.words):,} words are too many to decode at once",
                hint="Give a part of the file: --offset and --size.",
            )
        self.bytes = np.zeros(size, np.uint8)
        self._control = self.bytes[control : control + CONTROL.size].view(np.int32)
        self._rows = rows
        self._part(start, table)[:] = stream.table.view(np.uint8).reshape(-1)
        self._part(start + table, words)[:] = stream.words.view(np.uint8)
        self["SEGMENTS"], self["TABLE"], self["WORDS"] = len(stream.table), start, start + table
        self["FRAME"] = -2  # no frame yet, so that the first segment begins one
        self["SERIAL"] = 1
        self["SYNC"] = 1  # the user has chosen where a dump begins, so its first word is taken as a header
        if stream.drawn is not None:
            at = start + table + words
            self._part(at, drawn)[:] = stream.drawn
            self["DRAWN"] = at

    def _part(self, at: int, count: int) -> NDArray[np.uint8]:
        return self.bytes[at : at + count]

    def __getitem__(self, name: str) -> int:
        return int(self._control[getattr(CONTROL, name) // 4])

    def __setitem__(self, name: str, value: int) -> None:
        self._control[getattr(CONTROL, name) // 4] = value

    def collecting(
        self, run: Callable[[], Any], expected: int, full: int, stopped: Callable[[int], bool]
    ) -> InSteps[Rows]:
        """Run a kernel to its end; returns all rows. `stopped` is called with every status except `full`, and returns
        whether to continue. A step is a run of the kernel, which makes at most `emit.ROWS` rows."""
        out = np.empty(expected, ROW)
        count = 0
        going = True
        while going:
            run()
            status, made = self["STATUS"], self["ROW"]
            if count + made > len(out):
                out = np.concatenate((out[:count], np.empty(max(made, len(out)), ROW)))
            out[count : count + made] = self.bytes[self._rows : self._rows + made * ROW_SIZE].view(ROW)
            count += made
            if count > MOST_ROWS:
                raise UsageError(f"more than {MOST_ROWS:,} rows", hint="Decode without the methods that macros issue.")
            self["ROW"] = 0
            self["LAST"] = 0
            going = status == full or stopped(status)
            self["STATUS"] = 0
            yield
        return out[:count]


def finish_draws(rows: Rows, stream: Stream) -> Rows:
    """Give rows after the last draw of their frame the draw -1."""
    frames, segments = stream.table["frame"], rows["segment"]
    draws, effects = rows["draw"], rows["effect"]
    last_segments = [*np.flatnonzero(frames[1:] != frames[:-1]).tolist(), len(frames) - 1]
    start = 0
    for number in last_segments:
        # Rows are in the order of their segments; searching for the end reads fewer of them than comparing all.
        end = bisect_right(range(len(rows)), number, lo=start, key=lambda row: int(segments[row]))
        at, last = end, -1
        while at > start and last < 0:
            piece = slice(max(start, at - _PIECE), at)
            fired = np.flatnonzero(effects[piece] & EFFECTS["draw"])
            last, at = (piece.start + int(fired[-1]) if len(fired) else -1), piece.start
        tail = draws[max(last, start) : end]
        tail[tail > (draws[last] if last >= 0 else -1)] = -1
        start = end
    return rows
