"""Line tables of cubins: the line of source text that each instruction comes from.

    table = LineTable(cubin.sections, cubin.symbols)
    table.places(section.index, (8, 16, 24))    # (("kernel.cu", 3), ("kernel.cu", 4), None)

NVIDIA's compiler writes them if it is asked for line numbers (`-lineinfo`). Source: the DWARF standard, versions 2 to 4
("Line Number Information"), read with pyelftools (extra `guest`); without it no line is known. A table that is damaged
or large is left out: lines are no more than a help.
"""

from __future__ import annotations

import io
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pocketgpu.maxwell.sass.files.elf import Section, Symbol

Place = tuple[str, int]
"""File and line."""
SECTION: Final = ".debug_line"
_RELOCATIONS: Final = {f".rel{SECTION}": struct.Struct("<QQ"), f".rela{SECTION}": struct.Struct("<QQq")}
_ADDRESS: Final = struct.Struct("<Q")
_MOST_BYTES: Final = 4 << 20
_SHIFT: Final = 40
"""Addresses count from the beginning of a section, whose number is put above this bit."""
_OLDEST, _NEWEST = 2, 4


class LineTable:
    """The line table of a cubin; `places` asks it."""

    def __init__(self, sections: Sequence[Section], symbols: Sequence[Symbol]) -> None:
        self._sections, self._symbols = sections, symbols

    def __repr__(self) -> str:
        return f"<line table of {len(self._rows)} sections>"

    def places(self, section: int, addresses: Sequence[int]) -> tuple[Place | None, ...]:
        """File and line of the instructions at some addresses of a section; empty if nothing is known of it."""
        rows = self._rows.get(section)
        if not rows:
            return ()
        starts = [address for address, _ in rows]
        found = (bisect_right(starts, address) - 1 for address in addresses)
        return tuple(rows[at][1] if at >= 0 else None for at in found)

    @cached_property
    def _rows(self) -> dict[int, list[tuple[int, Place | None]]]:
        """Address and place of the first instruction of each line, ascending, by section. None: the code ends there."""
        table = next((one for one in self._sections if one.name == SECTION), None)
        if table is None or not 0 < len(table.data) <= _MOST_BYTES:
            return {}
        try:
            from elftools.common.exceptions import DWARFError, ELFError
        except ImportError:
            return {}
        texts = [one.index for one in self._sections if one.name.startswith(".text.")]
        found: dict[int, list[tuple[int, Place | None]]] = {}
        try:
            for address, place in _states(self._placed(table)):
                section = address >> _SHIFT or (texts[0] if len(texts) == 1 else 0)
                found.setdefault(section, []).append((address & ((1 << _SHIFT) - 1), place))
        except (DWARFError, ELFError, struct.error, ValueError, LookupError, TypeError, AttributeError):  # damaged
            return {}
        for rows in found.values():
            rows.sort(key=lambda row: row[0])  # stable: a sequence that begins where another one ends comes after it
        return found

    def _placed(self, table: Section) -> bytes:
        """The table with the section of each address in its upper bits."""
        data = bytearray(table.data)
        for section in self._sections:
            layout = _RELOCATIONS.get(section.name)
            whole = len(section.data) // layout.size * layout.size if layout is not None else 0
            for offset, info, *addend in layout.iter_unpack(section.data[:whole]) if layout is not None else ():
                number = info >> 32
                if offset + _ADDRESS.size > len(data) or number >= len(self._symbols):
                    continue
                symbol = self._symbols[number]
                within = symbol.value + (addend[0] if addend else _ADDRESS.unpack_from(data, offset)[0])
                if 0 <= within < 1 << _SHIFT:
                    _ADDRESS.pack_into(data, offset, symbol.section << _SHIFT | within)
        return bytes(data)


def _states(data: bytes) -> Iterator[tuple[int, Place | None]]:
    """Address and place of each row of all units of a table."""
    from elftools.common.utils import struct_parse
    from elftools.dwarf.lineprogram import LineProgram
    from elftools.dwarf.structs import DWARFStructs

    structs, stream, at = DWARFStructs(little_endian=True, dwarf_format=32, address_size=8), io.BytesIO(data), 0
    while at < len(data):
        header = struct_parse(structs.Dwarf_lineprog_header, stream, at)
        end = at + header["unit_length"] + structs.initial_length_field_size()
        if not _OLDEST <= header["version"] <= _NEWEST:
            return
        names = list(_names(header))
        for entry in LineProgram(header, stream, structs, stream.tell(), min(end, len(data))).get_entries():
            state = entry.state
            if state is not None:
                known = not state.end_sequence and 0 < state.file <= len(names)
                yield state.address, (names[state.file - 1], state.line) if known else None
        at = end


def _names(header: Any) -> Iterator[str]:
    """Files of a unit, with their folders."""
    folders = [_text(one) for one in header["include_directory"]]
    for one in header["file_entry"]:
        name, number = _text(one.name), one.dir_index
        known = 0 < number <= len(folders) and not name.startswith("/")
        yield f"{folders[number - 1]}/{name}" if known else name


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


__all__ = ["SECTION", "LineTable", "Place"]
