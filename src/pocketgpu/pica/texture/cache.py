"""The cache of decoded textures: rows are kept while the guest memory they came from is unchanged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from pocketgpu.arena import BLOCK, LARGE_PAGE
from pocketgpu.facts.choices import departures
from pocketgpu.facts.formats import TEXTURE_FORMATS, PixelFormat
from pocketgpu.facts.pica_enums import TEXTURE_FORMAT
from pocketgpu.lanes import Engine
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import WorkLayout
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.memory.guest import GuestMemory
from pocketgpu.pica.texture.decode import decoder
from pocketgpu.pica.texture.units import CUBE_TYPES, LEVELS, SHADOW_TYPES


@dataclass(frozen=True, slots=True)
class TextureSource:
    """A texture in guest memory: the arena offset and size in bytes of each face, format number, width and height,
    number of levels.

    blank: its addresses are unmapped; every texel is opaque black.
    """

    faces: tuple[int, ...]
    size: int
    format: int
    width: int
    height: int
    levels: int
    blank: bool = False

    @property
    def power_of_two(self) -> bool:
        return self.width & (self.width - 1) == 0 and self.height & (self.height - 1) == 0

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Arena ranges that the texture is read from."""
        return [] if self.blank else [(face, self.size) for face in self.faces]

    def level(self, number: int) -> tuple[int, int]:
        """Width and height of a level."""
        return self.width >> number, self.height >> number

    @property
    def level_words(self) -> list[int]:
        """Words of each decoded level."""
        return [w * h for w, h in map(self.level, range(self.levels))]


_FIELDS = ("ADDR.address", "TYPE.format", "DIM.width", "DIM.height", "LOD.max_level", "PARAM.type")
_UNIT_FIELDS = [
    [field(f"TEXUNIT{unit}_{name}") for name in (_FIELDS if unit == 0 else _FIELDS[:-1])] for unit in range(3)
]
_CUBE_FIELDS = [field(f"TEXUNIT0_ADDR{face}.address") for face in range(2, 7)]
_ALL_FIELDS = {f.register.offset for unit in _UNIT_FIELDS for f in unit} | {f.register.offset for f in _CUBE_FIELDS}
UNIT_IDS = np.array(sorted(_ALL_FIELDS), np.int64)
"""Register ids that describe the textures of all units."""
_LARGE = 512 * 1024
"""Bytes of rows from which large pages of the host are faster than small ones, even if a part stays unused."""
_OPAQUE_BLACK = 0x000000FF


@dataclass(slots=True)
class _DecodedFaces:
    """The place of the rows, the memory versions they are valid for, and the bytes of each face they were decoded
    from. Bytes of large textures are kept from the second time on: most are decoded once."""

    place: int
    versions: tuple[int, ...]
    texels: list[list[bytes]]


class TextureCache:
    """Rows of decoded textures in the work area.

    When the cache is full all rows are dropped; call `fits` first while waiting draws use rows returned before.
    """

    def __init__(self, memory: GuestMemory, engine: Engine, layout: WorkLayout, choices: Mapping[str, str]) -> None:
        self._choices = departures(choices, "texture.expand")
        self._blank_at_null = choices["texture.null_address"] == "black"
        self.memory, self.engine, self.layout = memory, engine, layout
        self._top = layout.textures
        self.generation = 0  # how often all rows were dropped
        self._known: dict[TextureSource, _DecodedFaces] = {}
        self.described: dict[tuple[int, ...], TextureSource | None] = {}

    def describe(self, registers: np.ndarray | Mapping[int, int], unit: int) -> TextureSource | None:
        """The texture in a unit's registers, by number; None if it has no texels or is not all in memory."""
        fields = _UNIT_FIELDS[unit]
        words = tuple(int(registers[f.register.offset]) for f in fields)
        values = [f.field.raw(w) for f, w in zip(fields, words, strict=True)]
        cube = unit == 0 and values[-1] in CUBE_TYPES
        if cube:
            words += tuple(int(registers[f.register.offset]) for f in _CUBE_FIELDS)
        key = (unit, *words)
        if key not in self.described:
            addresses = [values[0]]
            if cube:
                # The other faces have fewer address bits; the upper bits come from the first face.
                narrow = _CUBE_FIELDS[0].field.mask
                rest = [f.field.raw(w) for f, w in zip(_CUBE_FIELDS, words[-5:], strict=True)]
                addresses += [(values[0] & ~narrow) | a for a in rest]
            if unit == 0 and values[-1] in SHADOW_TYPES:
                # Shadow texels are 32-bit words in any format; decoding as RGBA8 keeps every bit. They have no levels.
                values[1], values[4] = TEXTURE_FORMAT.RGBA8, 0
            self.described[key] = self._make([a * fields[0].scale for a in addresses], *values[1:5])
        return self.described[key]

    def _make(
        self, addresses: Sequence[int], format: int, width: int, height: int, highest: int
    ) -> TextureSource | None:
        pixel = TEXTURE_FORMATS.get(format)
        if pixel is None or width < 8 or height < 1:
            return None
        levels = 1
        # Levels smaller than a tile do not exist in memory.
        while levels <= highest and levels < LEVELS and min(width, height) >> levels >= 8:
            levels += 1
        size = level_start(pixel, width, height, levels)
        if not addresses[0] and self._blank_at_null:
            return TextureSource((0,) * len(addresses), size, format, width, height, levels, blank=True)
        faces = [self.memory.offset_of(address, size) for address in addresses]
        if any(face is None for face in faces):
            return None
        return TextureSource(tuple(face for face in faces if face is not None), size, format, width, height, levels)

    def rows(self, source: TextureSource) -> int:
        """Arena offset of the decoded rows; decodes first if memory changed since."""
        newest = tuple(self.memory.newest(face, source.size) for face in source.faces)
        known = self._known.get(source)
        if known is not None:
            if known.versions == newest:
                return known.place
            # A page gets a new version for any change, even outside the texture. Comparing is much cheaper than
            # decoding.
            if known.texels and all(map(self.memory.holds, source.faces, known.texels)):
                known.versions = newest
                return known.place
        place = known.place if known is not None else self._room(_rounded(source))
        if source.blank:
            self.memory.arena[place : place + _rounded(source)].view("<u4")[:] = _OPAQUE_BLACK
        else:
            self._decode(source, place)
        keep = not source.blank and (known is not None or source.size <= BLOCK)
        texels = [self.memory.copied(face, source.size) for face in source.faces] if keep else []
        self._known[source] = _DecodedFaces(place, newest, texels)
        return place

    def _decode(self, source: TextureSource, target: int) -> None:
        pixel = TEXTURE_FORMATS[source.format]
        for start in source.faces:
            for level in range(source.levels):
                width, height = source.level(level)
                code, static = decoder(source.format, width, height, self._choices)
                run = self.engine.get(code, **static)
                run(start, target, width, height)
                start += pixel.size(_texels(width, height), 1)
                target += 4 * width * height

    def fits(self, sources: Iterable[TextureSource]) -> bool:
        """Whether `rows` works for these without dropping rows that were returned before."""
        new = sum(_rounded(s) for s in sources if s not in self._known)
        return self._top + new <= self.layout.textures_end

    def drop(self) -> None:
        """Drop all rows."""
        self._known.clear()
        self._top = self.layout.textures
        self.generation += 1

    def _room(self, size: int) -> int:
        if self._top + size > self.layout.textures_end:
            self.drop()
        place = self._top
        self._top += size
        if size >= _LARGE:
            self.memory.prefer_large_pages(place, max(size, LARGE_PAGE))
        self.memory.populate(place, size)
        return place


def _texels(width: int, height: int) -> int:
    """Texels in memory up to the end of the last tile used (widths that are not whole tiles overlap)."""
    return (((height - 1) >> 3) * (width >> 3) + ((width - 1) >> 3) + 1) * 64


def level_start(pixel: PixelFormat, width: int, height: int, level: int) -> int:
    """Bytes from the first texel of a texture to a level. width, height: of the first level."""
    return sum(pixel.size(_texels(width >> n, height >> n), 1) for n in range(level))


def _rounded(source: TextureSource) -> int:
    """Bytes of a texture's rows, in whole pages."""
    return (4 * len(source.faces) * sum(source.level_words) + 0xFFF) & ~0xFFF
