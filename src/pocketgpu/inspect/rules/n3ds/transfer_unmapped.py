"""Transfers where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "transfer.unmapped",
    "a transfer or texture copy leaves memory",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/External Registers, Transfer Engine",
    "The unit reads and writes physical addresses, whatever lies there.",
    "Look at addresses, sizes and gaps.",
    lambda record: record.tells("transfer.fault"),
)
