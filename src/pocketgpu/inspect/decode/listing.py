"""The listing of a stream as text, and its parser.

    == f0 list 3: 104 words at 0x20000000 ==
    0x20000000  00000001 000f0040  * 0x040 FACECULLING_CONFIG  0x00000001 (was 0x00000000)  mode=front   f0/d0

Every line begins with the address of its words and the words themselves, in order. So a whole listing contains exactly
the words that it was made from: `parse_listing` reads nothing else. "*": the register now differs from its value at the
last draw. Lines that begin with "#" or "->" (a method that a macro issues) contain no words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.list_entry import ALL_BYTES, header_of
from pocketgpu.facts.maxwell.pushbuffers import FORMS
from pocketgpu.facts.maxwell.pushbuffers import HEADER as PUSHBUFFER_HEADER
from pocketgpu.inspect.decode import names
from pocketgpu.inspect.decode.rows import (
    ADDRESS,
    CHANGED,
    COMMAND,
    DATA,
    EFFECTS,
    ENTRY,
    GARBAGE,
    HEADER,
    HOST_BLOCK,
    IMMEDIATE,
    ISSUED,
    NOT_REACHED,
    PADDING,
    PARAMETER,
    PICA_BLOCK,
    Words,
    effect_names,
)
from pocketgpu.inspect.decode.select import place_of
from pocketgpu.inspect.decode.stream import GPFIFO, ISSUED_WRITES, JUMPED, KINDS, PUSHBUFFER
from pocketgpu.inspect.decode.uniforms import uniforms_of
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.decode.api import Decoded

_RAW: Final = 17
"""Width of two words in characters."""
_RUN: Final = 8
"""Most words of data in one line."""
_NAMES: Final = 12
"""Most registers that the line after a draw names."""
_PIECE: Final = 1 << 13
_NO_COMMANDS: Final = (NOT_REACHED, GARBAGE)
"""What a word is that belongs to no command: only words of the same kind share a line with it."""
_COLUMNS = (
    "address", "position", "word", "what", "effect", "mask", "subchannel", "block", "id", "old", "new", "frame",
    "draw", "segment",
)  # fmt: skip
_FORMS: Final = {
    FORMS.INC_METHOD: "incrementing", FORMS.NON_INC_METHOD: "non-incrementing", FORMS.ONE_INC: "increment once",
    FORMS.IMMD_DATA_METHOD: "immediate", FORMS.GRP0_USE_TERT: "old form", FORMS.GRP2_USE_TERT: "old form",
    FORMS.RESERVED6: "reserved form", FORMS.END_PB_SEGMENT: "end of the segment",
}  # fmt: skip
_HEAD = re.compile(r"== (\S+) (\w+) (\S+): (\d+) words?(?: at (0x[0-9a-f]+))?(?:, .*)? ==")
_LINE = re.compile(r"(?:0x[0-9a-f]+|\+\d+) +((?:[0-9a-f]{8})(?: [0-9a-f]{8})*)(?=  |$)")


@dataclass(slots=True)
class _PlainRow:
    """A row as Python numbers. index: its number among all rows."""

    index: int
    address: int
    position: int
    word: int
    what: int
    effect: int
    mask: int
    subchannel: int
    block: int
    id: int
    old: int
    new: int
    frame: int
    draw: int
    segment: int


def _rows(decoded: Decoded) -> Iterator[_PlainRow]:
    for start in range(0, len(decoded.rows), _PIECE):
        piece = decoded.rows[start : start + _PIECE]
        columns = (piece[name].tolist() for name in _COLUMNS)
        yield from map(_PlainRow, range(start, start + len(piece)), *columns)


def _groups(rows: Iterator[_PlainRow], single: bool) -> Iterator[list[_PlainRow]]:
    """Rows that share a line: a header with its first word, a run of data, a command, an address and its value."""
    group: list[_PlainRow] = []
    for row, after in pairwise(chain(rows, (None,))):
        assert row is not None
        if group:
            # In an entry of a list, the first word comes before the header.
            begins = row.what == PARAMETER and after is not None and after.what == HEADER and after.block == PICA_BLOCK
            if single or begins or not _joins(group, row):
                yield group
                group = []
        group.append(row)
    if group:
        yield group


def _joins(group: list[_PlainRow], row: _PlainRow) -> bool:
    """Whether a row belongs to the same line as the rows before it."""
    first, last = group[0], group[-1]
    if row.segment != last.segment or row.frame != last.frame or row.draw != last.draw:
        return False
    if row.what in _NO_COMMANDS:  # first, as in a dump of memory nearly all words are
        return last.what == row.what and len(group) < _RUN
    if ISSUED in (row.what, last.what):
        return False
    if row.what == COMMAND:
        return row.id != 0
    if row.what == ENTRY:
        return row.id != 0
    if row.what == PADDING:
        return last.what in (PARAMETER, HEADER) and row.block == 0 and first.block == PICA_BLOCK
    if row.what == HEADER:  # of a list: it follows its first word
        return last.what == PARAMETER and row.block == PICA_BLOCK and len(group) == 1
    if row.what != PARAMETER:
        return False
    if last.what == ADDRESS:
        return True
    if last.what == HEADER and last.block != PICA_BLOCK:
        return len(group) == 1
    data = row.effect & DATA and last.effect & DATA and (row.effect | last.effect) & ~DATA == 0
    return bool(data) and last.what == PARAMETER and first.what == PARAMETER and len(group) < _RUN


def lines(decoded: Decoded, mask: NDArray[np.bool_] | None, single: bool) -> Iterator[str]:
    """The listing of all rows, or of the lines in which `mask` selects a row."""
    yield f"# {decoded.source or decoded.kind}: {decoded.console}, {len(decoded.stream.words)} command words"
    if decoded.left:
        yield f"# {counted(decoded.left, 'byte')} after the last whole word are left out"
    if mask is not None and not mask.any():
        yield "# no row matches"
        return
    changes, uniforms = _Changes(), uniforms_of(decoded.rows)
    segment = -1
    for group in _groups(_rows(decoded), single):
        said = changes.take(group)
        if mask is not None and not mask[group[0].index : group[-1].index + 1].any():
            continue
        if group[0].segment != segment:
            segment = group[0].segment
            yield _head(decoded, segment)
        written = "; ".join(uniforms[row.index].text for row in group if row.index in uniforms)
        yield _line(group, written)
        if said:
            yield said


def _head(decoded: Decoded, number: int) -> str:
    """The line above a segment."""
    row = decoded.stream.table[number]
    kind, flags, address = int(row["kind"]), int(row["flags"]), int(row["address"])
    name = f"s{row['list']}/e{row['entry']}" if kind in (GPFIFO, PUSHBUFFER) else str(row["list"])
    place = f" at {address:#010x}" if address else ""
    note = ", by a jump" if flags & JUMPED else ", by the command before" if flags & ISSUED_WRITES else ""
    if kind in (GPFIFO, PUSHBUFFER) and decoded.stream.channels > 1:
        note += f", channel {row['channel']}"
    return f"== {place_of(int(row['frame']), -1)} {KINDS[kind]} {name}: {counted(row['count'], 'word')}{place}{note} =="


def _line(group: list[_PlainRow], written: str) -> str:
    """A line about a group. written: the uniforms that it completes."""
    first = group[0]
    place = place_of(first.frame, first.draw)
    if first.what == ISSUED:
        return f"{'':12}  {'->':{_RAW}}  {_write(first)}   {place}"
    at = f"{first.address:#010x}" if first.address else f"+{first.position}"
    raw = " ".join([f"{row.word:08x}" for row in group])
    return f"{at:12}  {raw:{_RAW}}  {_text(group)}{'  ' if written else ''}{written}   {place}"


def _text(group: list[_PlainRow]) -> str:
    """The meaning of the words of a line."""
    first = group[0]
    if first.what in _NO_COMMANDS:
        return f"  ({'not reached' if first.what == NOT_REACHED else 'garbage'})"
    writes = [row for row in group if row.what in (PARAMETER, IMMEDIATE)]
    if first.what == PADDING:
        return "  (padding)"
    if first.what == COMMAND:
        if len(group) == 8:
            return f"  GX {names.gx_text([row.word for row in group])}"
        return f"  GX {names.named(first.block, first.id, first.subchannel).name}"
    if first.what == ENTRY:
        if len(group) == 2:
            return f"  GPFIFO {names.entry_text(first.word, group[1].word)}"
        return f"  {names.named(first.block, first.id).name}"
    if first.what == ADDRESS and not writes:
        return "  (address)"
    if not writes:
        return f"  {_header(first)}"
    if len(writes) > 1:
        return _data(writes)
    packet = next((row for row in group if row.what == HEADER and row.block != PICA_BLOCK), None)
    text = _write(writes[0])
    if packet is not None and PUSHBUFFER_HEADER["COUNT"].raw(packet.word) != 1:
        text += f"  ({_header(packet, False)})"
    return text


def _title(row: _PlainRow) -> str:
    """Block, id and name of a register."""
    register = names.named(row.block, row.id, row.subchannel)
    title = names.TITLES[row.block]
    return f"{title}{' ' if title else ''}{register.id} {register.name}"


def _header(row: _PlainRow, full: bool = True) -> str:
    """The text of a header that shares a line with its first word."""
    if row.block == PICA_BLOCK:
        extra = header_of(row.word).extra
        return f"(header: {counted(extra + 1, 'word')} from {_title(row)})"
    form, count = PUSHBUFFER_HEADER["SEC_OP"].raw(row.word), PUSHBUFFER_HEADER["COUNT"].raw(row.word)
    text = f"{_FORMS[form]}, {counted(count, 'word')}"
    return f"(header: {text} for {_title(row)})" if full else text


def _write(row: _PlainRow) -> str:
    """A write, with all that is known of the register and its value."""
    mark = "*" if row.effect & CHANGED else " "
    parts = [f"{mark} {_title(row)}"]
    if row.effect & DATA:
        value = row.word if row.what != IMMEDIATE else PUSHBUFFER_HEADER["IMMD_DATA"].raw(row.word)
        parts.append(f"{value:#010x}")
    elif row.effect & EFFECTS["macro"]:
        parts.append(f"{row.new:#010x}")
    else:
        was = f" (was {row.old:#010x})" if row.old != row.new else ""
        parts.append(f"{row.new:#010x}{was}")
        if found := names.fields(row.block, row.id, row.new):
            parts.append(", ".join(f"{name}={names.short(text)}" for name, text in found))
    if row.block == HOST_BLOCK:
        parts.append(f"subchannel {row.subchannel}")
    if row.mask != ALL_BYTES:
        parts.append(f"byte mask {row.mask:#x}")
    if found_effects := effect_names(row.effect):
        parts.append(f"[{' '.join(found_effects)}]")
    return "  ".join(parts)


def _data(writes: list[_PlainRow]) -> str:
    """A run of data."""
    first, last = writes[0], writes[-1]
    name = names.named(first.block, first.id).name
    if last.id != first.id:
        name += f" to {names.named(last.block, last.id).name}"
    title = names.TITLES[first.block]
    return (
        f"  {title}{' ' if title else ''}{name}  {counted(len(writes), 'word')} "
        f"[{' '.join(effect_names(first.effect))}]"
    )


@dataclass
class _Changes:
    """Which registers differ from their values at the last draw."""

    now: dict[tuple[int, int], bool] = field(default_factory=dict)
    last: str = ""

    def take(self, group: Sequence[_PlainRow]) -> str:
        """Note a line; after a draw, returns the line about changed registers."""
        said = ""
        if group[0].what in _NO_COMMANDS:
            return said  # and so are the other words of the line
        for row in group:
            if row.what not in (PARAMETER, IMMEDIATE, ISSUED):
                continue
            if not row.effect & DATA:
                self.now[row.block, row.id] = bool(row.effect & CHANGED)
            if row.effect & EFFECTS["draw"]:
                said = self._draw(row)
        return said

    def _draw(self, row: _PlainRow) -> str:
        found = [names.named(*key).name for key, changed in sorted(self.now.items()) if changed]
        self.now.clear()
        place, before = place_of(row.frame, row.draw), self.last
        self.last = place
        more = f" and {len(found) - _NAMES} more" if len(found) > _NAMES else ""
        since = f"changed since {before}" if before else "set before the first draw"
        return f"# {place}: {since}: {', '.join(found[:_NAMES]) or 'nothing'}{more}"


@dataclass(frozen=True)
class Listed:
    """A segment of a listing. place: the frame. kind: of `KINDS`. name: its number, or submission and entry."""

    place: str
    kind: str
    name: str
    address: int
    words: Words

    def __repr__(self) -> str:
        place = f" at {self.address:#010x}" if self.address else ""
        return line_of(self, f"{self.place} {self.kind} {self.name}: {counted(len(self.words), 'word')}{place}")


def parse_listing(text: str) -> list[Listed]:
    """The segments of a listing, with exactly the words that they were made from.

    :raises UsageError: a line is not of a listing, or a segment does not have as many words as its head says.
    """
    heads: list[tuple[Any, int]] = []
    words: list[list[int]] = []
    for number, line in enumerate(text.splitlines(), 1):
        if head := _HEAD.fullmatch(line.rstrip()):
            heads.append((head, number))
            words.append([])
        elif found := _LINE.match(line):
            if not words:
                raise UsageError(
                    "words before the first segment", location=f"line {number}", hint="== f0 list 0: ... =="
                )
            words[-1] += [int(word, 16) for word in found[1].split(" ")]
        elif line.strip() and not line.lstrip().startswith(("#", "->")):
            raise UsageError("this is not a line of a listing", location=f"line {number}", hint="ADDRESS  WORDS  ...")
    listed = []
    for (head, number), found_words in zip(heads, words, strict=True):
        if len(found_words) != int(head[4]):
            raise UsageError(
                f"the segment has {len(found_words)} of its {counted(head[4], 'word')}",
                location=f"line {number}",
                hint="Lines that a filter left out cannot be restored.",
            )
        address = int(head[5], 16) if head[5] else 0
        listed.append(Listed(head[1], head[2], head[3], address, np.array(found_words, np.uint32)))
    return listed


__all__ = ["Listed", "lines", "parse_listing"]
