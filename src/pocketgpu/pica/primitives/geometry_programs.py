"""The code of geometry programs: found by a packet's program memories, compiled when a program first appears."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pocketgpu.facts.pica_enums import GEOMETRY_MODE
from pocketgpu.lanes import Engine, late
from pocketgpu.pica.core.layout import BANK_INDEX, BANKS, PACKET, WorkLayout
from pocketgpu.pica.core.registers import field
from pocketgpu.pica.core.tiers import Tiered
from pocketgpu.pica.shader.program import TooComplex, program_of
from pocketgpu.pica.shader.shader_choices import Rules, with_end

geometry_interpreter = late("pocketgpu.pica.shader.geometry", "geometry_interpreter")
geometry_program = late("pocketgpu.pica.shader.geometry", "geometry_program")
_PLACES = [(f"gs_{name}", PACKET.VERSIONS // 4 + BANK_INDEX[f"gs_{name}"]) for name in ("code", "opdescs")]
_SIZES = {bank.name: 4 * bank.words for bank in BANKS}
_Key = tuple[bytes, bytes, int, bool]
_ENTRY, _END, _MODE = (field(name) for name in ("GSH_ENTRYPOINT.entry", "GSH_ENTRYPOINT.end", "GSH_MISC0.mode"))


class GeometryPrograms:
    """Handles of geometry programs: the interpreter's until a program has compiled code (see tiers.py)."""

    def __init__(self, engine: Engine, arena: np.ndarray, layout: WorkLayout, rules: Rules) -> None:
        self.tier = "auto"
        self.stand_in: int | None = None
        """The handle of code that runs instead of every program, if any."""
        self._engine, self._arena = engine, arena
        self._static: dict[str, Any] = {"control": layout.control, "area": layout.emission, "rules": rules}
        self._rules = rules
        self._programs: dict[_Key, Tiered] = {}
        self._last: tuple[_Key, Tiered] | None = None

    def handle(self, head: np.ndarray, registers: np.ndarray) -> int:
        """The handle of the code for a packet's program (head and registers as words)."""
        if self.stand_in is not None:
            return self.stand_in
        code, descriptors = (
            self._arena[int(head[place]) : int(head[place]) + _SIZES[name]].tobytes() for name, place in _PLACES
        )
        entry, end, mode = (f.field.raw(int(registers[f.register.offset])) for f in (_ENTRY, _END, _MODE))
        code = with_end(code, end, self._rules)
        own = mode != GEOMETRY_MODE.POINT
        key = (code, descriptors, entry, own)
        if self._last is None or self._last[0] != key:  # comparing is cheaper than hashing
            if key not in self._programs:
                general = {"own_uniforms": own, **self._static}
                special = {"code": code, "descriptors": descriptors, "entry": entry, **general}
                simple = self._is_simple(key[:3])
                own_code = (geometry_program, special) if simple else (geometry_interpreter, general)
                self._programs[key] = Tiered(self._engine, own_code, (geometry_interpreter, general), simple)
            self._last = (key, self._programs[key])
        return self._last[1].handle(self.tier)

    def interpreter(self, own_uniforms: bool) -> Callable[..., None]:
        """The code that runs any program. own_uniforms: each primitive has its own uniforms, as in all modes but
        POINT."""
        return self._engine.get(geometry_interpreter, own_uniforms=own_uniforms, **self._static)

    def _is_simple(self, program: tuple[bytes, bytes, int]) -> bool:
        """Whether a program can be compiled."""
        try:
            program_of(*program, self._rules)
        except TooComplex:
            return False
        return True
