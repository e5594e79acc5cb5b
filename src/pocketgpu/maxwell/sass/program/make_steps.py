"""Steps out of decoded instructions."""

from __future__ import annotations

from dataclasses import replace

from pocketgpu.maxwell.sampling.calls import texture_call
from pocketgpu.maxwell.sass.isa.instruction import Program
from pocketgpu.maxwell.sass.isa.operand import RZ, Attr, Const, Imm, Indirect, Label, Mem, Name, Reg, Special, Swap
from pocketgpu.maxwell.sass.program.arithmetic_steps import parts_of, results_of
from pocketgpu.maxwell.sass.program.step_reader import Reader
from pocketgpu.maxwell.sass.program.steps import ALWAYS, OperandSource, Predicate, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.thread_memory.access import GLOBAL
from pocketgpu.maxwell.sass.thread_memory.work import Barrier

_SAME = {
    "FADD32I": "FADD", "FMUL32I": "FMUL", "FFMA32I": "FFMA", "IADD32I": "IADD", "LOP32I": "LOP", "IMUL32I": "IMUL",
    "IMAD32I": "IMAD", "ISCADD32I": "ISCADD", "MOV32I": "MOV", "HADD2_32I": "HADD2", "HMUL2_32I": "HMUL2",
    "HFMA2_32I": "HFMA2", "JMP": "BRA", "JCAL": "CAL", "LDG": "LD", "STG": "ST",
}  # fmt: skip
"""Instructions that do the same as another one."""
_GLOBAL = ("LDG", "STG")
_STAGE_SOURCES = {
    "ALD": "c", "AST": ("c", "data"), "IPA": "bc", "AL2P": "a", "OUT": "ab", "ISBERD": "", "PIXLD": "",
}  # fmt: skip
"""Instructions of stages of graphics with the roles of their sources."""
_NUMBERS = ("sr", "barrier", "count", "mask", "handle", "query", "dim")
"""Roles of operands that steps have as modifiers."""


def step_of(program: Program, index: int) -> Step:
    """Instruction number `index` of a program."""
    r = Reader(program[index])
    instruction = r.instruction
    op = _SAME.get(instruction.op, instruction.op)
    guard = Predicate(instruction.guard.n, instruction.guard.negated)
    step = Step(index, instruction.address, op, guard=guard, name=instruction.op)
    texture = texture_call(op, r)
    if texture is not None:
        return replace(step, op="TEX", results=_one_result(r), texture=texture)
    if op in _STAGE_SOURCES:
        return _stage_step(r, step)
    if op not in OPERATIONS:
        return _other_step(r, step, program)
    parts = parts_of(r, op)
    return replace(
        step, mods=parts.mods, dest=r.register("d"), results=results_of(r, op), sources=tuple(parts.sources),
        predicates=tuple(parts.predicates), cc=bool(r.raw("d.cc")),
    )  # fmt: skip


def _one_result(r: Reader) -> tuple[int, ...]:
    """The predicate that an instruction writes, if its form has one."""
    return (r.result("p"),) if "p" in r.roles else ()


def _stage_step(r: Reader, step: Step) -> Step:
    """A step that reads or writes attributes, or asks about pixels."""
    mods = {name: r.raw(name) for name in ("op", "sample", "sat", "size", "o", "mode")} | {"p": int(r.has(".P"))}
    address = r.roles.get("addr")
    base, offset = RZ, r.roles.get("offset")
    at = int(offset.value) if isinstance(offset, Imm) else 0
    if isinstance(address, Attr | Mem):
        base, at = RZ if address.register is None else address.register, address.offset
    sources = tuple(r.source(role) for role in _STAGE_SOURCES[step.op])
    results = _one_result(r) if step.op in ("AL2P", "PIXLD") else ()
    return replace(step, mods=mods, dest=r.register("d"), results=results, sources=sources, base=base, offset=at)


def _other_step(r: Reader, step: Step, program: Program) -> Step:
    """A step of memory, warp or control flow."""
    mods = r.modifiers()
    if r.instruction.op in _GLOBAL:
        mods["space"] = GLOBAL
    if step.op == "BAR":
        kind = Barrier.POPC + mods.get("mode", 0)
        mods["kind"] = Barrier.SYNC if r.has(".SYNC") else Barrier.ARRIVE if r.has(".ARV") else kind
    elif step.op == "B2R":
        mods["result"] = int(r.has(".RESULT"))
    base, offset = _address(r, step, mods)
    target, address, indirect = _target(r, program)
    test = r.roles.get("cc")
    return replace(
        step, mods=mods, dest=r.register("d"), results=_one_result(r), sources=tuple(_other_sources(r, step, mods)),
        predicates=(r.predicate("s"),) if "s" in r.roles else (), base=base, offset=offset,
        test=test.value if isinstance(test, Name) else ALWAYS, target=target, target_address=address, indirect=indirect,
    )  # fmt: skip


def _address(r: Reader, step: Step, mods: dict[str, int]) -> tuple[int, int]:
    """Base register and offset of what an instruction reads or writes; notes the bank of constants."""
    found = r.roles.get("b" if step.op == "LDC" else "addr")
    if step.op == "LDC":
        assert isinstance(found, Const)
        mods["bank"] = found.bank
    if isinstance(found, Mem | Const):
        return RZ if found.register is None else found.register, found.offset
    return RZ, 0


def _target(r: Reader, program: Program) -> tuple[int | None, int | None, Indirect | Const | None]:
    """Where an instruction goes or what it pushes: (instruction, code address, its source at run time)."""
    target = r.roles.get("target")
    if isinstance(target, Indirect | Const):
        return None, None, target
    address = target.target if isinstance(target, Label) else target.bits if isinstance(target, Imm) else None
    return None if address is None else program.index_of(address), address, None


def _other_sources(r: Reader, step: Step, mods: dict[str, int]) -> list[OperandSource]:
    """Sources in the order in which executors ask for them; notes numbers that are operands as modifiers."""
    roles, sources = r.roles, []
    for role in "abc":
        if isinstance(roles.get(role), Reg | Imm | Const) and step.op != "LDC":
            sources.append(r.source(role))
    data = roles.get("data")
    if isinstance(data, Reg):
        sources.append(OperandSource("reg", data.n))
    elif isinstance(data, Swap):
        sources += [OperandSource("reg", data.compare), OperandSource("reg", data.store)]
        mods["cas"] = 1
    for role in _NUMBERS:
        found = roles.get(role)
        if isinstance(found, Special):
            mods[role] = found.n
        elif isinstance(found, Imm):
            mods[role] = found.bits
        elif isinstance(found, Name):
            mods[role] = found.value
        elif isinstance(found, Reg):
            sources.append(OperandSource("reg", found.n))
            mods[f"{role}_register"] = 1
    return sources


__all__ = ["step_of"]
