"""Records: structures of bytes with numbers, texts and arrays at fixed offsets, as programs hand them to services.

    RECORDS = RecordTable(TABLES, "nvdrv")
    one = RECORDS.make("MapBufferEx", data)
    one["size"]            # 0x10000
    one["offset"] = 5 << 32
    bytes(one.data)

A table has a head row for each record, and a row for each field:

    record	size	doc
        field	offset	type	value	doc
    Fences	0x24
        count	0x00	u32	1
        id	0x04	u32*4/8		Four of them, 8 bytes apart.

Types are u8, u16, u32, u64, s8, s16, s32, s64, f32; `u32*4` is an array, `u32*4/8` one whose elements are 8 bytes
apart; `text*16` is a text of up to 16 units of UTF-16, and `bytes*16` is 16 bytes. The column "value" is what a new
record holds.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from pocketgpu.facts.dialect.tables import Entry, Tables
from pocketgpu.late_dataclass import dataclass

_FORMATS: Final = {
    "u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f32": "f",
}  # fmt: skip
_TEXT, _BYTES = "text", "bytes"


@dataclass(frozen=True, slots=True)
class RecordField:
    """A number, an array of numbers, a text or bytes. format: of `struct`, for numbers. count: of elements, of units
    of a text, of bytes. stride: bytes from one element to the next."""

    name: str
    offset: int
    kind: str
    format: str
    count: int
    stride: int


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """One kind of record. size: in bytes. start: what a new one holds."""

    name: str
    size: int
    fields: Mapping[str, RecordField]
    start: bytes


class Record:
    """A record's bytes, by field. data: filled up with zeros."""

    def __init__(self, layout: RecordLayout, data: bytes | bytearray | None = None) -> None:
        self.layout = layout
        self.data = bytearray(layout.start if data is None else bytes(data).ljust(layout.size, b"\0"))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}: {len(self.data)} bytes>"

    @property
    def name(self) -> str:
        """What it is."""
        return self.layout.name

    def __getitem__(self, field: str) -> int:
        one = self.layout.fields[field]
        value: int = struct.unpack_from(f"<{one.format}", self.data, one.offset)[0]
        return value

    def __setitem__(self, field: str, value: int) -> None:
        one = self.layout.fields[field]
        struct.pack_into(f"<{one.format}", self.data, one.offset, value)

    def real(self, field: str) -> float:
        """A number with a fraction."""
        one = self.layout.fields[field]
        value: float = struct.unpack_from(f"<{one.format}", self.data, one.offset)[0]
        return value

    def numbers(self, field: str) -> tuple[int, ...]:
        """All elements of an array."""
        one = self.layout.fields[field]
        places = range(one.offset, one.offset + one.count * one.stride, one.stride)
        return tuple(int(struct.unpack_from(f"<{one.format}", self.data, at)[0]) for at in places)

    def set_number(self, field: str, index: int, value: int) -> None:
        """Store an element of an array."""
        one = self.layout.fields[field]
        struct.pack_into(f"<{one.format}", self.data, one.offset + index * one.stride, value)

    def part(self, field: str) -> bytes:
        """The bytes of a field of type `bytes`."""
        one = self.layout.fields[field]
        return bytes(self.data[one.offset : one.offset + one.count])

    def set_part(self, field: str, data: bytes | bytearray) -> None:
        """Store bytes; what is too long is cut."""
        one = self.layout.fields[field]
        self.data[one.offset : one.offset + min(len(data), one.count)] = data[: one.count]

    def text(self, field: str) -> str:
        """A text, up to its first zero."""
        one = self.layout.fields[field]
        data = bytes(self.data[one.offset : one.offset + 2 * one.count])
        return data.decode("utf-16-le", "replace").split("\0")[0]

    def set_text(self, field: str, text: str) -> None:
        """Store a text; what is too long is cut."""
        one = self.layout.fields[field]
        data = text.encode("utf-16-le", "replace")[: 2 * one.count].ljust(2 * one.count, b"\0")
        self.data[one.offset : one.offset + len(data)] = data


class RecordTable:
    """The records of a table, read at the first use. key: the column with their names."""

    def __init__(self, tables: Tables, file: str, key: str = "record") -> None:
        self._tables, self._file, self._key = tables, file, key

    def __repr__(self) -> str:
        return f"<RecordTable {self._file}>"

    @cached_property
    def layouts(self) -> Mapping[str, RecordLayout]:
        """All kinds by name."""
        return {entry[self._key]: _layout(entry[self._key], entry) for entry in self._tables.read(self._file)}

    def size(self, name: str) -> int:
        """Bytes of a kind of record."""
        return self.layouts[name].size

    def make(self, name: str, data: bytes | bytearray | None = None) -> Record:
        """A record of these bytes, filled up with zeros; without them, what a new one holds."""
        return Record(self.layouts[name], data)


def _layout(name: str, entry: Entry) -> RecordLayout:
    size = int(entry["size"], 0)
    fields = {row["field"]: _field(row["field"], int(row["offset"], 0), row["type"]) for row in entry.rows}
    data = bytearray(size)
    for row in entry.rows:
        one, value = fields[row["field"]], row.get("value", "")
        if one.kind == _BYTES:
            raw = value.encode("ascii")
            data[one.offset : one.offset + len(raw)] = raw
        elif value:
            for index, number in enumerate(value.split(",")):
                struct.pack_into(f"<{one.format}", data, one.offset + index * one.stride, int(number, 0))
    return RecordLayout(name, size, fields, bytes(data))


def _field(name: str, offset: int, kind: str) -> RecordField:
    kind, _, rest = kind.partition("*")
    count, _, stride = rest.partition("/")
    format = _FORMATS.get(kind, "")
    if not format and kind not in (_TEXT, _BYTES):
        raise ValueError(f"unknown type {kind!r} of the field {name}")
    width = struct.calcsize(format) if format else 0
    return RecordField(name, offset, kind, format, int(count or "1", 0), int(stride, 0) if stride else width)
