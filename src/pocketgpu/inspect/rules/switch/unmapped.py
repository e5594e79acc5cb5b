"""Accesses where nothing is mapped."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

_IDS = (
    "memory.unmapped", "engine.range", "channel.unmapped_pushbuffer", "channel.semaphore_unmapped",
    "present.unmapped", "dma.transfer", "channel.constant_unmapped",
)  # fmt: skip


RULE = Rule(
    "switch.unmapped",
    "an engine reads or writes addresses where nothing is mapped",
    "Switch",
    "error",
    "documented",
    "Switchbrew, NV services (nvgpu address spaces); deko3d",
    "The GPU raises a fault, and the channel is put into its error state.",
    "Map the memory before the submission, and keep it mapped until that has ended.",
    lambda record: record.tells(*_IDS),
)
