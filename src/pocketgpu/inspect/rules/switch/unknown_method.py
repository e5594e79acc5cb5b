"""Methods that no table has."""

from __future__ import annotations

from pocketgpu.inspect.rules.rule import Rule

RULE = Rule(
    "switch.unknown-method",
    "a pushbuffer writes methods that the class does not have",
    "Switch",
    "warning",
    "inferred",
    "class headers of NVIDIA, which leave some methods out",
    "They have no effect here. A header that is out of step with its data looks like that, too.",
    "Compare the word with the class's header.",
    lambda record: record.tells("channel.unknown_method"),
)
