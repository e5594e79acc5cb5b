"""Geometry programs: the shader unit with EMIT connected to primitive assembly.

Each lane runs one primitive, as elsewhere one vertex. Primitives differ in data: inputs, or their own float uniforms.
EMIT calls the kernel of the handle `emit`. That kernel reads all lanes' output registers, and the mask of lanes that
emit, from the rows of an area (EMIT_ROW bytes each).
"""

from __future__ import annotations

from pocketgpu.lanes import F32, I32, I64, Lang, Value, kernel
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    BANKS,
    CHUNK,
    EMIT_MASK,
    EMIT_ROW,
    EMIT_STATE,
    PACKET,
    PACKET_REGISTERS,
    UNIFORMS_SIZE,
)
from pocketgpu.pica.core.registers import LiveRegisters
from pocketgpu.pica.shader.emission import EmitState, Rows
from pocketgpu.pica.shader.interpreter import Interpreter
from pocketgpu.pica.shader.limits import settle
from pocketgpu.pica.shader.program import program_of
from pocketgpu.pica.shader.shader_choices import DEFAULT_RULES, Rules
from pocketgpu.pica.shader.translate import Shader, Start

CODE_WORDS = BANKS[BANK_INDEX["gs_code"]].words


class _Outlet(EmitState):
    """EMIT of some lanes: `first` is the primitive of the first lane, `inside` the lanes with a primitive."""

    def __init__(self, k: Lang, area: int, emit: Value, first: Value, inside: Value) -> None:
        super().__init__(k)
        self.area, self.handle, self.first, self.inside = area, emit, first, inside

    def emit(self, rows: Rows, mask: Value | None) -> None:
        k = self.k
        for row, read in rows:
            assert isinstance(row, int)
            k.store(F32, self.area + EMIT_ROW * row, read())
        here = self.inside if mask is None else self.inside & mask
        k.store(I32, self.area + EMIT_ROW * EMIT_MASK, k.select(here, 1, 0))
        k.store(I32, self.area + EMIT_ROW * EMIT_STATE, self.state.value)
        k.invoke(self.handle, self.first, k.i32(k.lanes))


class _LaneGroup:
    """Some lanes of a run: the places of their inputs and uniforms, and their start state."""

    def __init__(
        self, k: Lang, v: Value, inputs: Value, uniforms: Value, count: Value, emit: Value, area: int, own: bool
    ) -> None:
        self.k, self.at = k, inputs + k.to_i64(v << 2)
        self.inside = k.iota() + v < count
        self.uniforms = (k.iota() + v) * UNIFORMS_SIZE + k.low32(uniforms) if own else uniforms
        self.start = Start(k)
        self.start.emission = _Outlet(k, area, emit, v, self.inside)

    def read(self, register: int, component: int) -> Value:
        """A component of an input register."""
        return self.k.load(F32, self.at + 4 * CHUNK * (4 * register + component), lanes=self.k.lanes)

    def check(self, stuck: Value, steps: Value | None, control: int) -> None:
        """Report programs that do not end."""
        settle(self.k, control, stuck, steps, self.inside)


@kernel(inputs=I64, uniforms=I64, packet=I64, count=I32, emit=I64)
def geometry_program(
    k: Lang, inputs: Value, uniforms: Value, packet: Value, count: Value, emit: Value,
    *, code: bytes, descriptors: bytes, entry: int, own_uniforms: bool, control: int, area: int,
    rules: Rules = DEFAULT_RULES,
) -> None:  # fmt: skip
    """Run a geometry program on `count` primitives, with the unit's exact multiplication rule.

    inputs: 64 rows of CHUNK floats. uniforms: the float uniforms; with own_uniforms those of the first primitive,
    followed by those of the others. packet: has booleans and integers in the registers of a vertex unit.
    """
    graph = program_of(code, descriptors, entry, rules)
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    for v in k.range(0, count, k.lanes):
        lanes = _LaneGroup(k, v, inputs, uniforms, count, emit, area, own_uniforms)
        shader = Shader(k, graph, lanes.uniforms, live, True, lanes.start, lanes.read)
        shader.run(lanes.inside)
        lanes.check(shader.stuck.value, shader.steps.value if shader.steps else None, control)


@kernel(inputs=I64, uniforms=I64, packet=I64, count=I32, emit=I64)
def geometry_interpreter(
    k: Lang, inputs: Value, uniforms: Value, packet: Value, count: Value, emit: Value,
    *, own_uniforms: bool, control: int, area: int, rules: Rules = DEFAULT_RULES,
) -> None:  # fmt: skip
    """As `geometry_program`, for the program in the packet's vertex unit registers and banks."""
    k.hurry()  # as other interpreters
    bank = lambda name: k.to_i64(k.load(I32, packet + (PACKET.VERSIONS + 4 * BANK_INDEX[name])))
    live = LiveRegisters(k, packet + PACKET_REGISTERS)
    code, descriptors, entry = bank("vs_code"), bank("vs_opdescs"), live("VSH_ENTRYPOINT.entry")
    for v in k.range(0, count, k.lanes):
        lanes = _LaneGroup(k, v, inputs, uniforms, count, emit, area, own_uniforms)
        unit = Interpreter(
            k, code, k.i32(CODE_WORDS), descriptors, entry, lanes.uniforms, live, rules, lanes.start, lanes.inside
        )
        for i in k.range(0, 64):
            unit.file[i] = unit.alu.round(k.load(F32, lanes.at + k.to_i64(i * (4 * CHUNK)), lanes=k.lanes))
        for i in k.range(64, 192):
            unit.file[i] = k.splat(0.0, type=F32)
        unit.run()
        lanes.check(unit.stuck.value, unit.steps.value, control)


__all__ = ["CODE_WORDS", "geometry_interpreter", "geometry_program"]
