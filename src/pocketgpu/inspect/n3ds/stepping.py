"""A vertex of a draw, step by step: its inputs as the draw would fetch them, its program as the draw would run it.

The fetch that draws use runs once more, for the one vertex, right before the draw; what it hands to the program is
where the stepping begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import UsageError
from ...facts.pica import PICA
from ...lanes import run_once
from ...pica.layout import CHUNK, CONTROL, KIND_IMMEDIATE, MOST_LANES, PACKET_REGISTERS, PACKET_SIZE
from ...pica.n3ds import N3DS
from ...pica.registers import field
from ...pica.shader import Program
from ...pica.shader.rules import rules_of, with_end
from ...pica.vertex_fetch import GEOMETRY_ON, VARIABLE, shade_vertices
from ...pica.watch import DrawPackets
from ..address import Address
from ..stepping import Trace, trace_vertex
from ..stepping.n3ds import MOST

if TYPE_CHECKING:
    from .inspection import N3dsInspection

_CODE, _DESCRIPTORS, _UNIFORMS = 512, 128, 96 * 4


def _get(registers: np.ndarray[Any, Any], name: str) -> int:
    part = field(name)
    return part.field.raw(int(registers[part.register.offset]))


class _Watcher:
    """Takes the trace when the draw comes by."""

    def __init__(self, machine: N3DS, address: Address, draw: int, most: int) -> None:
        self.machine, self.address, self.draw, self.most = machine, address, draw, most
        self.trace: Trace | None = None

    def draws(self, packets: DrawPackets, numbers: range, run: Callable[[int, int], None]) -> None:
        if self.draw not in numbers:
            run(0, len(numbers))
            return
        place = self.draw - numbers.start
        if place:
            run(0, place)
        self.trace = trace_draw(self.machine, packets, place, self.address, self.most)
        run(place, len(numbers))


def trace_vertex_of(inspection: N3dsInspection, address: Address, most: int | None = None) -> Trace:
    """The steps of the vertex that an address names; `Inspection.trace`."""
    event = inspection.event(address.place)
    if event.draw is None or address.vertex is None:
        raise UsageError("this address names no vertex", location=str(address), hint="Such as f1/d17/v5.")
    watcher = _Watcher(inspection.traveller.machine, address, event.draw, MOST if most is None else most)
    inspection.traveller.go(event.frame, event.number, watcher)
    assert watcher.trace is not None
    return watcher.trace


def trace_draw(machine: N3DS, packets: DrawPackets, place: int, address: Address, most: int) -> Trace:
    """The steps of vertex `address.vertex` of draw number `place` of some that are about to run.

    :raises UsageError: the draw has no such vertex.
    """
    registers = packets.registers[place]
    vertex = address.vertex
    assert vertex is not None
    count = _get(registers, "NUMVERTICES.count")
    if packets.kinds[place] == KIND_IMMEDIATE:
        count = int(packets.immediate[place]) // (_get(registers, "VSH_NUM_ATTR.count") + 1)
    if not 0 <= vertex < count:
        raise UsageError(f"the draw has {count} vertices", location=str(address))
    staged = _get(registers, "GEOSTAGE_CONFIG.mode") == GEOMETRY_ON
    if staged and _get(registers, "GSH_MISC0.mode") == VARIABLE:
        raise UsageError(
            "the index list of this draw has the sizes of primitives in it: which vertices it names is not told",
            location=str(address),
        )
    inputs = _inputs(machine, place, vertex)

    def bank(name: str, words: int) -> bytes:
        return packets.contents(int(packets.versions(name)[place]), words)

    switches = dict(machine.switches)
    end = _get(registers, "VSH_ENTRYPOINT.end")
    code = np.frombuffer(with_end(bank("vs_code", _CODE), end, rules_of(switches)), np.uint32)
    descriptors = np.frombuffer(bank("vs_opdescs", _DESCRIPTORS), np.uint32)
    uniforms = np.frombuffer(bank("vs_uniforms", _UNIFORMS), np.float32).reshape(-1, 4)
    bools = _get(registers, "VSH_BOOLUNIFORM.bools")
    integers = [int(registers[PICA[f"VSH_INTUNIFORM_I{n}"].offset]) for n in range(4)]
    trace = trace_vertex(
        Program(code, descriptors, _get(registers, "VSH_ENTRYPOINT.entry"), switches=switches),
        inputs,
        {n: tuple(vector) for n, vector in enumerate(uniforms)},
        [bools >> n & 1 for n in range(16)],
        [[word >> 8 * n & 0xFF for n in range(4)] for word in integers],
        most=most,
        name=f"vertex program of {address.at(vertex=None)}",
    )
    trace.lane = f"vertex {vertex}"
    return trace


def _inputs(machine: N3DS, place: int, vertex: int) -> np.ndarray[Any, Any]:
    """Input registers of a vertex, float32 (1, 16, 4)."""
    core, arena = machine._core, machine.memory.arena
    layout = core.layout
    packet = layout.packets + place * PACKET_SIZE
    control = arena[layout.control : layout.control + CONTROL.size]
    part = field("GEOSTAGE_CONFIG.mode")
    at = packet + PACKET_REGISTERS + 4 * part.register.offset
    stage = arena[at : at + 4].view(np.uint32)
    kept, before = control.copy(), int(stage[0])
    seen: list[np.ndarray[Any, Any]] = []

    def program(start: Any, *_: Any) -> None:
        rows = arena[int(start) : int(start) + 4 * 64 * CHUNK].view(np.float32).reshape(16, 4, CHUNK)
        seen.append(rows[:, :, 0].copy())

    try:
        control[CONTROL.HANG : CONTROL.HANG + 4] = 0
        stage[0] = before & ~part.mask  # the fetch is the same, but would look for what the geometry unit left
        run_once(
            shade_vertices, arena, MOST_LANES, packet, vertex, 1, 1, functions={1: program},
            **core.runner._static, switches=core.runner._fetch_choices,
        )  # fmt: skip
    finally:
        control[:] = kept
        stage[0] = before
    return seen[0][None]


__all__ = ["trace_draw", "trace_vertex_of"]
