"""A format with the wrong size."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.facts.formats import FRAMEBUFFER_COLOR_FORMATS
from pocketgpu.facts.pica_enums import PIXEL_SIZE
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule

_BITS = {PIXEL_SIZE.BITS_16: 16, PIXEL_SIZE.BITS_24: 24, PIXEL_SIZE.BITS_32: 32}


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        format = FRAMEBUFFER_COLOR_FORMATS.get(draw("COLORBUFFER_FORMAT.format"))
        bits = _BITS.get(draw("COLORBUFFER_FORMAT.pixel_size"))
        if format is None:
            yield draw.found(f"COLORBUFFER_FORMAT.format is {draw('COLORBUFFER_FORMAT.format')}, which is no format")
        elif bits != format.bits:
            yield draw.found(f"COLORBUFFER_FORMAT.pixel_size says {bits or 'nothing known'} bits for {format.name}")


RULE = Rule(
    "target.pixel-size",
    "COLORBUFFER_FORMAT has a size that its format does not have",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_COLORBUFFER_FORMAT",
    "Simulators look at the format alone; the console's memory unit at the size.",
    "Write 2 for RGBA8, 1 for RGB8 and 0 for formats of 16 bits.",
    look,
)
