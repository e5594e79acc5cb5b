"""Atomic operations of all types against plain Python, threads in ascending order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.slow_atomics import CAS, EXCH, combined

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER, SIZE = 0x1_0000_0000, 8192
LANES, CELLS = 32, 8
# Each thread takes its operands (16 bytes) and a cell (8 bytes) that it shares with others, and leaves what it got.
HEAD = """
    S2R R0, SR_TID.X
    SHL R10, R0, 0x4
    LOP.AND R12, R0, 0x7
    SHL R12, R12, 0x3
    IADD R10.CC, R10, c[0x0][0x140]
    IADD.X R11, RZ, c[0x0][0x144]
    MOV R14, R12
    IADD R12.CC, R12, c[0x0][0x140]
    IADD.X R13, RZ, c[0x0][0x144]
    LDG.E.128 R4, [R10+0x200]
    LDG.E.64 R8, [R12]
"""
SHARED_IN = "    STS.64 [R14], R8\n"
SHARED_OUT = "    LDS.U.64 R8, [R14]\n    STG.E.64 [R12], R8\n"
TAIL = "    STG.E.64 [R10+0x400], R2\n    EXIT\n"


def run(
    line: str, shared: bool, cells: NDArray[np.uint64], data: NDArray[np.uint64], evaluator: str, tier: str
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:  # fmt: skip
    """(cells, results) after an instruction that puts its result into R2 and R3."""
    work = 32 * MIB
    memory, events = GpuMemory(work_size=work, capacity=1 * MIB), EventLog()
    memory.map(BUFFER, SIZE)
    memory.write(BUFFER, cells.tobytes())
    memory.write(BUFFER + 0x200, data.tobytes())
    launcher = Launcher(memory, Engine(memory.arena, evaluator), events, (memory.work_offset, work))
    text = HEAD + (SHARED_IN if shared else "") + f"    {line}\n" + (SHARED_OUT if shared else "") + TAIL
    bank = bytearray(0x148)
    bank[0x140:0x148] = BUFFER.to_bytes(8, "little")
    launcher.launch(Code("k", assemble(text).code, 16), (1,), (LANES,), {0: bytes(bank)}, 64, 0, tier=tier)
    assert not list(events)
    found = np.frombuffer(memory.read(BUFFER, 0x400 + 16 * LANES), "<u8")
    return found[:CELLS], found[0x400 // 8 :: 2]


GLOBAL_KINDS = {
    "U32": "ADD MIN MAX INC DEC AND OR XOR EXCH CAS", "S32": "ADD MIN MAX", "U64": "ADD MIN MAX AND OR XOR EXCH CAS",
    "S64": "MIN MAX", "F32.FTZ.RN": "ADD", "F16x2.FTZ.RN": "ADD",
}  # fmt: skip
SHARED_KINDS = {"U32": "ADD MIN MAX INC DEC AND OR XOR EXCH CAS", "S32": "MIN MAX", "U64": "ADD EXCH CAS", "S64": "MAX"}
REDUCED = {"U32": "ADD MIN MAX INC DEC AND OR XOR", "S32": "MIN MAX", "U64": "ADD MIN", "S64": "MAX",
           "F32.FTZ.RN": "ADD", "F16x2.FTZ.RN": "ADD"}  # fmt: skip
CASES = [
    (name, op, kind)
    for name, kinds in (("ATOM", GLOBAL_KINDS), ("ATOMS", SHARED_KINDS), ("RED", REDUCED))
    for kind, ops in kinds.items()
    for op in ops.split()
]


def line_of(name: str, op: str, kind: str) -> str:
    """The instruction: address in R12:R13, or R14 of shared memory; operands in R4 and up, the old value into R2."""
    suffix = "" if kind == "U32" else f".{kind}"
    where = "[R14]" if name == "ATOMS" else "[R12]"
    wide = "" if name == "ATOMS" else ".E"
    if op == CAS:
        return f"{name}{wide}.CAS{'.64' if '64' in kind else ''} R2, {where}, R4, {'R6' if '64' in kind else 'R5'}"
    return f"{name}{wide}.{op}{suffix} {'' if name == 'RED' else 'R2, '}{where}, R4"


@pytest.mark.parametrize("way", ["llvm interpreter", "llvm specialised", "numpy specialised"])
@pytest.mark.parametrize("name, op, kind", CASES)
def test_atomic(name: str, op: str, kind: str, way: str) -> None:
    rng = np.random.default_rng(CASES.index((name, op, kind)))
    wide = "64" in kind
    mask = (1 << 64) - 1 if wide else 0xFFFFFFFF
    few = np.array([0, 1, 2, 0x80000000, 0x7F800000, 0x3C00BC00, 0x00018001, 0x7FFFFFFF], np.uint64)
    pool = np.concatenate([few, few << np.uint64(32), rng.integers(0, 1 << 63, 8, np.uint64)])
    cells = pool[rng.integers(0, len(pool), CELLS)]
    data = pool[rng.integers(0, len(pool), 2 * LANES)]
    if op == CAS:  # some find what they look for
        data[0:32:2] = (cells[np.arange(16) % CELLS] & np.uint64(mask)) | (
            data[0:32:2] & np.uint64(~mask & (1 << 64) - 1)
        )
    got_cells, got = run(line_of(name, op, kind), name == "ATOMS", cells, data, *way.split())
    wanted = [int(v) for v in cells]
    for lane in range(LANES):
        cell, words = lane % CELLS, [int(v) for v in data[2 * lane : 2 * lane + 2]]
        old = wanted[cell] & mask
        v, second = (words[0], words[1]) if wide else (words[0] & mask, words[0] >> 32)
        if name != "RED":
            assert int(got[lane]) & mask == old, f"lane {lane}"
        wanted[cell] = wanted[cell] & ~mask | combined(op, kind, old, v, second)
    assert got_cells.tolist() == wanted


INTEGERS = ("U32", "S32", "U64", "S64")
EVERY = [(op, kind) for kind in INTEGERS for op in ["ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"]]
OF_ATOM = [(op, kind) for kind in ("U32", "U64") for op in (EXCH, CAS)]
FLOATS = [("ADD", "F32.FTZ.RN"), ("ADD", "F16x2.FTZ.RN")]
OPERATIONS_OF = {"RED": EVERY + FLOATS, "ATOM": EVERY + FLOATS + OF_ATOM, "ATOMS": EVERY + OF_ATOM}
# Each operation of a program has its own cells, operands and results; threads share a cell as above.
ROOM = {"cells": 0, "data": 0x2000, "results": 0x8000, "end": 0x10000}


def a_program_of_all(name: str) -> str:
    """Takes 16 bytes of operands for each thread and operation, and leaves the old values."""
    text = HEAD + "    MOV R16, R12\n    MOV R17, R13\n    MOV R18, R14\n"
    for n, (op, kind) in enumerate(OPERATIONS_OF[name]):
        at, data = 8 * CELLS * n, 16 * LANES * n
        text += f"    LDG.E.128 R4, [R10+{ROOM['data'] + data:#x}]\n    LDG.E.64 R8, [R16+{at:#x}]\n"
        text += f"    STS.64 [R18+{at:#x}], R8\n    MOV R2, RZ\n    MOV R3, RZ\n"
        text += f"    IADD32I R12, R16, {at:#x}\n    IADD32I R14, R18, {at:#x}\n    {line_of(name, op, kind)}\n"
        text += f"    STG.E.64 [R10+{ROOM['results'] + data:#x}], R2\n"
        if name == "ATOMS":
            text += f"    LDS.U.64 R8, [R18+{at:#x}]\n    STG.E.64 [R16+{at:#x}], R8\n"
    return text + "    EXIT\n"


@pytest.mark.parametrize("tier", ["interpreter", "specialised"])
@pytest.mark.parametrize("name", OPERATIONS_OF)
def test_all_operations_on_all_types(name: str, tier: str) -> None:
    """Numbers with either sign, in both halves: operations that only differ there must differ."""
    rng, operations = np.random.default_rng(5), OPERATIONS_OF[name]
    pool = np.array([0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0x3C00BC00], np.uint64)
    pool = np.concatenate([pool, rng.integers(0, 1 << 32, 9, np.uint64)])
    words = pool[rng.integers(0, len(pool), (2, len(operations), CELLS + 2 * LANES))]
    pairs = words[0] | words[1] << np.uint64(32)
    cells, data = pairs[:, :CELLS].copy(), pairs[:, CELLS:].reshape(len(operations), LANES, 2).copy()
    memory, events, work = GpuMemory(work_size=32 * MIB, capacity=1 * MIB), EventLog(), 32 * MIB
    memory.map(BUFFER, ROOM["end"])
    for n, (op, _) in enumerate(operations):
        if op == CAS:
            data[n, ::2, 0] = cells[n, np.arange(LANES)[::2] % CELLS]  # some find what they look for
    memory.write(BUFFER, cells.tobytes())
    memory.write(BUFFER + ROOM["data"], data.tobytes())
    launcher = Launcher(memory, Engine(memory.arena, "llvm"), events, (memory.work_offset, work))
    bank = bytearray(0x148)
    bank[0x140:0x148] = BUFFER.to_bytes(8, "little")
    code = Code("k", assemble(a_program_of_all(name)).code, 20)
    launcher.launch(code, (1,), (LANES,), {0: bytes(bank)}, 8 * CELLS * len(operations), 0, tier=tier)
    assert not list(events)
    results = np.frombuffer(memory.read(BUFFER + ROOM["results"], data.nbytes), "<u8").reshape(data.shape)
    found = np.frombuffer(memory.read(BUFFER, cells.nbytes), "<u8").reshape(cells.shape)
    for n, (op, kind) in enumerate(operations):
        mask = (1 << 64) - 1 if "64" in kind else 0xFFFFFFFF
        wanted = [int(v) for v in cells[n]]
        for lane in range(LANES):
            cell, (first, other) = lane % CELLS, (int(v) for v in data[n, lane])
            old = wanted[cell] & mask
            second = other if "64" in kind else first >> 32
            assert int(results[n, lane, 0]) == (0 if name == "RED" else old), f"{op} {kind}, lane {lane}"
            wanted[cell] = wanted[cell] & ~mask | combined(op, kind, old, first & mask, second)
        assert found[n].tolist() == wanted, f"{op} {kind}"
