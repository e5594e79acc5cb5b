"""The settings of a 3DS that programs read: blocks of bytes by number.

    SETTINGS[0x000A0002]  # b"\\x01": English

The rows are in n3ds/settings.tsv.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.n3ds import TABLES


def _read() -> Mapping[int, bytes]:
    blocks = {
        int(row["number"], 0): bytes.fromhex(row["value"]).ljust(int(row["size"], 0), b"\0")
        for row in TABLES.read("settings")
    }
    return MappingProxyType(blocks)


SETTINGS: Final = _read()
"""All blocks by number."""
