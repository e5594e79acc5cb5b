"""Programs as the interpreter reads them: a STEP record for each instruction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pocketgpu.lanes import Engine, late
from pocketgpu.maxwell.sampling.calls import TextureCall
from pocketgpu.maxwell.sass.isa.operand import PT, RZ, Const, Indirect
from pocketgpu.maxwell.sass.program.control import LEAVES, PUSHES, Action, StackEntry, action_of
from pocketgpu.maxwell.sass.program.steps import OperandSource, Step
from pocketgpu.maxwell.sass.semantics import OPERATIONS
from pocketgpu.maxwell.sass.stages.instructions import INSTRUCTIONS
from pocketgpu.maxwell.sass.stages.stage import NONE, PIXEL
from pocketgpu.maxwell.sass.thread_memory.work import STEP
from pocketgpu.maxwell.sass.warp.record_machine import CONST, IMM, OTHERS, REG, UPPER, handled

interpret = late("pocketgpu.maxwell.sass.warp.interpreter", "interpret")
interpret_warp = late("pocketgpu.maxwell.sass.warp.interpreter", "interpret_warp")
BY_BANK, BY_REGISTER = 1, 2
"""STEP.TARGET_ADDRESS: a word of a constant bank says the target, or each lane has it in a register. Else it is known,
as STEP.TARGET."""
EXITS, SYNCS = 7, 8
"""STEP.ENTRY of EXIT and SYNC: numbers that no kind of entries has."""
_INVOKED = (Action.EXECUTE, Action.BARRIER, Action.REFUSE)
"""Actions that invoke the kernel of an operation."""


def operations_of(steps: tuple[Step, ...], reached: set[int], stage: int = NONE) -> set[str]:
    """Operations whose kernels a program needs."""
    return {steps[i].op for i in reached if _action_of(steps[i], stage) in _INVOKED}


def _action_of(step: Step, stage: int) -> Action:
    action = action_of(step, stage == PIXEL)
    known = handled(step.op) and not (step.op in INSTRUCTIONS and stage == NONE)
    return Action.REFUSE if action is Action.EXECUTE and not known else action


def _source_words(source: OperandSource) -> tuple[int, int]:
    kind = {"reg": REG, "imm": UPPER if source.bits >> 32 else IMM, "const": CONST}[source.kind]
    head = kind | int(source.negated) << 2 | int(source.absolute) << 3 | source.n << 4
    tail = source.offset if kind == CONST else source.bits >> 32 if kind == UPPER else source.bits
    return head, tail & 0xFFFFFFFF


def _mod_word(step: Step) -> int:
    operation = OPERATIONS.get(step.op)
    names = operation.mods.items() if operation is not None else OTHERS.get(step.op, ())
    packed = at = 0
    for name, width in names:
        value = int(step.mods.get(name, 0))
        assert 0 <= value < 1 << width, f"{step.name}: {value} does not fit modifier {name}"
        packed |= value << at
        at += width
    assert at <= 32, f"the modifiers of {step.op} do not fit a word"
    return packed


def encode(
    steps: tuple[Step, ...], handles: dict[str, int], stage: int = NONE
) -> NDArray[np.uint32]:  # fmt: skip
    """Records of a program. handles: of `interpret`, for the operations that have one."""
    column = {name: at // 4 for name, at in STEP.offsets.items()}
    rows = []
    for step in steps:
        row = [0] * (STEP.size // 4)
        rows.append(row)
        put = lambda name, v, n=0, row=row: row.__setitem__(column[name] + n, v & 0xFFFFFFFF)
        handle = handles.get(step.op, handles["GETCRSPTR"])
        put("HANDLE", handle)
        put("HANDLE", handle >> 32, 1)
        put("FLOW", _action_of(step, stage))
        put("GUARD", step.guard.n | step.guard.negated << 3 | step.test << 4 | (step.cc or step.op == "R2P") << 9)
        put("DEST", step.dest)
        results = [*step.results, *[PT] * 7][:7]
        put("RESULTS", sum(n << 4 * i for i, n in enumerate(results)))
        put("MODS", _mod_word(step))
        operation = OPERATIONS.get(step.op)
        sources = _sources(step)
        for n, source in enumerate(sources[:4] if operation is None else sources[: len(operation.sources)]):
            for i, v in enumerate(_source_words(source)):
                put("SOURCES", v, 2 * n + i)
        predicates = [p.n | p.negated << 3 for p in step.predicates]
        put("PREDICATES", sum(code << 4 * i for i, code in enumerate([*predicates, *[PT] * 7][:7])))
        put("TARGET", -1 if step.target is None else step.target)
        put("BASE", step.base)
        put("OFFSET", step.offset)
        put("ADDRESS", step.address)
        put("NUMBER", step.index)
        _put_flow(step, put)
        if step.texture is not None:
            _put_texture(step.texture, put)
    return np.array(rows, np.uint32).reshape(-1, STEP.size // 4)


def _put_texture(call: TextureCall, put: Callable[..., None]) -> None:
    registers = [min(n, RZ) for n in (*call.sources, *call.results)]
    for n in range(len(registers) // 4):
        put("SOURCES", int.from_bytes(bytes(registers[4 * n : 4 * n + 4]), "little"), n)
    for name, v in (("MODS", call.what), ("BASE", call.handle), ("OFFSET", call.kernel), ("ENTRY", call.action)):
        put(name, v)


def _sources(step: Step) -> list[OperandSource]:
    """Sources in the order in which a kernel reads them; missing ones are RZ."""
    sources = list(step.sources)
    if step.op == "BAR":
        number = sources.pop(0) if step.mods.get("barrier_register") else OperandSource("reg", RZ)
        sources = [number, *sources]
    if step.op in ("ST", "STL", "STS"):
        sources = sources[-1:]
    return [*sources, *[OperandSource("reg", RZ)] * 4][:4]


def _put_flow(step: Step, put: Callable[..., None]) -> None:
    op = step.op
    entry = PUSHES.get(op, LEAVES.get(op, EXITS if op == "EXIT" else SYNCS))
    put("ENTRY", StackEntry.CALLED if op == "CAL" else entry)
    if isinstance(step.indirect, Indirect):
        put("TARGET_ADDRESS", BY_REGISTER)
        put("BASE", step.indirect.register)
        put("OFFSET", step.indirect.offset + (step.address + 8 if op == "BRX" else 0))
    elif isinstance(step.indirect, Const) and step.indirect.register is None:
        put("TARGET_ADDRESS", BY_BANK)
        put("BASE", step.indirect.bank)
        put("OFFSET", step.indirect.offset)


def handles_of(engine: Engine, operations: set[str]) -> dict[str, int]:
    """Kernels of operations, made if they are not there yet."""
    return {op: engine.handle(interpret, op=op) for op in sorted({*operations, "GETCRSPTR"}) if handled(op)}


def at_hand(engine: Engine, operations: set[str]) -> bool:
    """Whether the kernels that a program needs are all there without compiling."""
    names = [op for op in {*operations, "GETCRSPTR"} if handled(op)]
    return engine.has(interpret_warp) and all(engine.has(interpret, op=op) for op in names)


__all__ = ["at_hand", "encode", "handles_of", "operations_of"]
