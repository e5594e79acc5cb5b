"""Screens without memory."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "display.unmapped",
    "a screen shows addresses where no memory is",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/External Registers, LCD",
    "Framebuffer registers take physical addresses.",
    "Look at address and stride.",
    lambda record: record.tells("display.unmapped"),
)
