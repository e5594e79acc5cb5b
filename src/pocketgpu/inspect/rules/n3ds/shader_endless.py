"""A program that hangs on its data."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "shader.endless",
    "a shader program that does not come to an end",
    "3DS",
    "error",
    "documented",
    "3dbrew GPU/Shader Instruction Set, Control Flow",
    "The console has no limit of instructions: the unit never takes the next vertex.",
    "Look at the loop's integer uniform and at jumps back.",
    lambda record: record.tells("shader.endless"),
)
