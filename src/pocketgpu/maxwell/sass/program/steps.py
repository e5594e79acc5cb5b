"""Steps: instructions as executors take them, with an operation, modifiers as numbers, sources and results.

Forms with the same meaning are the same step: FADD32I is an FADD, LOP32I a LOP. `make_steps.py` makes steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from pocketgpu.facts.maxwell.sass import ENUMS
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sampling.calls import TextureCall
from pocketgpu.maxwell.sass.isa.operand import PT, RZ, Const, Indirect

ALWAYS = next(member.value for member in ENUMS["cc_operand"].listed if member is not None and member.name == "T")
"""The test of the condition code that is always true."""
WHOLE_QUAD = 15
"""The mask of a MOV that is for all four lanes of each quad."""


@dataclass(frozen=True)
class OperandSource:
    """Where an operand comes from: kind "reg", "imm" or "const".

    n: register, or bank of the constant; offset: bytes into the bank; bits: of an immediate (64 for doubles).
    """

    kind: str
    n: int = RZ
    offset: int = 0
    bits: int = 0
    negated: bool = False
    absolute: bool = False


ZERO = OperandSource("reg", RZ)


@dataclass(frozen=True)
class Predicate:
    n: int = PT
    negated: bool = False


@dataclass(frozen=True)
class Step:
    """One instruction. `op` names a semantics of OPERATIONS, or a memory, warp or flow instruction.

    target: number of the instruction that it names, None if none or outside of the program. offset: of an address.
    texture: what an instruction on textures or surfaces hands to a kernel; its op is "TEX".
    """

    index: int
    address: int
    op: str
    mods: Mapping[str, int] = field(default_factory=dict)
    dest: int = RZ
    results: tuple[int, ...] = ()
    sources: tuple[OperandSource, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    guard: Predicate = Predicate()
    test: int = ALWAYS
    cc: bool = False
    target: int | None = None
    target_address: int | None = None
    indirect: Indirect | Const | None = None
    base: int = RZ
    offset: int = 0
    name: str = ""
    texture: TextureCall | None = None

    @property
    def guarded(self) -> bool:
        """Whether the guard can be false."""
        return self.guard.n != PT or self.guard.negated
