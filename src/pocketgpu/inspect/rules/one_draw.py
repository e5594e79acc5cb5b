"""Findings of rules about a single draw: of those rules that read only its registers and its program."""

from __future__ import annotations

from collections.abc import Mapping

from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.n3ds.inventory.draw_state import ZEROS
from pocketgpu.inspect.n3ds.programs import Program
from pocketgpu.inspect.rules.n3ds.record import DrawRecord, N3dsRecord
from pocketgpu.inspect.rules.registry import rule

_RULES = (
    "shader.no-end", "uniform.nan", "vertex.stride", "vertex.attributes", "vertex.unloaded",
    "vertex.input-unfed", "outputs.position", "texture.unit-off", "lighting.off", "scissor.empty",
    "stencil.format", "target.read-off", "target.write-off",
)  # fmt: skip


def said_of(registers: Mapping[int, int], kind: int, program: Program | None) -> list[str]:
    """Messages about a draw. registers: all, by id. kind: KIND of its packet. program: its vertex program."""
    zero = frozenset(name for name in ZEROS if not registers[PICA[name].offset])
    draw = DrawRecord(dict(registers), kind, zero, "", 1)
    record = N3dsRecord(draws=[draw])
    if program is not None:
        draw.programs["vertex"] = program
        record.programs.append(program)
    return [found.message for id in _RULES for found in rule(id).look(record)]


__all__ = ["said_of"]
