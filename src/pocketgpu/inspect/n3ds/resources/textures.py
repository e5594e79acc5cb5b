"""The bound textures of a moment: address, format, and every level of every face.

The texels are those of the machine's own texture cache, so a picture here is what draws would sample.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.formats import BY_NAME, TEXTURE_FORMATS, PixelFormat
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.model.event import Range
from pocketgpu.inspect.model.resources import Texture, TextureFacts, TexturePart
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.pica.memory.surface import texel_index
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.texture.cache import level_start
from pocketgpu.pica.texture.units import CUBE_TYPES
from pocketgpu.pictures import to_image

if TYPE_CHECKING:
    from PIL.Image import Image

UNITS = 3
BLOCK_TEXELS = 16
"""Texels of a block of a compressed format."""
FACES = ("+x", "-x", "+y", "-y", "+z", "-z")
"""The axes of the faces of a cube, in order."""


def part_name(unit: int, level: int = 0, face: int | None = None) -> str:
    """The name of a level of a texture; face: of a cube, None of others."""
    return f"unit{unit}" + (f".face{face}" if face is not None else "") + (f".level{level}" if level else "")


@dataclass(frozen=True, eq=False, repr=False)
class UnitTexture(Texture):
    """A texture of a unit. enabled: the unit is on. kind: from TEXUNIT0_PARAM.type; "2D" for units 1 and 2. places:
    the bytes of each face; empty if the texture reads as black, because its address is 0. parameters: wrapping and
    filters as text. texels: for each face its levels, RGBA (height, width, 4), uint8, row 0 at the top (t = 1)."""

    unit: int
    enabled: bool
    kind: str
    format: str
    width: int
    height: int
    places: tuple[Range, ...]
    parameters: Mapping[str, str]
    texels: tuple[tuple[NDArray[np.uint8], ...], ...]

    @property
    def levels(self) -> int:
        """How many mipmap levels there are, the first one included."""
        return len(self.texels[0])

    @property
    def faces(self) -> int:
        """1, or 6 of a cube."""
        return len(self.texels)

    @property
    def array(self) -> NDArray[np.uint8]:
        """The first level of the first face."""
        return self.texels[0][0]

    @property
    def image(self) -> Image:
        """The same as a picture, with its alpha."""
        return to_image(self.array)

    def pictures(self) -> dict[str, NDArray[np.uint8]]:
        """All levels of all faces, by names such as "unit0", "unit0.level1", "unit0.face5.level2"."""
        return {part.name: self.pixels(part) for part in self.parts}

    @property
    def parts(self) -> tuple[TexturePart, ...]:
        found = []
        for face, levels in enumerate(self.texels):
            for level, texels in enumerate(levels):
                height, width = texels.shape[:2]
                name = part_name(self.unit, level, face if self.faces > 1 else None)
                found.append(TexturePart(name, width, height, level, face))
        return tuple(found)

    def pixels(self, part: TexturePart) -> NDArray[np.uint8]:
        return self.texels[part.layer][part.level]

    @property
    def _pixel(self) -> PixelFormat:
        return BY_NAME[self.format]

    @property
    def texel_bytes(self) -> int:
        return self._pixel.block_bytes or max(1, self._pixel.bits // 8)

    @property
    def memory_size(self) -> int:
        return sum(place.size for place in self.places)

    def addresses(self, part: TexturePart) -> NDArray[np.int64]:
        if part.layer >= len(self.places):
            raise UsageError(f"{part.name} is not in memory", location=part.name)
        start = self.places[part.layer].address + level_start(self._pixel, self.width, self.height, part.level)
        number = texel_index(part.width, part.height, "tiled").astype(np.int64)
        # Texels of a block of 4 x 4 have consecutive numbers.
        block = self._pixel.block_bytes
        return start + (number // BLOCK_TEXELS * block if block else number * self._pixel.bits // 8)

    @property
    def facts(self) -> TextureFacts:
        return TextureFacts(
            part_name(self.unit), f"unit {self.unit}", self.enabled, self.kind, self.format, self.width, self.height,
            layers=self.faces, levels=self.levels, address=self.places[0].address if self.places else None,
            settings=self.parameters,
        )  # fmt: skip


def textures_of(machine: N3DS, registers: NDArray[np.uint32]) -> dict[int, UnitTexture]:
    """Textures by unit, for units whose texture has a size and memory. registers: 0x300 words."""
    cache, get = machine.textures, StaticRegisters(RegisterWords(registers))
    found = {}
    for unit in range(UNITS):
        source = cache.describe(registers, unit)
        if source is None:
            continue
        enabled = bool(get(f"TEXUNIT_CONFIG.unit{unit}_enable"))
        kinds = PICA["TEXUNIT0_PARAM"]["type"].enum or {}
        code = get("TEXUNIT0_PARAM.type") if unit == 0 else 0
        # A cube needs all faces; without memory for all of them, it has only the first.
        assert code not in CUBE_TYPES or len(source.faces) == len(FACES)
        at = cache.rows(source)
        texels = []
        for _ in source.faces:
            levels = []
            for n in range(source.levels):
                width, height = source.level(n)
                words = machine.memory.arena[at : at + 4 * width * height].view("<u4")
                # 0xRRGGBBAA: the bytes in the order of their weight are red, green, blue, alpha.
                rgba = words.astype(">u4").view(np.uint8).reshape(height, width, 4)
                levels.append(np.ascontiguousarray(rgba[::-1]))
                at += 4 * width * height
            texels.append(tuple(levels))
        places = [(machine.memory.address_of(face), source.size) for face in source.faces if not source.blank]
        words_of = {
            part: _named(f"TEXUNIT{unit}_PARAM", part, get)
            for part in ("wrap_s", "wrap_t", "mag_filter", "min_filter", "mip_filter")
        }
        found[unit] = UnitTexture(
            unit, enabled, kinds.get(code, f"code {code}") if unit == 0 else "2D", TEXTURE_FORMATS[source.format].name,
            source.width, source.height, tuple(Range(address, size) for address, size in places if address is not None),
            words_of, tuple(texels),
        )  # fmt: skip
    return found


def _named(register: str, part: str, get: StaticRegisters) -> str:
    names, raw = PICA[register][part].enum or {}, get(f"{register}.{part}")
    return names.get(raw, f"code {raw}")
