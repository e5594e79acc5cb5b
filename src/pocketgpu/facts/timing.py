"""Durations: clocks of the chip, and the cost of each unit's work in them.

All durations are in cycles of the old model's CPU clock, from which the display's clocks are divided. Rates of units
are
rough: some were measured by others in programs, the rest are assumptions of this model, and each says which. They
affect when an interrupt comes, never the final contents of memory.
"""

from __future__ import annotations

from typing import Final

from pocketgpu.facts.dialect.registers import Certainty
from pocketgpu.late_dataclass import dataclass

CPU_CLOCK: Final = 268_111_856
"""Cycles per second. Source: 3dbrew GPU/External Registers (VTotal), GBATEK."""

PIXEL_DIVIDER: Final = 24
"""CPU cycles per pixel clock. Source: 3dbrew GPU/External Registers (VTotal)."""
FAST_PIXEL_DIVIDER: Final = 12
"""The same for the top screen when each of its 800 lines is sent. Source: GBATEK; a public driver's formula."""

FRAME_CYCLES: Final = PIXEL_DIVIDER * 451 * 414
"""Cycles of a frame with the system software's timing, 59.83 per second."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A cost: `cycles` CPU cycles for `amount` units (bytes, words, triangles, pixels)."""

    amount: int
    cycles: float
    source: str
    certainty: Certainty

    def cost(self, count: int) -> int:
        """Whole cycles for `count` units."""
        return int(count * self.cycles / self.amount)


def _throughput(bytes_per_second: float, source: str, certainty: Certainty) -> Rate:
    return Rate(1, CPU_CLOCK / bytes_per_second, source, certainty)


_MIB = 1 << 20

FILL: Final = Rate(16, 2.0, "one 16-byte store a bus cycle, which is half the CPU's; not measured", Certainty.UNKNOWN)
"""Memory fill, by the bytes written."""

TRANSFER: Final = _throughput(450 * _MIB, "measured in programs, by Azahar", Certainty.ONE_PEER)
"""Display transfer and texture copy, by the larger of bytes read and bytes written; between main memories."""
TRANSFER_VRAM: Final = _throughput(3100 * _MIB, "measured in programs, by Azahar", Certainty.ONE_PEER)
"""The same with one side in video memory."""
TRANSFER_VRAM_ONLY: Final = _throughput(5400 * _MIB, "measured in programs, by Azahar", Certainty.ONE_PEER)
"""The same within video memory."""

COMMAND: Final = Rate(2, CPU_CLOCK * 22e-9, "measured in programs, by Azahar", Certainty.ONE_PEER)
"""Command list, by words: 22 ns per pair."""
TRIANGLE: Final = Rate(1, CPU_CLOCK * 0.4e-6, "measured in programs, by Azahar", Certainty.ONE_PEER)
"""Vertices and set-up, by drawn triangles."""
FRAGMENT: Final = Rate(4, 1.0, "four pixels a clock in the maker's leaflet of the PICA200", Certainty.UNKNOWN)
"""Fragments; they overlap with commands and triangles, so the longer of both counts."""

UNIT_LATENCY: Final = 512
"""Cycles from start to end of a unit without any work; chosen here."""

READ_CYCLES: Final = 32
"""Cycles that the processor needs to read a register; chosen here, so that time passes in polling loops."""


__all__ = [
    "COMMAND",
    "CPU_CLOCK",
    "FAST_PIXEL_DIVIDER",
    "FILL",
    "FRAGMENT",
    "FRAME_CYCLES",
    "PIXEL_DIVIDER",
    "READ_CYCLES",
    "TRANSFER",
    "TRANSFER_VRAM",
    "TRANSFER_VRAM_ONLY",
    "TRIANGLE",
    "UNIT_LATENCY",
    "Rate",
]


def __dir__() -> list[str]:
    return [*__all__]
