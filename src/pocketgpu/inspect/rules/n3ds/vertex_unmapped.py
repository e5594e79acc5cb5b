"""Vertices where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "vertex.unmapped",
    "vertices or indices lie outside memory",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/Internal Registers, GPUREG_ATTRIBBUFFERS_LOC",
    "They read as 0 here. What a console reads there is not known.",
    "Offsets of buffers and indices count from ATTRIBBUFFERS_LOC.",
    lambda record: record.tells("vertex.unmapped"),
)
