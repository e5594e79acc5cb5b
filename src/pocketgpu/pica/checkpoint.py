"""Checkpoints: the whole state of a machine (memory, registers, banks, units between draws), saved and restored.

Memory uses the arena's snapshots, which share unchanged pages; the rest is about 200 KiB. Prepared draw state (code,
decoded textures) is not saved: it is found again by contents and versions.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import Snapshot
from pocketgpu.late_dataclass import dataclass
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


_STEPS = slice(CONTROL.SHADER_STEPS, CONTROL.SHADER_STEPS_LOW + 4)
"""Bytes of the control area that count the steps of the shader interpreter in the last submission, as two words."""


def _areas(layout: WorkLayout) -> list[tuple[int, int]]:
    """(offset, size) of the state of the core and the external registers in the work area."""
    return [
        (layout.control, CONTROL.size),
        (layout.registers, 4 * REGISTER_COUNT),
        (layout.external, 4 * EXTERNAL_WORDS),
        (layout.banks[0], layout.banks[-1] + 4 * BANKS[-1].words - layout.banks[0]),
        (layout.carry, 4 * VERTEX_SIZE),
        # the unit, then the uniforms and vertices that the next draw's geometry program reads
        (layout.geometry, layout.geometry_in - layout.geometry),
        (layout.vertices + VERTEX_SIZE * MAX_RECORDS, VERTEX_SIZE * EMIT_SLOTS),
    ]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A machine's state; get one with `N3DS.checkpoint`.

    memory: the guest's. areas: copies of ranges of the work area, by arena offset. lcd: words of the LCD registers.
    interrupts: those not taken yet. moved: bytes by traffic counter. tables: the displays' colour tables. vram_off:
    banks of video memory that are off. frame, place: where in the capture.
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
        """Save the state of a machine's parts."""
        areas = {at: memory.arena[at : at + size].copy() for at, size in _areas(core.layout)}
        return cls(
            memory.snapshot(), areas, external.lcd.copy(), dict(external.interrupts), dict(external.moved),
            deepcopy(external.luts), external.vram.off, frame, core.place,
        )  # fmt: skip

    def bytes_beside(self, other: Checkpoint) -> int:
        """The bytes it holds that are not shared with another."""
        return self.memory.bytes_beside(other.memory) + sum(area.nbytes for area in self.areas.values())

    def same(self, other: Checkpoint) -> bool:
        """Whether another state of the same memory is the same, so that whatever comes next does the same."""
        return (
            (self.interrupts, self.moved, self.vram_off, self.frame, self.place)
            == (other.interrupts, other.moved, other.vram_off, other.frame, other.place)
            and np.array_equal(self.lcd, other.lcd)
            and self._same_areas(other)
            and all(one.same(two) for one, two in zip(self.tables, other.tables, strict=True))
            and self.memory.pages == other.memory.pages
        )

    def _same_areas(self, other: Checkpoint) -> bool:
        """Whether the work areas are the same, however shaders ran: a program that was compiled in between counts no
        steps, and the next submission starts its count at zero."""
        if self.areas.keys() != other.areas.keys():
            return False
        control = min(self.areas)  # it comes first in a work area
        for at, ours in self.areas.items():
            theirs = other.areas[at]
            if at == control:
                ours, theirs = ours.copy(), theirs.copy()
                ours[_STEPS] = theirs[_STEPS] = 0
            if not np.array_equal(ours, theirs):
                return False
        return True

    def restore(self, memory: GuestMemory, core: Core3D, external: ExternalRegisters) -> int:
        """Restore the parts to this state; returns the number of the frame.

        :raises UsageError: the state is from another machine.
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
