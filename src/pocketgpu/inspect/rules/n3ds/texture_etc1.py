"""The bits that say ETC1 a second time."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.formats import TEXTURE_FORMATS
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_MARK = 2


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for unit in draw.texture_units:
            format = TEXTURE_FORMATS.get(draw(f"TEXUNIT{unit}_TYPE.format"))
            mark, wanted = draw(f"TEXUNIT{unit}_PARAM.etc1"), _MARK * (format is not None and format.name == "ETC1")
            if format is not None and mark != wanted:
                yield draw.found(f"TEXUNIT{unit}_PARAM.etc1 is {mark} for a texture of format {format.name}")


RULE = Rule(
    "texture.etc1",
    "TEXUNIT_PARAM does not say ETC1 as the format does",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_TEXUNIT0_PARAM",
    "Drivers write 2 to bits 4 and 5 for ETC1 and 0 for all else. Simulators do not look at them.",
    "Write 2 for ETC1 (not for ETC1A4) and 0 for other formats.",
    look,
)
