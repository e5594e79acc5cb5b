"""What programs of the 3DS hand to library applets: the keyboard, the error display, the Mii selector.

    view = Applet("keyboard", data)
    view["max_length"]  # 64
    view["result"] = 2

The rows are in n3ds/applets.tsv.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.records import Record, RecordTable
from pocketgpu.facts.n3ds import TABLES

_APPLETS: Final = RecordTable(TABLES, "applets", "applet")


class Applet(Record):
    """Data of an applet, by field. data: its bytes, filled up with zeros."""

    def __init__(self, name: str, data: bytes = b"") -> None:
        super().__init__(_APPLETS.layouts[name], data)
