"""Commands that are none."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

_IDS = (
    "channel.illegal_entry", "channel.illegal_header", "channel.illegal_method", "channel.unknown_class",
    "channel.semaphore", "inline.too_long", "draw.topology", "draw.outside", "draw.index_size", "draw.count",
)  # fmt: skip


RULE = Rule(
    "switch.illegal",
    "a pushbuffer has entries, classes or values that there are none of",
    "Switch",
    "error",
    "documented",
    "class headers of NVIDIA; Switchbrew, NV services",
    "The channel is put into its error state.",
    "The message names the method.",
    lambda record: record.tells(*_IDS),
)
