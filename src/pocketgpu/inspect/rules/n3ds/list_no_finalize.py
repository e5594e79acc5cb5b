"""A list that never says that it is done."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "list.no-finalize",
    "a command list ends without FINALIZE",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Internal Registers, GPUREG_FINALIZE",
    "The interrupt P3D comes of a write to FINALIZE. Without it the system software waits for ever.",
    "End the list with FINALIZE = 0x12345678, inside of its last 16 bytes.",
    lambda record: record.tells("list.no-finalize"),
)
