"""What programs of the 3DS hand to library applets: the keyboard, the error display, the Mii selector.

    view = Applet("keyboard", data)
    view["max_length"]  # 64
    view["result"] = 2

The rows are in n3ds/applets.tsv.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from pocketgpu.facts.n3ds import TABLES

_FORMATS = {"u8": "B", "s8": "b", "u16": "H", "u32": "I", "s32": "i"}
_TEXT = "text*"
_END = "end"


@dataclass(frozen=True, slots=True)
class AppletField:
    """A number or a text of UTF-16. length: units of a text; 0 for a number."""

    name: str
    offset: int
    format: str
    length: int


@cache
def _layouts() -> Mapping[str, tuple[int, Mapping[str, AppletField]]]:
    found: dict[str, dict[str, AppletField]] = {}
    sizes: dict[str, int] = {}
    for row in TABLES.read("applets"):
        applet, kind, offset = row["applet"], row["type"], int(row["offset"], 0)
        if kind == _END:
            sizes[applet] = offset
            continue
        text = kind.startswith(_TEXT)
        one = AppletField(row["field"], offset, "" if text else _FORMATS[kind], int(kind[len(_TEXT) :]) if text else 0)
        found.setdefault(applet, {})[one.name] = one
    return MappingProxyType({name: (size, MappingProxyType(found[name])) for name, size in sizes.items()})


class Applet:
    """Data of an applet, by field. data: its bytes, filled up with zeros."""

    def __init__(self, name: str, data: bytes = b"") -> None:
        size, self._fields = _layouts()[name]
        self.name = name
        self.data = bytearray(data.ljust(size, b"\0"))

    def __repr__(self) -> str:
        return f"<Applet {self.name}: {len(self.data)} bytes>"

    def __getitem__(self, field: str) -> int:
        one = self._fields[field]
        value: int = struct.unpack_from(f"<{one.format}", self.data, one.offset)[0]
        return value

    def __setitem__(self, field: str, value: int) -> None:
        one = self._fields[field]
        struct.pack_into(f"<{one.format}", self.data, one.offset, value)

    def text(self, field: str) -> str:
        """A text, up to its first zero."""
        one = self._fields[field]
        data = bytes(self.data[one.offset : one.offset + 2 * one.length])
        return data.decode("utf-16-le", "replace").split("\0")[0]

    def set_text(self, field: str, text: str) -> None:
        """Store a text; what is too long is cut."""
        one = self._fields[field]
        data = text.encode("utf-16-le", "replace")[: 2 * one.length].ljust(2 * one.length, b"\0")
        self.data[one.offset : one.offset + len(data)] = data
