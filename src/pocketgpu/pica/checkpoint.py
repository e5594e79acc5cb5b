"""The whole state of a machine, kept and brought back: memory, registers, banks, what units carry between draws.

Memory is kept by its snapshots, which share pages that did not change; the rest is some 200 KiB. What was prepared for
draws (code, decoded textures) is not state, it is looked up again by contents and versions.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

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
from pocketgpu.pica.n3ds import N3DS


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Made by `save`. memory: the guest's. areas: copies of arena ranges by offset. rest: plain values."""

    memory: Snapshot
    areas: dict[int, np.ndarray]
    rest: dict[str, Any]


def _areas(layout: WorkLayout) -> list[tuple[int, int]]:
    """(offset, size) of what the core and the external registers keep in the work area."""
    return [
        (layout.control, CONTROL.size),
        (layout.registers, 4 * REGISTER_COUNT),
        (layout.external, 4 * EXTERNAL_WORDS),
        (layout.banks[0], layout.banks[-1] + 4 * BANKS[-1].words - layout.banks[0]),
        (layout.carry, 4 * VERTEX_SIZE),
        # the unit, and behind it the uniforms and vertices that a geometry program finds there from the draw before
        (layout.geometry, layout.geometry_in - layout.geometry),
        (layout.vertices + VERTEX_SIZE * MAX_RECORDS, VERTEX_SIZE * EMIT_SLOTS),
    ]


def save(machine: N3DS) -> Checkpoint:
    """Keep a machine's state. Instant time only: no unit is at work between calls."""
    external, arena = machine._external, machine.memory.arena
    areas = {at: arena[at : at + size].copy() for at, size in _areas(machine._core.layout)}
    rest = {
        "lcd": external.lcd.copy(), "interrupts": dict(external.interrupts), "moved": dict(external.moved),
        "luts": deepcopy(external.luts), "vram": external.vram.off, "frame": machine.frame,
        "place": machine._core.place,
    }  # fmt: skip
    return Checkpoint(machine.memory.snapshot(), areas, rest)


def restore(machine: N3DS, kept: Checkpoint) -> None:
    """Bring a machine back to a state of its own. Whoever listens to interrupts goes on listening; events are dropped.

    :raises UsageError: the state was kept of another machine.
    """
    external, arena, core = machine._external, machine.memory.arena, machine._core
    machine.memory.restore(kept.memory)
    for at, data in kept.areas.items():
        arena[at : at + len(data)] = data
    external.lcd[:] = kept.rest["lcd"]
    external.interrupts, external.moved = dict(kept.rest["interrupts"]), dict(kept.rest["moved"])
    for table, as_it_was in zip(external.luts, kept.rest["luts"], strict=True):
        vars(table).update(deepcopy(vars(as_it_was)))
    external.vram.off = kept.rest["vram"]
    machine.frame, core.place = kept.rest["frame"], kept.rest["place"]
    core.runner.rewind()
    machine.events.drain()
    machine.stats.reset()
