"""The code of vertex programs: found by a packet's program memories, compiled when a program first appears.

The quick translation uses plain multiplication; where that could give a different result, exact code shades the piece
again. Until a program is compiled the shader unit's interpreter runs it, which is always exact.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pocketgpu.lanes import Engine, late
from pocketgpu.pica.core.layout import BANK_INDEX, BANKS, PACKET, WorkLayout
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.core.tiers import Code, Tiered
from pocketgpu.pica.shader.program import TooComplex, program_of
from pocketgpu.pica.shader.shader_choices import Rules, with_end

vertex_interpreter = late("pocketgpu.pica.shader.interpreter", "vertex_interpreter")
vertex_program = late("pocketgpu.pica.shader.translate", "vertex_program")
_CODE_AT, _DESCRIPTORS_AT = (PACKET.VERSIONS // 4 + BANK_INDEX[f"vs_{name}"] for name in ("code", "opdescs"))
_CODE_SIZE, _DESCRIPTORS_SIZE = (4 * BANKS[BANK_INDEX[f"vs_{name}"]].words for name in ("code", "opdescs"))
_ENTRY, _END = (field(f"VSH_ENTRYPOINT.{name}") for name in ("entry", "end"))
_ENTRYPOINT = _ENTRY.register.offset
# Limit of cached programs; far more than titles have.
_MAX_PROGRAMS = 4096
_Key = tuple[bytes, bytes, int]


class VertexProgram:
    """A program of a machine; each `number` is used only once."""

    def __init__(self, number: int, plain: Tiered, exact: Tiered) -> None:
        self.number, self._plain, self._exact = number, plain, exact

    def handle(self, tier: str, exact: bool = False) -> int:
        """The code to shade with now."""
        return (self._exact if exact else self._plain).handle(tier)


class VertexPrograms:
    """The programs that a machine has run."""

    def __init__(self, engine: Engine, arena: np.ndarray, layout: WorkLayout, rules: Rules) -> None:
        self._engine, self._arena, self._rules = engine, arena, rules
        self._static: dict[str, Any] = {"control": layout.control, "rules": rules}
        self._programs: dict[_Key, VertexProgram] = {}
        self._last: tuple[_Key, VertexProgram] | None = None
        self._count = 0
        # Key: the arena offsets in the packets of a run; in the next run other programs are there.
        self._present: dict[tuple[int, int, int], VertexProgram] = {}

    def forget_places(self) -> None:
        """The run is over: offsets of its packets are no longer valid."""
        self._present.clear()

    def of(self, head: np.ndarray, registers: np.ndarray) -> VertexProgram:
        """The program of a packet (head and registers as words)."""
        code, descriptors, word = int(head[_CODE_AT]), int(head[_DESCRIPTORS_AT]), int(registers[_ENTRYPOINT])
        place = (code, descriptors, word)
        found = self._present.get(place)
        if found is None:
            raw = (
                self._arena[code : code + _CODE_SIZE].tobytes(),
                self._arena[descriptors : descriptors + _DESCRIPTORS_SIZE].tobytes(),
                word,
            )
            if self._last is None or self._last[0] != raw:  # comparing is cheaper than hashing
                self._last = (raw, self._known(*raw))
            found = self._present[place] = self._last[1]
        return found

    def _known(self, words: bytes, descriptors: bytes, word: int) -> VertexProgram:
        key = (with_end(words, _END.field.raw(word), self._rules), descriptors, _ENTRY.field.raw(word))
        found = self._programs.get(key)
        if found is None:
            if len(self._programs) >= _MAX_PROGRAMS:
                self._programs.clear()
            self._count += 1
            found = self._programs[key] = self._make(key)
        return found

    def _make(self, key: _Key) -> VertexProgram:
        general: Code = (vertex_interpreter, self._static)
        own = [general, general]
        try:
            program_of(*key, self._rules)
            code, descriptors, entry = key
            shared = {"code": code, "descriptors": descriptors, "entry": entry, **self._static}
            own = [(vertex_program, {"exact": exact, **shared}) for exact in (False, True)]
        except TooComplex:  # the interpreter runs any program, slowly
            pass
        plain, exact = (Tiered(self._engine, special, general, special is not general) for special in own)
        return VertexProgram(self._count, plain, exact)
