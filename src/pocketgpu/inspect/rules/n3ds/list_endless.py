"""A list that jumps in circles, or draws for ever."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "list.endless",
    "a command list does not come to an end",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Internal Registers, Command List",
    "A jump drops the rest of the running list, and there is no return: lists that lead to each other run for ever.",
    "Set the address and the size of the list to go on with before each jump.",
    lambda record: record.tells("list.endless"),
)
