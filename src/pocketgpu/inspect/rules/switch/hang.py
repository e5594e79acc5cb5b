"""Work that never ends."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

_IDS = ("compute.hang", "draw.hang", "compute.chain", "mme.endless", "channel.words")


RULE = Rule(
    "switch.hang",
    "a program, a macro or a pushbuffer does not come to an end",
    "Switch",
    "error",
    "documented",
    "Switchbrew, NV services (channel timeouts)",
    "The system resets the channel after some seconds.",
    "Look at loops, and at barriers that not all warps reach.",
    lambda record: record.tells(*_IDS),
)
