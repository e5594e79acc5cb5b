"""Supervisor calls of the 3DS: numbers, names, and which registers carry what.

    call = CALLS[0x08]
    call.name, call.arguments  # "CreateThread", (Argument("priority", 0, None), ...)

The rows are in n3ds/supervisor_calls.tsv. What the calls do is in pocketgpu.guests.n3ds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pocketgpu.facts.dialect.supervisor import Argument, SupervisorCall, read_calls
from pocketgpu.facts.n3ds import TABLES

__all__ = ["CALLS", "Argument", "SupervisorCall"]

CALLS: Final[Mapping[int, SupervisorCall]] = read_calls(TABLES)
"""All calls by number."""
