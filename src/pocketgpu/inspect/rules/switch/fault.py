"""Faults of programs."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "switch.fault",
    "a program reads or writes where it must not",
    "Switch",
    "error",
    "documented",
    "Switchbrew, NV services (error notifiers); envytools, GF100 traps",
    "Misaligned accesses and addresses that are not mapped end the program with an exception.",
    "The message names the instruction and the thread.",
    lambda record: record.tells("compute.fault", "draw.fault", "compute.launch", "draw.refused"),
)
