"""Textures of odd sizes."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_LEAST, _MOST = 8, 1024


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in draw.texture_units:
            width, height = (draw(f"TEXUNIT{unit}_DIM.{name}") for name in ("width", "height"))
            if any(side & (side - 1) or not _LEAST <= side <= _MOST for side in (width, height)):
                yield draw.found(f"the texture of unit {unit} is {width}x{height} (TEXUNIT{unit}_DIM)")
            levels = draw(f"TEXUNIT{unit}_LOD.max_level")
            if levels and min(width, height) >> levels < _LEAST:
                yield draw.found(f"the texture of unit {unit} is {width}x{height} and has {levels} smaller levels")


RULE = Rule(
    "texture.size",
    "a texture whose sides are no powers of two from 8 to 1024",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_DIM, GPUREG_TEXUNIT0_LOD",
    "The unit makes addresses of bits, and the smallest level that memory holds has 8x8 texels.",
    "Pad the texture to the next power of two.",
    look,
)
