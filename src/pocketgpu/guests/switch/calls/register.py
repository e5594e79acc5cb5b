"""The supervisor calls of the Switch that are modelled; see `kernel/calls.py`."""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.switch.supervisor import CALLS
from pocketgpu.guests.kernel.calls import CallTable, Reply
from pocketgpu.guests.switch.abi.results import Result

__all__ = ["MODELLED", "Reply", "call"]

MODELLED: Final = CallTable(CALLS, Result.INVALID_POINTER)
call: Final = MODELLED.call
