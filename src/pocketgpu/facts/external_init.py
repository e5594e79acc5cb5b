"""Sets of initial register values for programs, as documents and drivers list them.

An `InitSet` is written in order; `values` has its value for each register. Where the wiki's lists contradict other
sources they are kept unchanged, and facts/external.py has the values that work. The table is n3ds/inits.tsv; a register
without a value there has its reset value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from pocketgpu.facts.dialect.registers import RegisterBlock
from pocketgpu.facts.dialect.tables import Entry, Row, count_of, expand
from pocketgpu.facts.external import EXTERNAL, WIKI
from pocketgpu.facts.n3ds import TABLES
from pocketgpu.facts.pica import PICA

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
        return block[name].reset
    if "=" not in text:
        return int(text, 0)
    parts = (part.partition("=") for part in text.split())
    return block[name].encode(0, **{field: int(value, 0) for field, _, value in parts})


def _writes(row: Row) -> Iterator[tuple[int, int, int]]:
    """(address, value, mask) of each register in a row."""
    text, mask = row.get("value", ""), int(row["mask"], 0) if row.get("mask") else _WHOLE
    for index in range(count_of(row["register"])):
        name = expand(row["register"], index)
        block = EXTERNAL if name in EXTERNAL else PICA
        yield block.base + block.stride * block.offset_of(name), _value(block, name, text), mask


def _set(entry: Entry) -> InitSet:
    writes = [write for row in entry.rows for write in _writes(row)]
    _, source = TABLES.source(entry["marks"], WIKI)
    pairs = tuple((address, value) for address, value, _ in writes)
    return InitSet(entry["set"], entry["doc"], source, pairs, tuple(mask for _, _, mask in writes))


def _by_name(values: InitSet) -> Iterator[tuple[str, int]]:
    names = {block.base + block.stride * offset: name for block in (PICA, EXTERNAL) for name, offset in block.places}
    return ((names[address], value) for address, value in values.writes)


_SETS: Final = {entry["set"]: _set(entry) for entry in TABLES.read("inits")}

START: Final = _SETS.pop("start")
"""The writes of the first registered program. Source: order and values of the public driver library; 3dbrew
GPU/External Registers for the meaning."""

START_WRITES: Final = tuple(
    (address - EXTERNAL.base, value, mask) for (address, value), mask in zip(START.writes, START.masks, strict=True)
)
"""The same as (offset from the GPU's registers, value, mask), the form of service calls."""

CORE_START: Final[Mapping[str, int]] = MappingProxyType(
    {name: value for name, value in _by_name(_SETS.pop("core-start"))}
)
"""Registers of the 3D core, by name, before a program's first command list; the others are 0."""

INITS: Final[Mapping[str, InitSet]] = MappingProxyType(_SETS)
"""All selectable sets, by name."""

NNGX_INIT: Final = INITS["nngx"]
TOP_FLAT: Final = INITS["top-flat"]
TOP_WIDE: Final = INITS["top-wide"]
TOP_STEREO: Final = INITS["top-stereo"]
BOTTOM: Final = INITS["bottom"]

TOP_MODES: Final = (TOP_FLAT, TOP_WIDE, TOP_STEREO)
"""Timing of the top screen by gsp's number of the mode."""
