"""The bound shader programs of a moment: disassembly, and the uniforms that they can read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pocketgpu.digests import sha256
from pocketgpu.facts.pica import BOOLEAN_UNIFORMS, FLOAT_UNIFORMS, INTEGER_UNIFORMS, PICA
from pocketgpu.facts.pica_enums import GEOMETRY_STAGE
from pocketgpu.inspect.model.resources import Program
from pocketgpu.inspect.n3ds.resources.targets import RegisterWords
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import BANK_INDEX, BANKS
from pocketgpu.pica.core.registers import StaticRegisters
from pocketgpu.wording import counted

UNIFORMS, BOOLS, INTS = FLOAT_UNIFORMS, BOOLEAN_UNIFORMS, INTEGER_UNIFORMS
_NAMED = re.compile(r"\bc(\d+)\b(?!\[)")


@dataclass(frozen=True, eq=False, repr=False)
class UnitProgram(Program):
    """A program. unit: "vertex" or "geometry". words: code up to the last word that is not 0; descriptors: operand
    descriptors. floats: (96, 4) float32, c0 to c95. bools: (16,); ints: (4, 4) uint8, i0 to i3. digest: of code,
    descriptors and entry point, 16 digits: equal for equal programs."""

    unit: str
    entry: int
    words: NDArray[np.uint32]
    descriptors: NDArray[np.uint32]
    floats: NDArray[np.float32]
    bools: NDArray[np.bool_]
    ints: NDArray[np.uint8]

    @property
    def begins(self) -> int:
        """Its entry point, as the number of an instruction."""
        return self.entry

    @property
    def size(self) -> str:
        """How long it is, in words."""
        return f"{counted(len(self.words), 'instruction')}"

    @property
    def digest(self) -> str:
        parts = self.words.tobytes() + self.descriptors.tobytes() + self.entry.to_bytes(2, "little")
        return sha256(parts).hexdigest()[:16]

    @property
    def text(self) -> str:
        """The disassembled program; the label `main` is at the entry point."""
        from pocketgpu.pica.shader.disassembler import disassemble

        return disassemble(self.words.tolist(), self.descriptors.tolist(), entry=self.entry)

    @property
    def uniforms(self) -> Mapping[str, list[Any]]:
        """Values by name: floats that the code reads or that are not 0; booleans and integers that it reads."""
        text = self.text
        named = {int(number) for number in _NAMED.findall(text)}
        wanted = sorted(named | set(np.flatnonzero(_not_zero(self.floats).any(axis=1)).tolist()))
        found: dict[str, list[Any]] = {f"c{n}": self.floats[n].tolist() for n in wanted if n < UNIFORMS}
        for letter, values in (("i", self.ints), ("b", self.bools)):
            found |= {f"{letter}{n}": np.atleast_1d(values[n]).tolist() for n in range(len(values))
                      if re.search(rf"\b{letter}{n}\b", text)}  # fmt: skip
        return found

    def __str__(self) -> str:
        lines = [f"; {self.unit} program {self.digest}, begins at {self.entry:#x}", self.text.rstrip("\n")]
        for name, values in self.uniforms.items():
            shown = ", ".join(f"{v:.9g}" if isinstance(v, float) else str(v).lower() for v in values)
            lines.append(f"; {name} = {shown}")
        return "\n".join(lines)


def _not_zero(values: NDArray[np.float32]) -> NDArray[np.bool_]:
    """Which values have bits that are not 0; a NaN counts as not zero."""
    found: NDArray[np.bool_] = values.view(np.uint32) << np.uint32(1) != 0
    return found


def programs_of(registers: NDArray[np.uint32], banks: Mapping[str, NDArray[np.uint32]]) -> dict[str, UnitProgram]:
    """The vertex program, and the geometry program if the stage is on. banks: words of "vs_code" and so on."""
    get, found = StaticRegisters(RegisterWords(registers)), {}
    for unit, short, prefix in (("vertex", "vs", "VSH"), ("geometry", "gs", "GSH")):
        if unit == "geometry" and get("GEOSTAGE_CONFIG.mode") != GEOMETRY_STAGE.ON:
            continue
        code, descriptors = banks[f"{short}_code"], banks[f"{short}_opdescs"]
        entry = min(get(f"{prefix}_ENTRYPOINT.entry"), len(code) - 1)
        used = max(int(np.flatnonzero(code).max(initial=-1)), entry) + 1
        last = int(np.flatnonzero(descriptors).max(initial=-1)) + 1
        bools = get(f"{prefix}_BOOLUNIFORM.bools")
        ints = [[get(f"{prefix}_INTUNIFORM_I{n}.{axis}") for axis in "xyzw"] for n in range(INTS)]
        found[unit] = UnitProgram(
            unit, entry, code[:used].copy(), descriptors[:last].copy(),
            banks[f"{short}_uniforms"].view(np.float32).reshape(UNIFORMS, 4).copy(),
            np.array([bools >> n & 1 for n in range(BOOLS)], bool), np.array(ints, np.uint8),
        )  # fmt: skip
    return found


PROGRAM_BANKS = tuple(f"{short}_{part}" for short in ("vs", "gs") for part in ("code", "opdescs", "uniforms"))
assert all(BANKS[BANK_INDEX[name]].words for name in PROGRAM_BANKS) and "VSH_BOOLUNIFORM" in PICA
