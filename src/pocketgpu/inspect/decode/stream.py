"""The command stream of a capture or dump: words with their addresses, in the order in which they run."""

from __future__ import annotations

from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.inspect.decode.rows import Rows, Words
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

KINDS: Final = ("list", "writes", "gx", "gpfifo", "pushbuffer")
"""Kinds of segments: a command list; pairs of register address and value; GX commands of eight words; a GPFIFO entry of
two words; the words that such an entry names."""
LIST, WRITES, GX, GPFIFO, PUSHBUFFER = range(len(KINDS))

JUMPED, SUBMISSION, ISSUED_WRITES, RECORDED = 1, 2, 4, 8
"""Flags of segments: a list that another one jumps to; the first of a submission; register writes by a GX command; a GX
command of a recording."""

MOST_WORDS, MOST_SEGMENTS = 1 << 25, 1 << 22
"""Most words and segments of a stream: rows take twelve times as much memory as words."""

SEGMENT: Final = np.dtype(
    [
        ("address", "<i8"),
        ("first", "<i4"),
        ("count", "<i4"),
        ("kind", "<i4"),
        ("frame", "<i4"),
        ("list", "<i4"),
        ("flags", "<i4"),
        ("channel", "<i4"),
        ("entry", "<i4"),
    ]
)
"""A segment of words. address: of the first in guest memory, 0 if they are not in memory. first, count: range of
`Stream.words`. list: see `ROW`. channel, entry: on a Switch, index of the channel, and of the entry in its
submission."""


@dataclass
class Stream:
    """Segments in the order in which they run. console: "3DS" or "Switch".

    words: all words. table: a row of `SEGMENT` for each segment. registers: the initial registers, as the tracers take
    them. drawn: for each trigger of a draw, in order, whether the machine drew (None: each does).
    """

    console: str
    words: Words
    table: NDArray[np.void]
    state: object = None
    drawn: NDArray[np.uint8] | None = None
    channels: int = 1
    frame_count: int = 1
    decoded: dict[object, Rows] = field(default_factory=dict, repr=False)
    """Rows of a small stream, by the options of the decode: see `api.decode`."""

    def __repr__(self) -> str:
        parts = (counted(len(self.words), "word"), counted(len(self.table), "segment"))
        return line_of(self, f"{self.console}: {', '.join(parts)}, {counted(self.frame_count, 'frame')}")

    def segment_words(self, number: int) -> Words:
        """The words of a segment."""
        row = self.table[number]
        return self.words[int(row["first"]) : int(row["first"]) + int(row["count"])]


@dataclass
class StreamBuilder:
    """Builds a stream segment by segment."""

    console: str
    parts: list[Words] = field(default_factory=list)
    segments: list[tuple[int, ...]] = field(default_factory=list)
    length: int = 0

    def add(
        self,
        kind: int,
        words: Words,
        frame: int,
        list_: int,
        address: int = 0,
        flags: int = 0,
        channel: int = 0,
        entry: int = 0,
    ) -> None:
        """Add a segment; its words are copied.

        :raises UsageError: the stream gets too many words.
        """
        if self.length + len(words) > MOST_WORDS or len(self.segments) >= MOST_SEGMENTS:
            raise UsageError(
                f"more than {MOST_WORDS:,} command words, or {MOST_SEGMENTS:,} segments of them, are too many",
                location=f"f{frame}",
                hint="Cut the recording, or decode a part of the file.",
            )
        self.segments.append((address, self.length, len(words), kind, frame, list_, flags, channel, entry))
        self.parts.append(np.array(words, np.uint32))
        self.length += len(words)

    def build(self, state: object = None, channels: int = 1, frame_count: int = 1) -> Stream:
        """The stream so far."""
        words = np.concatenate(self.parts) if self.parts else np.zeros(0, np.uint32)
        table = np.array(self.segments, SEGMENT) if self.segments else np.zeros(0, SEGMENT)
        return Stream(self.console, words, table, state, None, channels, frame_count)
