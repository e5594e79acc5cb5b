"""Pictures shown too early."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "switch.fence",
    "a surface is shown before its fence is reached",
    "Switch",
    "warning",
    "documented",
    "libnx, NvMultiFence of a queued buffer",
    "The fence is never reached with what was submitted: the screen would wait, or show an old picture.",
    "Increment the syncpoint at the end of the submission that draws the surface.",
    lambda record: record.tells("present.fence"),
)
