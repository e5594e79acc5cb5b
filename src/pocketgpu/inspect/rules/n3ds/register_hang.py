"""Registers that must not be touched."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "register.hang",
    "an access to a register that hangs the bus, or is none",
    "3DS",
    "error",
    "documented",
    "GBATEK 3DS GPU External Registers, Register Map",
    "Some addresses of the GPU stop the processor that reads or writes them.",
    "Use the registers that the tables name.",
    lambda record: record.tells("external.hang", "external.abort", "external.unmapped"),
)
