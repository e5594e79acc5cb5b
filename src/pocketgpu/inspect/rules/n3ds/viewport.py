"""Rules about the viewport and the scissor."""

from __future__ import annotations

from collections.abc import Iterator

from pocketgpu.events import sized
from pocketgpu.facts.pica_enums import SCISSOR
from pocketgpu.inspect.model.rules import Found, RuleSet
from pocketgpu.inspect.rules.n3ds.record import N3dsRecord

RULES = RuleSet("3DS")


@RULES.rule(
    "viewport.outside",
    "a viewport that is not inside the render target",
    severity="warning",
    confidence="inferred",
    source="3dbrew GPU/Internal Registers, GPUREG_VIEWPORT_XY, GPUREG_FRAMEBUFFER_DIM",
    explanation="Pixels outside of the target are not drawn; without a scissor a console may write there.",
    hint="Targets of screens are rotated: they are 240 wide.",
)
def viewport_outside(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if isinstance(draw.target, str):
            continue
        x, y = (int(draw.value(f"VIEWPORT_XY.{axis}")) for axis in "xy")
        width, height = 2 * draw.value("VIEWPORT_WIDTH.value"), 2 * draw.value("VIEWPORT_HEIGHT.value")
        across, up = draw.size
        text = f"the viewport, {sized(width, height)} at {x}, {y} (VIEWPORT_XY),"
        if not (width > 0 and height > 0):
            yield draw.found(f"{text} has no area (VIEWPORT_WIDTH, VIEWPORT_HEIGHT)")
        elif x >= across or y >= up or x + width <= 0 or y + height <= 0:
            yield draw.found(f"{text} lies outside of the target of {sized(across, up)}")
        elif x < 0 or y < 0 or x + width > across + 0.5 or y + height > up + 0.5:
            yield draw.found(f"{text} reaches over the edge of the target of {sized(across, up)}")


_NEAR = 1 / 256


@RULES.rule(
    "viewport.inverse",
    "VIEWPORT_INVW or VIEWPORT_INVH does not fit the viewport's size",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_VIEWPORT_INVW",
    explanation=(
        "Simulators read only the width. The console converts pixels back to clip space by these registers."
    ),
    hint="Write 2 / width and 2 / height, as 31-bit floats in bits 1 to 31.",
)
def viewport_inverse(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        for size, inverse in (("VIEWPORT_WIDTH", "VIEWPORT_INVW"), ("VIEWPORT_HEIGHT", "VIEWPORT_INVH")):
            half, given = draw.value(f"{size}.value"), draw.value(f"{inverse}.value")
            if half > 0 and not abs(given * half - 1) < _NEAR:
                yield draw.found(f"{inverse} is {given:.6g}, and 2 / {2 * half:g} would be {1 / half:.6g}")


@RULES.rule(
    "scissor.empty",
    "a scissor rectangle that keeps no pixel",
    severity="warning",
    confidence="documented",
    source="3dbrew GPU/Internal Registers, GPUREG_SCISSORTEST_POS, GPUREG_SCISSORTEST_DIM",
    explanation="The registers hold two corners, both inside of the rectangle, not a corner and a size.",
    hint="Write the last column and row to SCISSORTEST_DIM.",
)
def scissor_empty(record: N3dsRecord) -> Iterator[Found]:
    for draw in record.draws:
        if draw("SCISSORTEST_MODE.mode") != SCISSOR.INSIDE:
            continue
        x1, y1 = draw("SCISSORTEST_POS.x1"), draw("SCISSORTEST_POS.y1")
        x2, y2 = draw("SCISSORTEST_DIM.x2"), draw("SCISSORTEST_DIM.y2")
        width, height = draw.size
        if x2 < x1 or y2 < y1 or x1 >= width or y1 >= height:
            target = sized(width, height)
            yield draw.found(f"the scissor keeps {x1}, {y1} to {x2}, {y2} of a target of {target}: nothing")
