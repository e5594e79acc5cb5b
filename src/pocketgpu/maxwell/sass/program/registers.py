"""Which registers an instruction reads and writes.

A set of registers is a number with a bit for each: bit n for R*n*, from PREDICATE_BIT on the predicates, and FLAGS_BIT
for the condition code.
"""

from __future__ import annotations

from collections.abc import Iterable

from pocketgpu.maxwell.sass.isa.operand import PT, RZ
from pocketgpu.maxwell.sass.program.steps import ALWAYS, WHOLE_QUAD, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS

PREDICATE_BIT, FLAGS_BIT = 256, 264
"""Bits of the predicates and of the condition code in a set of registers."""
_WORDS = (1, 1, 1, 1, 1, 2, 4, 4)
ALL = (1 << 265) - 1
_REGISTERS = (1 << RZ) - 1


def words_of(size: int) -> int:
    """How many registers a memory access takes, by the code of its size."""
    return _WORDS[size & 7]


def registers_from(n: int, count: int = 1) -> int:
    """The set of `count` registers from `n` on. RZ is in no set."""
    return (1 << count) - 1 << n & _REGISTERS


def _predicates(numbers: Iterable[int]) -> int:
    return sum(1 << (PREDICATE_BIT + n) for n in set(numbers) if n != PT)


_PAIRS = "dw"
_SINGLE = {
    "SHFL", "VOTE", "BAR", "B2R", "S2R", "R2B", "BRX", "JMX", "ALD", "IPA", "AL2P", "OUT", "ISBERD", "PIXLD",
}  # fmt: skip


def _source_words(step: Step) -> int:
    """How many registers a source can have, in instructions without an entry in OPERATIONS."""
    if step.op in ("ST", "STL", "STS"):
        return words_of(step.mods.get("size", 4))
    if step.op in ("ATOM", "ATOMS", "RED"):
        return 2
    if step.op == "AST":
        return step.mods["size"] + 1
    return 1 if step.op in _SINGLE else 4


def reads(step: Step) -> int:
    """Registers that an instruction reads, as a set."""
    found = _predicates([step.guard.n, *(p.n for p in step.predicates)])
    if step.test != ALWAYS or step.mods.get("x") or step.op in ("CSET", "CSETP", "P2R", "R2P", "IMNMX"):
        found |= 1 << FLAGS_BIT
    if step.texture is not None:
        return found | sum(registers_from(n) for n in set(step.texture.sources))
    operation = OPERATIONS.get(step.op)
    if operation is not None:
        for source, letter in zip(step.sources, operation.sources, strict=False):
            if source.kind == "reg":
                found |= registers_from(source.n, 2 if letter in _PAIRS else 1)
        if step.op == "MOV" and step.mods["mask"] != WHOLE_QUAD:
            found |= registers_from(step.dest)
        return found
    found |= registers_from(step.base, 2 if step.mods.get("e") else 1)
    for source in step.sources:
        if source.kind == "reg":
            found |= registers_from(source.n, _source_words(step))
    if step.indirect is not None:
        register = getattr(step.indirect, "register", None)
        found |= 0 if register is None else registers_from(register)
    return found


def reads_words(step: Step) -> int:
    """Registers that an instruction reads not only as f32, so that the bits of a NaN matter."""
    operation = OPERATIONS.get(step.op)
    if operation is None or step.texture is not None:
        return reads(step)
    words = floats = 0
    for source, letter in zip(step.sources, operation.sources, strict=False):
        if source.kind == "reg" and letter == "f":
            floats |= registers_from(source.n)
        elif source.kind == "reg":
            words |= registers_from(source.n, 2 if letter in _PAIRS else 1)
    return reads(step) & ~(floats & ~words)


def writes(step: Step) -> int:
    """Registers that an instruction can write."""
    found = _predicates(step.results)
    if step.texture is not None:
        return found | sum(registers_from(n) for n in set(step.texture.results))
    operation = OPERATIONS.get(step.op)
    if operation is not None:
        wide = any(letter in _PAIRS for letter in operation.dest)
        if step.op in ("F2I", "I2F", "F2F"):
            wide = step.mods["to"] in ((3, 7) if step.op == "F2I" else (3,))
        found |= registers_from(step.dest, 2 if wide else 1)
        if step.cc or step.op == "R2P":
            found |= 1 << FLAGS_BIT
        return found
    return found | registers_from(step.dest, written_words(step))


def written_words(step: Step) -> int:
    """How many registers from the destination on an instruction writes that has no entry in OPERATIONS."""
    if step.op == "LDC":
        return 2 if step.mods.get("size") == 5 else 1
    if step.op in ("LD", "LDL", "LDS"):
        return words_of(step.mods.get("size", 4))
    if step.op in ("ATOM", "ATOMS"):
        if step.mods.get("cas"):
            return 1 + step.mods.get("size", 0)
        return 2 if step.mods.get("type", 0) in ((2, 5) if step.op == "ATOM" else (2, 3)) else 1
    if step.op == "CS2R":
        return 2
    if step.op == "ALD":
        return step.mods["size"] + 1
    return 1


def surely_writes(step: Step) -> int:
    """Registers that an instruction writes as a whole, for all active lanes."""
    part = step.guarded or step.results or (step.op == "MOV" and step.mods["mask"] != WHOLE_QUAD)
    return 0 if part else writes(step)
