"""Commands that the system software does not take."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "gx.refused",
    "the system software refuses a GX command",
    "3DS",
    "error",
    "documented",
    "3dbrew GSP Shared Memory",
    "Addresses and sizes must be multiples of 8 and lie in memory that the GPU reaches. The queue stops "
    "at the command.",
    "The message names the word.",
    lambda record: record.tells("gsp.refused"),
)
