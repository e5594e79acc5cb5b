"""Source lines and the layout of stack frames, from the DWARF sections of an ELF.

    debug = DebugInfo(elf)
    debug.line(0x00100234)                  # ("/home/me/app/main.c", 42)
    debug.rules(0x00100234)                 # where the caller's registers are

Sections are read when they are asked for the first time, and lines by compilation unit. A damaged section gives no
lines; it is never an error, as a program runs without it. Source: DWARF 5.
"""

from __future__ import annotations

import io
from bisect import bisect_right
from functools import cached_property
from typing import Any, Final

from pocketgpu.guests.symbols.elf import Elf, ElfError
from pocketgpu.guests.symbols.frames import FrameRules, FrameTable, damages

_LEAST_NEW_VERSION: Final = 5
"""From this version of line tables on, files are counted from 0."""
_MOST_ROWS: Final = 1 << 21


class DebugInfo:
    """Lines and frames of one file. base: where the file's address 0 is in memory."""

    def __init__(self, elf: Elf, base: int = 0) -> None:
        self._elf, self._base = elf, base
        self._tables: dict[int, tuple[list[int], list[tuple[str, int] | None]]] = {}

    def __repr__(self) -> str:
        return f"<DebugInfo of {self._elf!r}>"

    @cached_property
    def _dwarf(self) -> Any:
        """pyelftools' view of the file; None without debugging sections, or where they cannot be read."""
        try:
            from elftools.elf.elffile import ELFFile
        except ImportError:
            return None
        try:
            if not self._elf.debuggable:
                return None
        except ElfError:
            return None
        try:
            file = ELFFile(io.BytesIO(self._elf.data))
            return file.get_dwarf_info(relocate_dwarf_sections=False) if file.has_dwarf_info() else None
        except damages():
            return None

    # -- lines ------------------------------------------------------------------------------------------------------
    def line(self, address: int) -> tuple[str, int] | None:
        """File and line of an address; None if nobody knows."""
        address -= self._base
        unit = self._unit_of(address)
        if unit is None:
            return None
        if unit not in self._tables:
            self._tables[unit] = self._table(unit)
        starts, lines = self._tables[unit]
        at = bisect_right(starts, address) - 1
        return lines[at] if at >= 0 else None

    def _unit_of(self, address: int) -> int | None:
        at = bisect_right(self._units[0], address) - 1
        if at < 0:
            return None
        end, unit = self._units[1][at]
        return unit if address < end else None

    @cached_property
    def _units(self) -> tuple[list[int], list[tuple[int, int]]]:
        """The ranges of all units: starts; ends and the unit's place. A file without a table of them is asked unit by
        unit."""
        found: list[tuple[int, int, int]] = []
        dwarf = self._dwarf
        if dwarf is None:
            return [], []
        try:
            ranges = dwarf.get_aranges()
            if ranges is not None:
                found = [(one.begin_addr, one.begin_addr + one.length, one.info_offset) for one in ranges.entries]
        except damages():
            found = []
        if not found:
            found = self._ranges_of_units(dwarf)
        found.sort()
        return [one[0] for one in found], [(one[1], one[2]) for one in found]

    @staticmethod
    def _ranges_of_units(dwarf: Any) -> list[tuple[int, int, int]]:
        found: list[tuple[int, int, int]] = []
        try:
            for unit in dwarf.iter_CUs():
                top = unit.get_top_DIE().attributes
                low, high = top.get("DW_AT_low_pc"), top.get("DW_AT_high_pc")
                if low is not None and high is not None:
                    end = high.value if high.form == "DW_FORM_addr" else low.value + high.value
                    found.append((low.value, end, unit.cu_offset))
        except damages():
            pass
        return found

    def _table(self, unit: int) -> tuple[list[int], list[tuple[str, int] | None]]:
        rows: dict[int, tuple[str, int] | None] = {}
        try:
            compiled = self._dwarf.get_CU_at(unit)
            program = self._dwarf.line_program_for_CU(compiled)
            if program is None:
                return [], []
            names = _file_names(program, compiled)
            first = 0 if program["version"] >= _LEAST_NEW_VERSION else 1
            for entry in program.get_entries()[:_MOST_ROWS]:
                state = entry.state
                if state is None:
                    continue
                number = state.file - first
                known = 0 <= number < len(names) and state.line and not state.end_sequence
                if state.end_sequence and state.address in rows:
                    continue  # the next function begins where this one ends
                rows[state.address] = (names[number], state.line) if known else None
        except damages():
            return [], []
        starts = sorted(rows)
        return starts, [rows[one] for one in starts]

    # -- frames -----------------------------------------------------------------------------------------------------
    @cached_property
    def _frames(self) -> FrameTable | None:
        dwarf = self._dwarf
        if dwarf is None:
            return None
        try:
            entries = [*(dwarf.CFI_entries() if dwarf.has_CFI() else ())]
            entries += dwarf.EH_CFI_entries() if dwarf.has_EH_CFI() else ()
            return FrameTable(entries)
        except damages():
            return None

    def rules(self, address: int) -> FrameRules | None:
        """How to leave the function at an address; None if the file does not say."""
        return self._frames.rules(address - self._base) if self._frames is not None else None


def _file_names(program: Any, unit: Any) -> list[str]:
    """The files of a unit's lines, with their folders."""
    folders = [_text(one) for one in program["include_directory"]]
    new = program["version"] >= _LEAST_NEW_VERSION
    if not new:
        top = unit.get_top_DIE().attributes.get("DW_AT_comp_dir")
        folders.insert(0, _text(top.value) if top is not None else "")
    names = []
    for one in program["file_entry"]:
        name, folder = _text(one.name), one.dir_index
        if not name.startswith("/") and 0 <= folder < len(folders) and folders[folder]:
            name = f"{folders[folder]}/{name}"
        names.append(name)
    return names


def _text(value: bytes | str) -> str:
    return value if isinstance(value, str) else value.decode("utf-8", "backslashreplace")
