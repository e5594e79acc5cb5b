"""What rules say of one draw alone: those that ask for nothing but its registers and its program."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.n3ds.draw_state import ZEROS
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.rules.n3ds import (
    lighting_off,
    outputs_position,
    scissor_empty,
    shader_no_end,
    stencil_format,
    target_read_off,
    target_write_off,
    texture_unit_off,
    uniform_nan,
    vertex_attributes,
    vertex_input_unfed,
    vertex_stride,
    vertex_unloaded,
)
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord

_RULES = (
    shader_no_end, uniform_nan, vertex_stride, vertex_attributes, vertex_unloaded, vertex_input_unfed,
    outputs_position, texture_unit_off, lighting_off, scissor_empty, stencil_format, target_read_off, target_write_off,
)  # fmt: skip


def said_of(registers: Mapping[int, int], kind: int, program: Program | None) -> list[str]:
    """Lines about a draw. registers: all of its, by id. kind: as packets have it. program: its vertex program."""
    zero = frozenset(name for name in ZEROS if not registers[PICA[name].offset])
    draw = DrawRecord(dict(registers), kind, zero, "", 1)
    record = N3dsRecord(draws=[draw])
    if program is not None:
        draw.programs["vertex"] = program
        record.programs.append(program)
    return [found.message for module in _RULES for found in module.RULE.look(record)]


__all__ = ["said_of"]
