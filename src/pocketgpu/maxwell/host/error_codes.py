"""The codes that a system's driver notes of a channel's errors, by the events that the machine reports.

Source of the codes: NVIDIA's public nvgpu.h.
"""

from __future__ import annotations

from typing import Final

TIMED_OUT: Final = 8
ILLEGAL: Final = 13
PAGE_FAULT: Final = 31
DEADLOCK: Final = "channel.deadlock"
"""The event of a channel whose wait nothing can release."""


def error_code(event: str) -> int:
    """The code of a fault or hang, by the event's id."""
    if event == DEADLOCK:
        return TIMED_OUT
    return PAGE_FAULT if "unmapped" in event else ILLEGAL


__all__ = ["DEADLOCK", "ILLEGAL", "PAGE_FAULT", "TIMED_OUT", "error_code"]
