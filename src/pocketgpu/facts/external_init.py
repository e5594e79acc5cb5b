"""Sets of initial register values for programs, as documents and drivers list them.

An `InitSet` is written in order; `values` has its value for each register. Where the wiki's lists contradict other
sources they are kept unchanged, and facts/external.py has the values that work. The table is n3ds/inits.tsv; a register
without a value there has its reset value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.registers import RegisterBlock
from pocketgpu.facts.dialect.tables import Entry, Row, count_of, expand
from pocketgpu.facts.external import EXTERNAL, WIKI
from pocketgpu.facts.n3ds import TABLES
from pocketgpu.facts.pica import PICA
from pocketgpu.late_dataclass import dataclass

_WHOLE: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class InitSet:
    """writes: (physical address, value) in order. masks: the bits that each write changes."""

    name: str
    doc: str
    source: str
    writes: tuple[tuple[int, int], ...]
    masks: tuple[int, ...] = ()

    @property
    def values(self) -> Mapping[int, int]:
        """Value by physical address, the last one written."""
        return MappingProxyType(dict(self.writes))


def _value(block: RegisterBlock, name: str, text: str) -> int:
    """A word, or fields of one as "start=802 end=806"; the reset value if the text is empty."""
    if not text:
        return block.reset_of(name)
    if "=" not in text:
        return int(text, 0)
    parts = (part.partition("=") for part in text.split())
    return block[name].encode(0, **{field: int(value, 0) for field, _, value in parts})


def _registers(row: Row) -> Iterator[tuple[RegisterBlock, str, int]]:
    """(block, name, value) of each register in a row."""
    text = row.get("value", "")
    for index in range(count_of(row["register"])):
        name = expand(row["register"], index)
        block = EXTERNAL if name in EXTERNAL else PICA
        yield block, name, _value(block, name, text)


def _writes(row: Row) -> Iterator[tuple[int, int, int]]:
    """(address, value, mask) of each register in a row."""
    mask = int(row["mask"], 0) if row.get("mask") else _WHOLE
    for block, name, value in _registers(row):
        yield block.address_of(name), value, mask


def _set(entry: Entry) -> InitSet:
    writes = [write for row in entry.rows for write in _writes(row)]
    _, source = TABLES.source(entry["marks"], WIKI)
    pairs = tuple((address, value) for address, value, _ in writes)
    return InitSet(entry["set"], entry["doc"], source, pairs, tuple(mask for _, _, mask in writes))


def _by_name(entry: Entry) -> dict[str, int]:
    return {name: value for row in entry.rows for _, name, value in _registers(row)}


class _Sets(Mapping[str, InitSet]):
    """Sets by name; each is read when it is first asked for."""

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self._entries = entries
        self._sets: dict[str, InitSet] = {}

    def __getitem__(self, name: str) -> InitSet:
        found = self._sets.get(name)
        if found is None:
            found = self._sets[name] = _set(self._entries[name])
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


_ENTRIES: Final = {entry["set"]: entry for entry in TABLES.read("inits")}
_START: Final = _ENTRIES.pop("start")

CORE_START: Final[Mapping[str, int]] = MappingProxyType(_by_name(_ENTRIES.pop("core-start")))
"""Registers of the 3D core, by name, before a program's first command list; the others are 0."""

INITS: Final[Mapping[str, InitSet]] = _Sets(_ENTRIES)
"""All selectable sets, by name."""

TOP_MODES: Final = ("top-flat", "top-wide", "top-stereo")
"""Timing of the top screen, as names of sets, by gsp's number of the mode."""


@cache
def start_writes() -> tuple[tuple[int, int, int], ...]:
    """The writes of the first registered program: (offset from the GPU's registers, value, mask), the form of service
    calls. Source: order and values of the public driver library; 3dbrew GPU/External Registers for the meaning."""
    start = _set(_START)
    return tuple(
        (address - EXTERNAL.base, value, mask) for (address, value), mask in zip(start.writes, start.masks, strict=True)
    )
