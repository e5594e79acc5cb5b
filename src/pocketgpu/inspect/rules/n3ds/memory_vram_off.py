"""Video memory without power."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "memory.vram-off",
    "video memory is switched off",
    "3DS",
    "warning",
    "documented",
    "GBATEK 3DS GPU External Registers, VRAM power",
    "A bank that is off loses what it holds.",
    "Write 0 to VRAM_POWER.",
    lambda record: record.tells("vram.off"),
)
