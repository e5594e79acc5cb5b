"""Fills where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "fill.unmapped",
    "a memory fill leaves memory",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/External Registers, Memory Fill",
    "The unit writes to physical addresses, whatever lies there.",
    "Look at the end of the range.",
    lambda record: record.tells("fill.unmapped"),
)
