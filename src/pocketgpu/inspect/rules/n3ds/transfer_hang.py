"""Transfers that never end."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "transfer.hang",
    "a transfer or texture copy never ends",
    "3DS",
    "error",
    "seen on hardware",
    "GBATEK 3DS GPU External Registers, Memory Copy; Azahar, hardware tests of texture copies",
    "A copy of no bytes, or one with a gap and no width, raises no interrupt, and the unit stays busy.",
    "Give copies a size of at least 16 bytes, and lines a width where they have a gap.",
    lambda record: record.tells("transfer.hang"),
)
