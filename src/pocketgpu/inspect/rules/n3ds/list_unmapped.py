"""A list where no memory is."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "list.unmapped",
    "a command list, or the target of a jump, lies where no memory is",
    "3DS",
    "error",
    "documented",
    "3dbrew Memory layout; GPU/Internal Registers, GPUREG_CMDBUF_ADDR",
    "The unit takes physical addresses. What it reads outside of memory are no commands.",
    "Give the physical address divided by 8, and the size of the whole list.",
    lambda record: record.tells("list.unmapped", "list.unmapped-jump"),
)
