"""Supervisor calls of the Switch: numbers, names, and which registers carry what.

    call = CALLS[0x08]
    call.name, call.arguments  # "CreateThread", (Argument("entry", 1, ...), ...)

The rows are in supervisor_calls.tsv. What the calls do is in pocketgpu.guests.switch.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.dialect.supervisor import SupervisorCall, read_calls
from pocketgpu.facts.switch import TABLES

CALLS: Final[Mapping[int, SupervisorCall]] = read_calls(TABLES)
"""All calls by number."""
