"""Targets where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "target.unmapped",
    "a draw without a render target in memory",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/Internal Registers, GPUREG_COLORBUFFER_LOC, GPUREG_FRAMEBUFFER_DIM",
    "The draw is left out here. A console writes to whatever lies at that address.",
    "COLORBUFFER_LOC and DEPTHBUFFER_LOC hold physical addresses divided by 8.",
    lambda record: record.tells("draw.left-out"),
)
