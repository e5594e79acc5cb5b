"""The steps of a vertex or geometry program in a draw, with the inputs that the draw has.

For a vertex, the draw's own fetch runs once more right before the draw, and stepping begins with its result. For a
primitive, the draw runs, and the inputs of its geometry program are kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.facts.pica import PICA
from pocketgpu.facts.pica_enums import GEOMETRY_MODE, GEOMETRY_STAGE
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.steppable import Part, Steppable
from pocketgpu.inspect.n3ds.draw_watcher import DrawWatcher
from pocketgpu.inspect.n3ds.primitives.geometry_runs import InputsOfPrimitive
from pocketgpu.inspect.stepping import Trace, trace_vertex
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.n3ds import MOST
from pocketgpu.inspect.stepping.program_text import ProgramText, ProgramTexts
from pocketgpu.lanes import run_once
from pocketgpu.pica.core.layout import (
    CHUNK,
    CONTROL,
    KIND_IMMEDIATE,
    MOST_LANES,
)  # fmt: skip
from pocketgpu.pica.core.observer import Run
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.front.packets import DrawPackets
from pocketgpu.pica.n3ds import N3DS
from pocketgpu.pica.shader import Program
from pocketgpu.pica.shader.shader_choices import rules_of, with_end
from pocketgpu.pica.vertex.fetch import shade_vertices
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.n3ds.inspection import N3dsInspection


def _get(registers: np.ndarray[Any, Any], name: str) -> int:
    part = field(name)
    return part.field.raw(int(registers[part.register.offset]))


class _TraceTaker(DrawWatcher):
    """Takes the trace when the draw runs."""

    def __init__(
        self, machine: N3DS, address: Address, draw: int, most: int, overrides: Forced | None,
        texts: ProgramTexts | None, keep: bool,
    ) -> None:  # fmt: skip
        self.machine, self.address, self.draw, self.most, self.overrides = machine, address, draw, most, overrides
        self.texts, self.keep = texts, keep
        self.trace: Trace | None = None

    def look(self, packets: DrawPackets, numbers: range, run: Run) -> None:
        if self.draw not in numbers:
            run(0, len(numbers))
            return
        place, end = self.draw - numbers.start, len(numbers)
        if place:
            run(0, place)
        if self.address.vertex is not None:
            self.trace = trace_draw(
                self.machine, packets, place, self.address, self.most, self.overrides, self.texts, self.keep
            )
            run(place, end)
            return
        self.trace = trace_primitive_of(
            self.machine, packets, place, self.address, self.most, lambda: run(place, place + 1), self.overrides,
            self.texts, self.keep,
        )  # fmt: skip
        if place + 1 < end:
            run(place + 1, end)


def trace_of(
    inspection: N3dsInspection, address: Address, most: int | None = None, overrides: Forced | None = None,
    keep: bool = False,
) -> Trace:  # fmt: skip
    """The steps of the vertex or primitive that an address names; `Inspection.trace`. keep: with its memory."""
    event = inspection.event(address.place)
    if event.draw is None or (address.vertex is None) == (address.primitive is None):
        hint = "Such as f1/d17/v5, or f1/d17/t3 where a geometry program runs."
        raise UsageError("this address names no vertex or primitive of a draw", location=str(address), hint=hint)
    kept = MOST if most is None else most
    watcher = _TraceTaker(
        inspection.player.machine, address, event.draw, kept, overrides, inspection.texts, keep
    )  # fmt: skip
    inspection.watch(event, watcher)
    assert watcher.trace is not None
    return watcher.trace


def programs_at(inspection: N3dsInspection, address: Address) -> list[Steppable]:
    """See `Inspection.programs_at`, for the address of an event."""
    event = inspection.event(address)
    if event.draw is None:
        return []
    place, vertices = event.address, event.facts.get("vertices")
    found = [Steppable("vertex program", place, (Part("v", "vertex", (vertices,)),))]
    mode = field("GEOSTAGE_CONFIG.mode")
    if mode.field.raw(inspection.seek(place).registers()[mode.register.name]) == GEOMETRY_STAGE.ON:
        found.append(Steppable("geometry program", place, (Part("t", "primitive", (None,)),)))
    return found


def trace_draw(
    machine: N3DS, packets: DrawPackets, place: int, address: Address, most: int,
    overrides: Forced | None = None, texts: ProgramTexts | None = None, keep: bool = False,
) -> Trace:  # fmt: skip
    """The steps of vertex `address.vertex` of draw number `place` of some packets, before they run.

    :raises UsageError: the draw has no such vertex.
    """
    registers = packets.registers[place]
    vertex = address.vertex
    assert vertex is not None
    count = _get(registers, "NUMVERTICES.count")
    if packets.kinds[place] == KIND_IMMEDIATE:
        count = int(packets.immediate[place]) // (_get(registers, "VSH_NUM_ATTR.count") + 1)
    if not 0 <= vertex < count:
        raise UsageError(f"the draw has {counted(count, 'vertex', 'vertices')}", location=str(address))
    staged = _get(registers, "GEOSTAGE_CONFIG.mode") == GEOMETRY_STAGE.ON
    if staged and _get(registers, "GSH_MISC0.mode") == GEOMETRY_MODE.VARIABLE:
        raise UsageError(
            "the index list of this draw has the sizes of primitives in it: vertices of such lists cannot be traced",
            location=str(address),
        )
    inputs = _inputs(machine, packets.start + place, vertex)
    floats = np.frombuffer(packets.seen("vs_uniforms", place), np.float32)
    bools = _get(registers, "VSH_BOOLUNIFORM.bools")
    program = _program(machine, packets, place, "V")
    trace = trace_vertex(
        program, inputs, *_constants(floats, bools, _integers(registers, "V")),
        most=most, name="vertex program", overrides=overrides, source=_text(texts, program), keep=keep,
    )  # fmt: skip
    trace.lane, trace.address = f"vertex {vertex}", str(address)
    return trace


def trace_primitive_of(
    machine: N3DS, packets: DrawPackets, place: int, address: Address, most: int, run: Callable[[], None],
    overrides: Forced | None = None, texts: ProgramTexts | None = None, keep: bool = False,
) -> Trace:  # fmt: skip
    """The steps of primitive `address.primitive` in the geometry program of a draw. run: runs that draw.

    Primitives are counted in the order in which the unit runs them.

    :raises UsageError: the draw has no geometry program, or no such primitive.
    """
    registers = packets.registers[place].copy()
    if _get(registers, "GEOSTAGE_CONFIG.mode") != GEOMETRY_STAGE.ON:
        raise UsageError("the draw has no geometry program", location=str(address), hint="f1/d17/v5 names a vertex.")
    program = _program(machine, packets, place, "G")
    wanted = address.primitive
    assert wanted is not None
    taken = InputsOfPrimitive(machine, _get(registers, "GSH_MISC0.mode") != GEOMETRY_MODE.POINT, wanted)
    with taken:
        run()
    if taken.found is None:
        raise UsageError(f"the geometry program ran for {counted(taken.count, 'primitive')}", location=str(address))
    inputs, floats, bools = taken.found
    trace = trace_vertex(
        program, inputs, *_constants(floats, bools, _integers(registers, "G")),
        most=most, name="geometry program", overrides=overrides, source=_text(texts, program), keep=keep,
    )  # fmt: skip
    trace.lane, trace.address = f"primitive {wanted}", str(address)
    return trace


def _program(machine: N3DS, packets: DrawPackets, place: int, unit: str) -> Program:
    """The program of a draw's vertex unit (V) or geometry unit (G)."""
    registers, choices = packets.registers[place], dict(machine.choices)
    low = unit.lower()
    code, descriptors = (packets.seen(f"{low}s_{bank}", place) for bank in ("code", "opdescs"))
    end = _get(registers, f"{unit}SH_ENTRYPOINT.end")
    words = np.frombuffer(with_end(code, end, rules_of(choices)), np.uint32)
    entry = _get(registers, f"{unit}SH_ENTRYPOINT.entry")
    return Program(words, np.frombuffer(descriptors, np.uint32), entry, switches=choices)


def _text(texts: ProgramTexts | None, program: Program) -> ProgramText | None:
    return None if texts is None else texts.of(program.code, program.descriptors, program.entry_point)


def _integers(registers: np.ndarray[Any, Any], unit: str) -> list[int]:
    return [int(registers[PICA[f"{unit}SH_INTUNIFORM_I{n}"].offset]) for n in range(4)]


def _constants(
    floats: np.ndarray[Any, Any], bools: int, integers: list[int]
) -> tuple[dict[int, Any], list[int], list[list[int]]]:
    """Uniforms, booleans and integers as `trace_vertex` takes them."""
    uniforms = {n: tuple(vector) for n, vector in enumerate(floats.reshape(-1, 4))}
    octets = [[word >> 8 * n & 0xFF for n in range(4)] for word in integers]
    return uniforms, [bools >> n & 1 for n in range(16)], octets


def _inputs(machine: N3DS, packet: int, vertex: int) -> np.ndarray[Any, Any]:
    """Input registers of a vertex, float32 (1, 16, 4)."""
    work, runner = machine.work, machine.runner
    arena = work.arena
    control = work.words(work.layout.control, CONTROL.size // 4)
    part = field("GEOSTAGE_CONFIG.mode")
    stage = work.registers(packet)[part.register.offset :][:1]
    kept, before = control.copy(), int(stage[0])
    seen: list[np.ndarray[Any, Any]] = []

    def program(start: Any, *_: Any) -> None:
        rows = arena[int(start) : int(start) + 4 * 64 * CHUNK].view(np.float32).reshape(16, 4, CHUNK)
        seen.append(rows[:, :, 0].copy())

    try:
        control[CONTROL.HANG // 4] = 0
        stage[0] = before & ~part.mask  # otherwise the fetch would also use what the geometry unit has left
        run_once(
            shade_vertices, arena, MOST_LANES, work.packet(packet), vertex, 1, 1, functions={1: program},
            **runner.static, choices=runner.fetch_choices,
        )  # fmt: skip
    finally:
        control[:] = kept
        stage[0] = before
    return seen[0][None]


__all__ = ["programs_at", "trace_draw", "trace_of", "trace_primitive_of"]
