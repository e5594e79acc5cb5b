"""The Python interface of decoding: captures, files of words, and arrays of words become rows."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import MOST_ROWS, line_of, table_html, title_html
from pocketgpu.errors import CaptureError, UsageError
from pocketgpu.in_steps import InSteps, finished
from pocketgpu.inspect.decode import jsonl, listing, select, tables
from pocketgpu.inspect.decode.consoles import CONSOLES
from pocketgpu.inspect.decode.rows import GARBAGE, ISSUED, Rows, Words
from pocketgpu.inspect.decode.stream import (
    GX,
    LIST,
    MOST_WORDS,
    PUSHBUFFER,
    RECORDED,
    SUBMISSION,
    Stream,
    StreamBuilder,
)
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    import nanoarrow
    import pandas

    from pocketgpu.capture import Capture

KINDS: Final[Mapping[str, tuple[str, int]]] = {
    "pica": ("3DS", LIST),
    "pushbuffer": ("Switch", PUSHBUFFER),
    "gx": ("3DS", GX),
}
"""Kinds of words without a capture: the console, and the kind of segment."""
KEPT_WORDS: Final = 1 << 16
"""Most words of a capture whose rows are kept: 3 MB of rows."""
FILE_LIMIT: Final = 4 * MOST_WORDS
"""Most bytes that are read of a file of words."""


@dataclass(eq=False)
class Decoded:
    """A decoded stream. rows: structured array of `ROW`, in order. kind: "capture", or one of `KINDS`.

    source: what was decoded, for people. left: how many bytes follow the last whole word.
    """

    stream: Stream
    rows: Rows
    kind: str
    source: str = ""
    left: int = 0

    @property
    def console(self) -> str:
        """The console of the stream: "3DS" or "Switch"."""
        return self.stream.console

    def select(
        self, places: Iterable[str] = (), filters: Iterable[str] = (), changed: bool = False, no_garbage: bool = False
    ) -> NDArray[np.bool_]:
        """A mask of the rows that are at any of these places, and write a register of these names.

        changed: only writes that leave the register different from its value at the last draw. no_garbage: without
        words that are no valid header. `select.of_places` and `select.of_registers` describe places and filters.

        :raises UsageError: a place or filter is not valid.
        """
        rest = self.stream.frame_count
        named = [re.sub(r"^tail(?=/|$)", f"f{rest}", place) for place in places]
        found = select.of_places(self.rows, named, rest) & select.of_registers(self.rows, filters)
        if changed:
            found &= select.changed(self.rows)
        return found & (self.rows["what"] != GARBAGE) if no_garbage else found

    def lines(self, mask: NDArray[np.bool_] | None = None, single: bool = False) -> Iterator[str]:
        """The listing, line by line: of all rows, or of those that `mask` selects. single: one line for each word.
        Without a mask, `parse_listing` returns exactly the same words."""
        return listing.lines(self, mask, single)

    def json_lines(self, mask: NDArray[np.bool_] | None = None, header: bool = True) -> Iterator[str]:
        """The same as JSON lines. header: whether a line before them names the schema, the source and counts; without
        it all lines are alike, as programs that read tables want them."""
        return jsonl.lines(self, mask, header)

    def to_arrow(self, mask: NDArray[np.bool_] | None = None) -> nanoarrow.Array:
        """The rows as an Arrow array of structures: columns for the numbers of `ROW`, and for names, fields and effects
        (docs/guides/decode.md). pyarrow, polars and others take it by its Arrow C interface, without a copy.

        :raises UsageError: nanoarrow is not installed (`pip install 'pocketgpu[tables]'`).
        """
        return tables.to_arrow(self.rows if mask is None else self.rows[mask])

    def to_pandas(self, mask: NDArray[np.bool_] | None = None) -> pandas.DataFrame:
        """The same columns as a pandas data frame; texts are categories.

        :raises UsageError: pandas is not installed (`pip install pandas`).
        """
        return tables.to_pandas(self.rows if mask is None else self.rows[mask])

    @cached_property
    def segments(self) -> list[Words]:
        """The words of each segment, taken from the rows."""
        own = self.rows[self.rows["what"] != ISSUED]
        ends = np.searchsorted(own["segment"], np.arange(1, len(self.stream.table) + 1)).tolist()
        return [own["word"][start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def _repr_html_(self) -> str:
        """The first rows."""
        rows = tables.first_rows(self.rows[: MOST_ROWS + 1])
        return title_html(str(self)) + table_html(tables.SHOWN, rows, len(self.rows))

    def __str__(self) -> str:
        counts = f"{counted(len(self.stream.words), 'word')}, {counted(len(self.rows), 'row')}"
        return f"{self.source or self.kind}: {self.console}, {counts}"


_streams: WeakKeyDictionary[Any, dict[tuple[tuple[str, str], ...], Stream]] = WeakKeyDictionary()
"""Streams of captures that were decoded earlier, by choices."""


def decode(
    capture: Capture | str | os.PathLike[str],
    macros: bool = False,
    switches: Mapping[str, str] | None = None,
    evaluator: str = "llvm",
) -> Decoded:
    """Decode all commands of a capture or capture file. The stream is kept with the capture: only the first decode
    replays its memory. Rows of a stream of up to `KEPT_WORDS` words are kept, too: later calls return copies.

    macros: rows also for the methods that macros of a Switch issue. switches: of the machine that runs the commands.

    :raises CaptureError: the file is not a capture, or is damaged.
    :raises UsageError: it has more command words than can be decoded at once (2^25).
    """
    from pocketgpu.capture import Capture as CaptureType
    from pocketgpu.capture import open as open_capture

    opened = capture if isinstance(capture, CaptureType) else open_capture(capture)
    stream = stream_of(opened, switches)
    how = (macros, tuple(sorted((switches or {}).items())), evaluator)
    rows = stream.decoded.get(how)
    if rows is None:
        rows = finished(CONSOLES[stream.console].tracing(stream, False, macros, switches, evaluator))
        if len(stream.words) <= KEPT_WORDS:
            stream.decoded[how] = rows.copy()
    else:
        rows = rows.copy()
    return Decoded(stream, rows, "capture", opened.path)


def stream_of(capture: Capture, switches: Mapping[str, str] | None = None) -> Stream:
    """The words of a capture, with their addresses."""
    return finished(gathering_stream(capture, switches))


def gathering_stream(capture: Capture, switches: Mapping[str, str] | None = None) -> InSteps[Stream]:
    """`stream_of` in steps, so that other work can come between them."""
    known = _streams.setdefault(capture, {})
    key = tuple(sorted((switches or {}).items()))
    if key not in known:
        known[key] = yield from CONSOLES[capture.console].gathering(capture.trace, switches)
    return known[key]


def decode_words(
    words: Words | Sequence[int] | bytes,
    kind: str = "pica",
    base: int = 0,
    tolerant: bool = True,
    macros: bool = False,
    switches: Mapping[str, str] | None = None,
    evaluator: str = "llvm",
) -> Decoded:
    """Decode words without a capture: a command list ("pica"), words of a pushbuffer ("pushbuffer") or GX commands of
    eight words ("gx").

    words: uint32 array, numbers, or bytes of little-endian words. base: address of the first. tolerant: words that are
    no valid header become rows of garbage, and decoding continues at the next valid one; jumps and ends of lists do not
    end it. Otherwise the words are parsed as the machine does.

    :raises UsageError: no such kind, a base that is no address of a word, numbers of more than 32 bits, more than 2^25
        words.
    """
    if kind not in KINDS:
        raise UsageError(f"there are no words of kind {kind!r}", hint=f"There are {', '.join(KINDS)}.")
    if base % 4 or not 0 <= base < 1 << 40:
        raise UsageError(
            f"no word can be at {base:#x}", location="base", hint="Addresses are multiples of 4, up to 40 bits."
        )
    console, segment = KINDS[kind]
    builder = StreamBuilder(console)
    flags = RECORDED if segment == GX else SUBMISSION if segment == PUSHBUFFER else 0
    builder.add(segment, as_words(words), 0, 0, base, flags)
    stream = builder.build()
    rows = finished(CONSOLES[console].tracing(stream, tolerant, macros, switches, evaluator))
    return Decoded(stream, rows, kind)


def decode_file(
    path: str | os.PathLike[str],
    kind: str,
    base: int = 0,
    offset: int = 0,
    size: int | None = None,
    big_endian: bool = False,
    tolerant: bool = True,
    macros: bool = False,
    switches: Mapping[str, str] | None = None,
) -> Decoded:
    """Decode the words of a file: `size` bytes (default: all) from byte `offset`; base: the address of the first.

    :raises CaptureError: the file cannot be read.
    :raises UsageError: as for `decode_words`; an offset beyond the end of the file; more than 128 MiB at once.
    """
    name = os.fspath(path)
    data = _read(name, offset, size)
    left = len(data) % 4
    words = np.frombuffer(data, ">u4" if big_endian else "<u4", len(data) // 4).astype(np.uint32)
    decoded = decode_words(words, kind, base, tolerant, macros, switches)
    decoded.source, decoded.left = name, left
    return decoded


def _read(name: str, offset: int, size: int | None) -> bytes:
    try:
        with io.BytesIO(sys.stdin.buffer.read()) if name == "-" else Path(name).open("rb") as file:
            length = file.seek(0, os.SEEK_END)
            if not 0 <= offset <= length:
                raise UsageError(
                    f"the file has {counted(length, 'byte', form=',')}",
                    location=f"--offset {offset:#x}",
                    hint="Offsets count bytes.",
                )
            wanted = length - offset if size is None else min(size, length - offset)
            if wanted > FILE_LIMIT:
                raise UsageError(
                    f"{wanted:,} bytes are too many to decode at once",
                    location=name,
                    hint="Give a part of the file: --offset and --size.",
                )
            file.seek(offset)
            return file.read(wanted)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CaptureError(
            f"the file cannot be read: {reason}", file=name, hint="Check the path and its permissions."
        ) from None


def as_words(words: Words | Sequence[int] | bytes) -> Words:
    """Words as an array.

    :raises UsageError: numbers that are no 32-bit words.
    """
    if isinstance(words, bytes | bytearray | memoryview):
        data = bytes(words)
        return np.frombuffer(data, "<u4", len(data) // 4).astype(np.uint32)
    if isinstance(words, np.ndarray) and words.dtype == np.uint32:
        return words.reshape(-1)
    try:
        found = np.array([int(word) for word in words], np.int64)
    except (TypeError, ValueError, OverflowError) as error:
        raise UsageError("words are numbers of 32 bits") from error
    if len(found) and (int(found.min()) < 0 or int(found.max()) >> 32):
        raise UsageError("words are numbers of 32 bits")
    return found.astype(np.uint32)
