"""A viewport beside the target."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.inspect.rules.n3ds.record import N3dsRecord
from pocketgpu.inspect.rules.rule import Found, Rule


def look(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if isinstance(draw.target, str):
            continue
        x, y = (int(draw.value(f"VIEWPORT_XY.{axis}")) for axis in "xy")
        width, height = 2 * draw.value("VIEWPORT_WIDTH.value"), 2 * draw.value("VIEWPORT_HEIGHT.value")
        across, up = draw.size
        text = f"the viewport, {width:g}x{height:g} at {x}, {y} (VIEWPORT_XY),"
        if not (width > 0 and height > 0):
            yield draw.found(f"{text} has no area (VIEWPORT_WIDTH, VIEWPORT_HEIGHT)")
        elif x >= across or y >= up or x + width <= 0 or y + height <= 0:
            yield draw.found(f"{text} lies outside of the target of {across}x{up}")
        elif x < 0 or y < 0 or x + width > across + 0.5 or y + height > up + 0.5:
            yield draw.found(f"{text} reaches over the edge of the target of {across}x{up}")


RULE = Rule(
    "viewport.outside",
    "a viewport that does not lie in the render target",
    "3DS",
    "warning",
    "inferred",
    "3dbrew GPU/Internal Registers, GPUREG_VIEWPORT_XY, GPUREG_FRAMEBUFFER_DIM",
    "Pixels outside of the target are not drawn; without a scissor a console may write beside it.",
    "Targets of screens stand on their side: they are 240 wide.",
    look,
)
