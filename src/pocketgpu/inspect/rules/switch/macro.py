"""Macros that do what the macro engine cannot."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

_IDS = (
    "mme.missing_parameter", "mme.leftover_parameter", "mme.branch_in_slot", "mme.instruction", "mme.host_method",
    "mme.nested_call", "mme.ram",
)  # fmt: skip

RULE = Rule(
    "switch.macro",
    "a macro gets too few or too many parameters, or does what the macro engine cannot",
    "Switch",
    "warning",
    "inferred",
    "class header clb197.h, CALL_MME_MACRO; envytools, MME instruction set",
    "A macro that waits for a parameter stops its channel; what else it does then is not known.",
    "Send as many parameters as the macro fetches; `pocketgpu macro dis` shows it.",
    lambda record: record.tells(*_IDS),
)
