"""Atomic operations of all types against plain Python, threads in ascending order."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support import slow_numbers as num
from support.slow_numbers import HALF, SINGLE

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
CAS, EXCH = "CAS", "EXCH"


def combined(op: str, kind: str, old: int, v: int, second: int) -> int:
    """What a cell holds afterwards."""
    width = 64 if "64" in kind else 32
    mask = (1 << width) - 1
    if kind.startswith("F32"):
        a, b = (num.decode(num.flushed(x, SINGLE), SINGLE) for x in (old, v))
        return num.flushed(num.encode(num.add(a, b), SINGLE), SINGLE)
    if kind.startswith("F16"):
        halves = []
        for shift in (0, 16):
            a, b = (num.decode(num.flushed(x >> shift & 0xFFFF, HALF), HALF) for x in (old, v))
            halves.append(num.flushed(num.encode(num.add(a, b), HALF), HALF) << shift)
        return halves[0] | halves[1]
    key = (lambda x: x - (x >> (width - 1) << width)) if kind[0] == "S" else int
    found = {
        "ADD": lambda: old + v, "MIN": lambda: min(old, v, key=key), "MAX": lambda: max(old, v, key=key),
        "INC": lambda: 0 if old >= v else old + 1, "DEC": lambda: v if old == 0 or old > v else old - 1,
        "AND": lambda: old & v, "OR": lambda: old | v, "XOR": lambda: old ^ v, EXCH: lambda: v,
        CAS: lambda: second if old == v else old,
    }  # fmt: skip
    return found[op]() & mask


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
