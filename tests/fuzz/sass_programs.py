"""Random Maxwell programs: each runs to an end or to a hang event, and specialised code gives the interpreter's bytes.

    python tests/fuzz/sass_programs.py --cases 100000 --specialised 1000 --seed 1

A program is random instructions of the table with registers, targets and addresses that often make sense: they read and
write a buffer, shared and local memory, branch, call, vote, shuffle and meet at barriers. At its end each thread
stores its registers. Compared are the buffer, faults and whether it hung.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))

import numpy as np

from pocketgpu.events import EventLog
from pocketgpu.facts.maxwell.sass import FORMS, Form
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.assembler import assemble
from pocketgpu.maxwell.sass.decoder import find_form
from pocketgpu.maxwell.sass.isa import offset_of
from pocketgpu.maxwell.sass.launch import Code, Launcher

BUFFER, SIZE = 0x1_0000_0000, 1 << 16
LIMIT = 4000
"""Steps after which a program is taken to hang."""
WORDS = 64  # of constants in bank 0 from 0x140 on
REGISTERS = 12
_SKIPPED = {
    "TEX", "TEXS", "TLD", "TLDS", "TLD4", "TLD4S", "TXD", "TXQ", "TXA", "TMML", "SULD", "SUST", "SURED", "SUATOM",
    "IPA", "ALD", "AST", "AL2P", "ISBERD", "OUT", "PIXLD", "KIL", "CCTLT",
}  # fmt: skip
"""Instructions that need textures or the 3D engine."""
_ALL = tuple(form for form in FORMS.values() if form.op not in _SKIPPED)
_FLOW = tuple(
    form
    for form in _ALL
    if form.op in ("BRA", "SSY", "SYNC", "PBK", "BRK", "PCNT", "CONT", "CAL", "RET", "EXIT", "BRX")
)
_MEMORY = tuple(
    form
    for form in _ALL
    if form.op in ("LDG", "STG", "LD", "ST", "LDL", "STL", "LDS", "STS", "LDC", "ATOM", "ATOMS", "RED")
)
_WARP = tuple(form for form in _ALL if form.op in ("VOTE", "SHFL", "BAR", "B2R", "S2R"))
# R20 is where a thread's registers go; R8 and R9 are an address in the buffer.
_HEAD = """
    S2R R20, SR_TID.X
    MOV R0, R20
    SHL R20, R20, 0x6
    IADD R20.CC, R20, c[0x0][0x140]
    IADD.X R21, RZ, c[0x0][0x144]
    SHL R8, R0, 0x4
    IADD R8.CC, R8, c[0x0][0x148]
    IADD.X R9, RZ, c[0x0][0x14c]
    MOV R1, c[0x0][0x150]
    MOV R2, c[0x0][0x154]
    XMAD R3, R0, c[0x0][0x158], R1
    MOV R4, c[0x0][0x15c]
    LDG.E.64 R6, [R8]
    ISETP.LT.AND P0, PT, R0, 0x11, PT
    LOP.AND R5, R0, 0x3
    ISETP.EQ.AND P1, PT, R5, 0x1, PT
"""
_TAIL = """
    STG.E.128 [R20], R0
    STG.E.128 [R20+0x10], R4
    STG.E.128 [R20+0x20], R8
    STG.E.128 [R20+0x30], R12
    EXIT
"""


def _words(text: str) -> list[int]:
    """Instruction words of a text."""
    code = np.frombuffer(assemble(text).code, "<u8")
    return [int(word) for i, word in enumerate(code) if i % 4]


def _until_nop(words: list[int], count: int) -> list[int]:
    return words[:count]


HEAD = _until_nop(_words(_HEAD), len(_HEAD.strip().splitlines()))
TAIL = _until_nop(_words(_TAIL), len(_TAIL.strip().splitlines()))


def pack(words: list[int]) -> bytes:
    """Code of instruction words, with control words before each three."""
    out: list[int] = []
    padded = [*words, *[0x50B0000000070F00] * (-len(words) % 3)]
    for i in range(0, len(padded), 3):
        out += [0x001F8000FC0007E0, *padded[i : i + 3]]
    return np.array(out, "<u8").tobytes()


def instruction(r: random.Random, index: int, total: int) -> int:
    """A random instruction for place `index` of `total`."""
    pool = r.choices((_ALL, _FLOW, _MEMORY, _WARP), (70, 14, 10, 6))[0]
    while True:
        form = r.choice(pool)
        word = form.value & form.mask
        for name, bits in form.fields.items():
            word &= ~bits.mask
            word |= bits.put(_field(r, form, name, bits.width, index, total))
        word = (word & ~form.mask | form.value & form.mask) & (1 << 64) - 1  # a field can be among the scheduling bits
        if find_form(word) is not None:
            return word


def _field(r: random.Random, form: Form, name: str, width: int, index: int, total: int) -> int:
    """A value for a field."""
    if name == "guard":
        return 7 if r.random() < 0.65 else r.choice((0, 1, 2, 8, 9, 10, 15))
    operand = next((o for o in form.operands if o.role == name), None)
    if operand is not None:
        if operand.kind in ("R", "V"):
            return _register(r)
        if operand.kind == "P":
            return r.choice((0, 1, 2, 3, 7, 7))
        if operand.kind == "T":
            target = r.randrange(len(HEAD), total) if r.random() < 0.5 else r.randrange(index, total)
            return (offset_of(target) - offset_of(index) - 8) & ((1 << width) - 1)
        if operand.kind in ("C", "CS"):
            return (0x140 // 4 + r.randrange(WORDS)) & ((1 << width) - 1)
        if operand.kind == "M":
            return r.randrange(0, 64) * r.choice((1, 4, 16)) & ((1 << width) - 1)
        if operand.kind == "X" and name == "cc":
            return 15 if r.random() < 0.85 else r.getrandbits(width)
    if name.endswith(".base"):
        return 8 if r.random() < 0.5 else r.choice((255, 255, _register(r)))
    if name.endswith((".neg", ".abs", ".inv", ".not")):
        return int(r.random() < 0.2)
    return r.getrandbits(width)


def _register(r: random.Random) -> int:
    return 255 if r.random() < 0.1 else r.randrange(REGISTERS)


class Program(NamedTuple):
    """A program with what it starts from."""

    code: bytes
    bank: bytes
    data: bytes
    threads: int


def make(seed: int, number: int) -> Program:
    """Program `number` of a seed."""
    r = random.Random(f"{seed}/{number}")
    count = r.choice((2, 5, 10, 20, 40))
    total = len(HEAD) + count + len(TAIL)
    body = [instruction(r, len(HEAD) + i, total) for i in range(count)]
    bank = bytearray(0x140 + 4 * WORDS)
    bank[0:8] = (0x0100_0000).to_bytes(4, "little") + (0x0200_0000).to_bytes(4, "little")
    bank[0x20:0x24] = (256).to_bytes(4, "little")
    bank[0x140:] = np.array([_number(r) for _ in range(WORDS)], "<u4").tobytes()
    bank[0x140:0x150] = BUFFER.to_bytes(8, "little") + (BUFFER + SIZE // 2).to_bytes(8, "little")
    data = np.array([_number(r) for _ in range(256)], "<u4").tobytes() * (SIZE // 1024)
    return Program(pack([*HEAD, *body, *TAIL]), bytes(bank), data, r.choice((1, 32, 40, 64, 96)))


def _number(r: random.Random) -> int:
    special = (0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x3F800000, 0x7F800000, 0x7FC00001, 0x00000001, 0x80000001)
    return r.choice(special) if r.random() < 0.4 else r.getrandbits(32)


class Outcome(NamedTuple):
    data: bytes
    faults: tuple[Any, ...]
    hung: bool
    steps: int


class Gpu:
    """A memory with the buffer, and what runs programs on it."""

    def __init__(self, evaluator: str = "llvm") -> None:
        work = 64 * MIB
        self.memory = GpuMemory(work_size=work, capacity=4 * MIB)
        self.engine = Engine(self.memory.arena, evaluator)
        self.events = EventLog()
        self.launcher = Launcher(self.memory, self.engine, self.events, (self.memory.work_offset, work))
        self.memory.map(BUFFER, SIZE)

    def run(self, program: Program, tier: str) -> Outcome:
        self.events.clear()
        self.memory.write(BUFFER, program.data)
        code = Code("fuzz", program.code, 32)
        result = self.launcher.launch(
            code, (1,), (program.threads,), {0: program.bank}, 1024, 256, limit=LIMIT, tier=tier
        )
        faults = tuple((e.kind, e.message, e.count) for e in self.events if e.kind == "fault")
        return Outcome(self.memory.read(BUFFER, SIZE), faults, result.hung, result.steps)


def compare(a: Outcome, b: Outcome) -> str:
    """How two outcomes of one program differ; those of programs that were stopped are not compared."""
    if a.hung or b.hung:
        return "" if (a.hung and b.hung) or max(a.steps, b.steps) > LIMIT // 2 else "only one hangs"
    # A warp whose stack is full is stopped at the end of its turn, which is not the same place everywhere.
    full = any("divergence stack" in fault[1] for fault in a.faults + b.faults) or max(a.steps, b.steps) > LIMIT // 2
    if a.data != b.data and not full:
        x, y = (np.frombuffer(o.data, "<u4") for o in (a, b))
        place = int(np.flatnonzero(x != y)[0])
        return f"word {place}: {x[place]:#x} and {y[place]:#x}, {int((x != y).sum())} in all"
    if a.faults != b.faults and not full:
        return f"faults {a.faults[:2]} and {b.faults[:2]}"
    return ""


def run(cases: int, specialised: int, seed: int = 1, first: int = 0, numpy: int = 0) -> Counter[str]:
    """Run programs; of the first `specialised` compare specialised code, of the first `numpy` the slow evaluator."""
    counts: Counter[str] = Counter()
    gpu = Gpu()
    slow = Gpu("numpy") if numpy else None
    for number in range(first, first + cases):
        program = make(seed, number)
        outcome = gpu.run(program, "interpreter")
        counts["cases"] += 1
        counts["hung"] += outcome.hung
        counts["faults"] += bool(outcome.faults)
        counts["steps"] += outcome.steps
        if counts["specialised"] < specialised:
            problem = compare(outcome, gpu.run(program, "specialised"))
            assert not problem, f"seed {seed}, program {number}: {problem}"
            counts["specialised"] += 1
        if slow is not None and counts["numpy"] < numpy and not outcome.hung and outcome.steps < 500:
            for tier in ("interpreter", "specialised"):
                problem = compare(outcome, slow.run(program, tier))
                assert not problem, f"seed {seed}, program {number}, numpy {tier}: {problem}"
            counts["numpy"] += 1
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--specialised", type=int, default=1000)
    parser.add_argument("--numpy", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    started = time.perf_counter()
    counts = run(options.cases, options.specialised, options.seed, options.first, options.numpy)
    print(f"{counts['cases']} programs in {time.perf_counter() - started:.0f} s: {dict(counts)}")


if __name__ == "__main__":
    main()
