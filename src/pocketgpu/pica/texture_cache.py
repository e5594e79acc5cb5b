"""Decoded textures, kept while the guest memory they came from stays as it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..facts.formats import TEXTURE_FORMATS
from ..lanes import Engine
from ..memory import GuestMemory
from .layout import WorkLayout
from .registers import field
from .texture import decode_texture


@dataclass(frozen=True, slots=True)
class Source:
    """A texture in guest memory: arena range, format number and size in texels."""

    offset: int
    size: int
    format: int
    width: int
    height: int

    @property
    def power_of_two(self) -> bool:
        return self.width & (self.width - 1) == 0 and self.height & (self.height - 1) == 0


_UNIT_FIELDS = [
    tuple(field(f"TEXUNIT{unit}_{name}") for name in ("ADDR.address", "TYPE.format", "DIM.width", "DIM.height"))
    for unit in range(3)
]
UNIT_IDS = np.array(sorted({f.register.offset for unit in _UNIT_FIELDS for f in unit}), np.int64)
"""Register ids that describe the textures of all units."""


class TextureCache:
    """Rows of decoded textures in the work area.

    When it is full everything is dropped; ask `fits` first while draws wait that use rows already handed out.
    """

    def __init__(self, memory: GuestMemory, engine: Engine, layout: WorkLayout) -> None:
        self.memory, self.engine, self.layout = memory, engine, layout
        self._top = layout.textures
        self._known: dict[Source, tuple[int, int]] = {}
        self._described: dict[tuple[int, ...], Source | None] = {}

    def describe(self, registers: np.ndarray, unit: int) -> Source | None:
        """The texture that a unit's registers name; None if it has no texels or leaves memory."""
        words = tuple(int(registers[f.register.offset]) for f in _UNIT_FIELDS[unit])
        if words not in self._described:
            address, format, width, height = (f.field.raw(w) for f, w in zip(_UNIT_FIELDS[unit], words, strict=True))
            self._described[words] = self._make(address << 3, format, width, height)
        return self._described[words]

    def _make(self, address: int, format: int, width: int, height: int) -> Source | None:
        pixel = TEXTURE_FORMATS.get(format)
        if pixel is None or width < 8 or height < 1:
            return None
        rows = (height + 7) & ~7
        size = pixel.size(width & ~7, rows)
        offset = self.memory.offset_of(address, size)
        if offset is None or offset & (3 if pixel.bits == 32 else 0):
            return None
        return Source(offset, size, format, width, height)

    def rows(self, source: Source) -> int:
        """Arena offset of the decoded rows, decoding first if memory changed since."""
        newest = self.memory.newest(source.offset, source.size)
        known = self._known.get(source)
        if known is not None and known[1] == newest:
            return known[0]
        place = known[0] if known is not None else self._room(_rounded(source))
        run = self.engine.get(decode_texture, format=source.format)
        run(source.offset, place, source.width, source.height)
        self._known[source] = (place, newest)
        return place

    def fits(self, sources: Sequence[Source | None]) -> bool:
        """Whether `rows` of these can be had without dropping any that were handed out before."""
        new = sum(_rounded(s) for s in sources if s is not None and s not in self._known)
        return self._top + new <= self.layout.textures_end

    def _room(self, size: int) -> int:
        if self._top + size > self.layout.textures_end:
            self._known.clear()
            self._top = self.layout.textures
        place = self._top
        self._top += size
        return place


def _rounded(source: Source) -> int:
    """Bytes that a texture's rows take, whole pages."""
    return (4 * source.width * source.height + 0xFFF) & ~0xFFF
