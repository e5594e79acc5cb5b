"""The whole state of a machine, kept and brought back: memory, registers, banks, what units carry between draws.

Memory is kept by its snapshots, which share pages that did not change; the rest is some 200 KiB. What was prepared for
draws (code, decoded textures) is not state, it is looked up again by contents and versions.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Snapshot
from pocketgpu.pica.core.layout import (
    BANKS,
    CONTROL,
    EMIT_SLOTS,
    EXTERNAL_WORDS,
    MAX_RECORDS,
    REGISTER_COUNT,
    VERTEX_SIZE,
    WorkLayout,
)
from pocketgpu.pica.display.screens import ColorTable
from pocketgpu.pica.memory.guest import GuestMemory

if TYPE_CHECKING:
    from pocketgpu.pica.external.registers import ExternalRegisters
    from pocketgpu.pica.front.draws import Core3D


def _areas(layout: WorkLayout) -> list[tuple[int, int]]:
    """(offset, size) of what the core and the external registers keep in the work area."""
    return [
        (layout.control, CONTROL.size),
        (layout.registers, 4 * REGISTER_COUNT),
        (layout.external, 4 * EXTERNAL_WORDS),
        (layout.banks[0], layout.banks[-1] + 4 * BANKS[-1].words - layout.banks[0]),
        (layout.carry, 4 * VERTEX_SIZE),
        # the unit, and after it the uniforms and vertices that a geometry program finds there from the draw before
        (layout.geometry, layout.geometry_in - layout.geometry),
        (layout.vertices + VERTEX_SIZE * MAX_RECORDS, VERTEX_SIZE * EMIT_SLOTS),
    ]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A machine's state; get one with `N3DS.checkpoint`.

    memory: the guest's. areas: copies of ranges of the work area, by arena offset. lcd: words of the LCD registers.
    interrupts: those that nobody has taken yet. moved: bytes by traffic counter. tables: the displays' colour tables.
    vram_off: banks of video memory that are switched off. frame, place: where in the capture.
    """

    memory: Snapshot
    areas: dict[int, NDArray[np.uint8]]
    lcd: NDArray[np.uint32]
    interrupts: dict[str, int]
    moved: dict[str, int]
    tables: tuple[ColorTable, ColorTable]
    vram_off: tuple[str, ...]
    frame: int
    place: str

    @classmethod
    def take(cls, memory: GuestMemory, core: Core3D, external: ExternalRegisters, frame: int) -> Checkpoint:
        """Keep the state of a machine's parts."""
        areas = {at: memory.arena[at : at + size].copy() for at, size in _areas(core.layout)}
        return cls(
            memory.snapshot(), areas, external.lcd.copy(), dict(external.interrupts), dict(external.moved),
            deepcopy(external.luts), external.vram.off, frame, core.place,
        )  # fmt: skip

    def bytes_beside(self, other: Checkpoint) -> int:
        """How many bytes it keeps that another does not share."""
        return self.memory.bytes_beside(other.memory) + sum(area.nbytes for area in self.areas.values())

    def restore(self, memory: GuestMemory, core: Core3D, external: ExternalRegisters) -> int:
        """Bring the parts back to this state; returns the number of the frame.

        :raises UsageError: the state was kept of another machine.
        """
        memory.restore(self.memory)
        for at, data in self.areas.items():
            memory.arena[at : at + len(data)] = data
        external.lcd[:] = self.lcd
        external.rest()
        external.interrupts, external.moved = dict(self.interrupts), dict(self.moved)
        for table, as_it_was in zip(external.luts, self.tables, strict=True):
            table.copy_from(as_it_was)
        external.vram.off = self.vram_off
        core.place = self.place
        core.runner.rewind()
        return self.frame

    def __repr__(self) -> str:
        return f"Checkpoint({len(self.memory.pages)} pages, {self.place})"
