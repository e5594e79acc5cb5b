"""Two registers with the size of the target."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        other = draw("RENDERBUF_DIM.width"), draw("RENDERBUF_DIM.height") + 1
        if other != draw.size:
            told = " and ".join(f"{name} is {w}x{h}" for name, (w, h) in
                                (("FRAMEBUFFER_DIM", draw.size), ("RENDERBUF_DIM", other)))  # fmt: skip
            yield draw.found(told)


RULE = Rule(
    "target.sizes",
    "FRAMEBUFFER_DIM and RENDERBUF_DIM differ",
    "3DS",
    "warning",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_RENDERBUF_DIM",
    "The rasteriser has the size of the target in a register of its own. Simulators look at one of the two.",
    "Write the same word to both.",
    look,
)
