"""What a program needs to run: room for registers, and kernels that it calls."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from pocketgpu.maxwell.sampling.records import ATOMIC
from pocketgpu.maxwell.sass.isa.operand import RZ
from pocketgpu.maxwell.sass.program.registers import reads, writes
from pocketgpu.maxwell.sass.program.steps import Step
from pocketgpu.maxwell.sass.thread_memory.access import GENERIC, GLOBAL, LOCAL, SHARED
from pocketgpu.maxwell.sass.thread_memory.atomics import ADD, AND, F16_ADD, F32_ADD, MAX, MIN, OR, XOR

LOADS, STORES = ("LD", "LDL", "LDS"), ("ST", "STL", "STS")


def space_of(step: Step) -> int:
    """The space of a memory instruction."""
    if step.op in ("LDS", "STS", "ATOMS"):
        return SHARED
    if step.op in ("LDL", "STL"):
        return LOCAL
    return GLOBAL if step.mods.get("space") else GENERIC


def commutes(step: Step) -> bool:
    """Whether blocks may do an instruction in any order, with the same result in memory.

    That is not so for atomics on global memory, unless they work on integers, commute, and return nothing.
    """
    if step.texture is not None:
        return step.texture.action != ATOMIC
    if step.op not in ("ATOM", "RED"):
        return True
    silent = step.op == "RED" or step.dest == RZ
    kind = step.mods.get("type", 0)
    plain = step.mods.get("op", 0) in (ADD, MIN, MAX, AND, OR, XOR)
    return silent and plain and kind not in (F32_ADD, F16_ADD) and not step.mods.get("cas")


class Needs:
    """What some instructions of a program need."""

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = list(steps)

    def __repr__(self) -> str:
        return f"<needs of {len(self.steps)} instructions>"

    @cached_property
    def registers(self) -> int:
        """Registers that need room: those that are named, and all below them."""
        named = 0
        for step in self.steps:
            named |= reads(step) | writes(step)
        return max((named & ((1 << RZ) - 1)).bit_length(), 1)

    @cached_property
    def jumps(self) -> bool:
        """Whether a target is known only at run time. Specialised code may not have the place then."""
        return any(step.indirect is not None for step in self.steps)

    @cached_property
    def accesses(self) -> set[tuple[int, int, bool]]:
        """Memory instructions that call a kernel of their own: (space, size, whether they store)."""
        memory = [step for step in self.steps if step.op in LOADS + STORES]
        found = {(space_of(step), step.mods.get("size", 4) & 7, step.op in STORES) for step in memory}
        return {one for one in found if one[0] != GENERIC}

    @cached_property
    def textures(self) -> tuple[int, ...]:
        """Kernels on textures and surfaces (sampling/records.py numbers them)."""
        return tuple(sorted({step.texture.kernel for step in self.steps if step.texture is not None}))


__all__ = ["LOADS", "STORES", "Needs", "commutes", "space_of"]
