"""Random arithmetic instructions of Maxwell: the lanes code gives what a slow model in plain Python numbers gives.

    python tests/fuzz/sass_arithmetic.py --cases 100000 --seed 1

A case is one instruction word, for 32 threads with registers of their own full of awkward numbers, predicates and
condition codes. Words come from every form of the table in turn, and several go into one program. What is compared are
all registers, predicates and the condition code after the instruction.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from numpy.typing import NDArray
from support.fuzz import command
from support.slow_sass import RZ, SEMANTICS, WARP, Thread, constant_of, execute, execute_warp

from pocketgpu.events import EventLog
from pocketgpu.facts.maxwell.sass import FORMS, Form
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.decoder import decode, find_form
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import Launcher

BUFFER, SIZE = 0x1_0000_0000, 1 << 17
LANES = 32
REGISTERS = 12
"""Registers that instructions work on; two further words are predicates and the condition code."""
WORDS = 16
"""Words of memory for a thread and an instruction."""
BATCH = 16
OUT = BATCH * LANES * WORDS * 4
FIRST, CONSTANTS = 0x200, 64
"""Where constants begin in bank 0, in bytes, and how many words they are."""
ARITHMETIC = tuple(
    form
    for form in FORMS.values()
    if form.op in {*SEMANTICS, *WARP} and "INVALID" not in form.name and form.name != "VOTE.VTG"
)
"""Forms that the model knows: all arithmetic but MUFU, whose results are approximate, and FCHK, which may err; and
those by which threads of a warp see each other."""

_HEAD = """
    S2R R16, SR_TID.X
    SHL R16, R16, 0x6
    IADD R16.CC, R16, c[0x0][0x140]
    IADD.X R17, RZ, c[0x0][0x144]
"""
_LOAD = """
    LDG.E.128 R0, [R16+{0}]
    LDG.E.128 R4, [R16+{0}+0x10]
    LDG.E.128 R8, [R16+{0}+0x20]
    LDG.E.64 R12, [R16+{0}+0x30]
    R2P PR, R12, 0x7f
    R2P CC, R13, 0xf
"""
_STORE = """
    P2R R12, PR, RZ, 0x7f
    P2R R13, CC, RZ, 0xf
    STG.E.128 [R16+{0}], R0
    STG.E.128 [R16+{0}+0x10], R4
    STG.E.128 [R16+{0}+0x20], R8
    STG.E.64 [R16+{0}+0x30], R12
"""


def _words(text: str) -> list[int]:
    lines = text.strip().splitlines()
    code = np.frombuffer(assemble(text).code, "<u8")
    return [int(word) for i, word in enumerate(code) if i % 4][: len(lines)]


def _at(text: str, offset: int) -> list[int]:
    lines = []
    for line in text.strip().splitlines():
        before, _, rest = line.partition("{0}")
        if rest:
            more, _, after = rest.partition("]")
            line = f"{before}{offset + int(more.lstrip('+') or '0', 16):#x}]{after}"
        lines.append(line)
    return _words("\n".join(lines))


HEAD = _words(_HEAD)
LOADS = [_at(_LOAD, n * LANES * WORDS * 4) for n in range(BATCH)]
STORES = [_at(_STORE, OUT + n * LANES * WORDS * 4) for n in range(BATCH)]
EXIT = _words("EXIT")


def pack(words: Sequence[int]) -> bytes:
    """Code of instruction words, with control words before each three."""
    nop = 0x50B0000000070F00
    padded = np.array([*words, *[nop] * (-len(words) % 3)], "<u8").reshape(-1, 3)
    control = np.full((len(padded), 1), 0x001F8000FC0007E0, "<u8")
    return np.concatenate([control, padded], 1).tobytes()


_AWKWARD = np.array(
    [0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000,
     0x80000001, 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFF0000, 0xFFFF8000, 0x0804, 0x0820, 0x201F, 0x1F1F, 0x2000, 0x3210, 0x7654,
     # floats: ones and halves, infinities, no numbers, denormal ones and their limits, limits of integers
     0x3F800000, 0xBF800000, 0x3F000000, 0xBF000000, 0x3FC00000, 0x40200000, 0x7F800000, 0xFF800000, 0x7FC00000,
     0x7F800001, 0xFFC12345, 0x007FFFFF, 0x00800000, 0x00800001, 0x807FFFFF, 0x7F7FFFFF, 0xFF7FFFFF, 0x4EFFFFFF,
     0x4F000000, 0xCF000000, 0xCF000001, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x5F800000, 0xDF000000, 0x47000000,
     0x477FE000, 0x477FF000, 0x477FFFFF, 0x33000000, 0x33000001, 0x387FC000, 0x34000000, 0x4B000001, 0x4B7FFFFF,
     # upper words of doubles, pairs of halves
     0x3FF00000, 0xBFF00000, 0x3FE00000, 0x7FF00000, 0xFFF00000, 0x7FF80000, 0x7FEFFFFF, 0x000FFFFF, 0x00100000,
     0x41DFFFFF, 0x41E00000, 0xC1E00000, 0x41F00000, 0x43E00000, 0x43F00000, 0xC3E00000, 0x47EFFFFF, 0x36A00000,
     0x380FFFFF, 0x43300000, 0x3C003C00, 0xBC003800, 0x7C00FC00, 0x7E007C01, 0x000103FF, 0x04008400, 0x7BFFFBFF,
     0x3C010001],
    np.uint32,
)  # fmt: skip


def numbers(rng: np.random.Generator, count: int) -> NDArray[np.uint32]:
    """Awkward numbers, random ones, and floats whose exponents are near each other."""
    raw = rng.integers(0, 1 << 32, count, dtype=np.uint32)
    near = (rng.integers(0x78, 0x88, count, dtype=np.uint32) << np.uint32(23)) | (raw & np.uint32(0x807FFFFF))
    kind = rng.random(count)
    chosen = _AWKWARD[rng.integers(0, len(_AWKWARD), count)]
    return np.where(kind < 0.45, chosen, np.where(kind < 0.75, raw, near)).astype(np.uint32)


class Case(NamedTuple):
    """An instruction with what its threads begin with: uint32 (32, 16), and the constants: uint32 (64,)."""

    form: Form
    word: int
    before: NDArray[np.uint32]
    constants: NDArray[np.uint32]


def random_word(rng: np.random.Generator, form: Form) -> int:
    """A word of a form whose operands are among the registers in use; a third are guarded."""
    while True:
        word = form.value & form.mask
        for name, bits in form.fields.items():
            word = word & ~bits.mask | bits.put(_field(rng, form, name, bits.width))
        word = (word & ~form.mask | form.value & form.mask) & (1 << 64) - 1
        if find_form(word) is form and _meaningful(form, word):
            return word


def _field(rng: np.random.Generator, form: Form, name: str, width: int) -> int:
    if name == "guard":
        return 7 if rng.random() < 0.67 else int(rng.integers(0, 16))
    operand = next((o for o in form.operands if o.role == name), None)
    raw = int(rng.integers(0, 1 << min(width, 62)))
    if operand is None:
        suffix = name.partition(".")[2]
        if suffix == "cc":
            return int(rng.random() < 0.6)
        return int(rng.random() < 0.3) if suffix in ("neg", "abs", "inv", "not") else raw
    if operand.kind == "R":
        # Pairs of registers are even ones.
        even = raw % REGISTERS & ~int(form.op[0] == "D" or rng.random() < 0.5)
        return RZ if rng.random() < 0.1 else even
    if operand.kind in ("C", "CS"):
        return FIRST // 4 + int(rng.integers(0, CONSTANTS - 1))
    if operand.kind in ("I", "U", "F", "D", "H") and rng.random() < 0.5:
        awkward = int(_AWKWARD[rng.integers(0, len(_AWKWARD))])
        return awkward >> (32 - width) if operand.kind in "FDH" and width < 32 else awkward & (1 << width) - 1
    return raw


_REFUSED = ("INVALID", "???")


def _meaningful(form: Form, word: int) -> bool:
    """Whether no modifier has a value without a meaning, and pairs of registers are even."""
    instruction = decode(word)
    names = {name: str(v) for name, v in instruction.modifiers.items()}
    if any(name.startswith(_REFUSED) for name in names.values()):
        return False
    if form.op in ("I2I", "I2F", "IADD3", "VABSDIFF4"):
        parts = [getattr(operand, "part", "") for operand in instruction.roles.values()]
        if any(part.startswith(_REFUSED) for part in parts):
            return False
    if form.op in ("F2I", "I2F", "F2F"):
        wide = [role for role, mod in (("b", "from"), ("d", "to")) if names[mod] in ("F64", "U64", "S64")]
        fields = [form.fields[role].get(word) for role in wide if form.operand(role).kind == "R"]
        integer = form.operand("b").kind == "I" and "b" in wide  # 64 bits of an immediate of 20
        return all(n == RZ or n % 2 == 0 for n in fields) and not integer
    # Whole unsigned words whose product is subtracted need more bits than the lanes code keeps.
    return form.op != "VMAD" or "U32" not in (names["type_a"], names["type_b"]) or "a.neg" not in form.fields


def make(rng: np.random.Generator, form: Form) -> Case:
    before = numbers(rng, LANES * WORDS).reshape(LANES, WORDS)
    return Case(form, random_word(rng, form), before, numbers(rng, CONSTANTS))


def expected(case: Case) -> NDArray[np.uint32]:
    """What the slow model says, uint32 (32, 14)."""
    out = case.before[:, :14].copy()
    constant = constant_of(case.constants.tolist(), FIRST)
    threads = []
    for lane, row in enumerate(case.before.tolist()):
        predicates = [bool(row[12] >> i & 1) for i in range(7)] + [True]
        code = {letter: bool(row[13] >> i & 1) for i, letter in enumerate("zscv")}
        threads.append(Thread([*row[:REGISTERS], *[0] * 244], predicates, code, lane))
    guard = case.form.fields["guard"].get(case.word)
    active = [thread.predicates[guard & 7] != bool(guard >> 3) for thread in threads]
    if case.form.op in WARP:
        changes = execute_warp(case.form, case.word, threads, active)
    else:
        changes = [execute(case.form, case.word, thread, constant) for thread in threads]
    for row, thread, change, works in zip(out, threads, changes, active, strict=True):
        predicates, code = list(thread.predicates), thread.code
        if works:
            for n, v in change.registers.items():
                if n < REGISTERS:
                    row[n] = v
            for n, p in change.predicates.items():
                predicates[n] = p
            code = change.code or code
        row[12] = sum(p << i for i, p in enumerate(predicates[:7]))
        row[13] = sum(code[letter] << i for i, letter in enumerate("zscv"))
    return out


class Gpu:
    """Runs batches of instructions."""

    def __init__(self, evaluator: str = "llvm", tier: str = "interpreter") -> None:
        work = 32 * MIB
        self.memory = GpuMemory(work_size=work, capacity=1 * MIB)
        self.events, self.tier = EventLog(), tier
        engine = Engine(self.memory.arena, evaluator)
        self.launcher = Launcher(self.memory, engine, self.events, (self.memory.work_offset, work))
        self.memory.map(BUFFER, SIZE)

    def run(self, cases: Sequence[Case]) -> NDArray[np.uint32]:
        """What instructions leave, uint32 (cases, 32, 14). All take the constants of the first."""
        words = list(HEAD)
        for n, case in enumerate(cases):
            words += [*LOADS[n], case.word, *STORES[n]]
        bank = np.zeros((FIRST // 4 + CONSTANTS,), np.uint32)
        bank[0x140 // 4 : 0x148 // 4] = BUFFER & 0xFFFFFFFF, BUFFER >> 32
        bank[FIRST // 4 :] = cases[0].constants
        self.memory.write(BUFFER, np.stack([case.before for case in cases]).tobytes())
        code = Code("fuzz", pack([*words, *EXIT]), 32)
        self.launcher.launch(code, (1,), (LANES,), {0: bank.tobytes()}, tier=self.tier)
        found = np.frombuffer(self.memory.read(BUFFER + OUT, len(cases) * LANES * WORDS * 4), "<u4")
        return found.reshape(len(cases), LANES, WORDS)[:, :, :14]


def check(cases: Sequence[Case], found: NDArray[np.uint32]) -> list[str]:
    """What differs, in words."""
    problems = []
    for case, got in zip(cases, found, strict=True):
        wanted = expected(case)
        if np.array_equal(got, wanted):
            continue
        lane, place = (int(v[0]) for v in np.nonzero(got != wanted))
        name = f"R{place}" if place < 12 else ("predicates", "condition code")[place - 12]
        registers = " ".join(f"{v:x}" for v in case.before[lane, :14])
        problems.append(
            f"{case.form.name} {case.word:#018x} {decode(case.word)}: {name} is {got[lane, place]:#x}, not "
            f"{wanted[lane, place]:#x}, lane {lane} with {registers}"
        )
    return problems


def run(
    cases: int, seed: int = 1, first: int = 0, evaluator: str = "llvm", tier: str = "interpreter", stride: int = 1
) -> Counter[str]:  # fmt: skip
    """Check instructions. Every form has its turn; stride: in which order."""
    gpu = Gpu(evaluator, tier)
    counts: Counter[str] = Counter()
    for number in range(first, cases + first, BATCH):
        rng = np.random.default_rng([seed, number])
        turns = [(number + n) * stride % len(ARITHMETIC) for n in range(min(BATCH, cases + first - number))]
        batch = [make(rng, ARITHMETIC[turn]) for turn in turns]
        batch = [case._replace(constants=batch[0].constants) for case in batch]
        problems = check(batch, gpu.run(batch))
        assert not problems, f"seed {seed}, case {number}: " + "\n".join(problems)
        counts["cases"] += len(batch)
        counts.update(f"of {case.form.op}" for case in batch)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "instructions")
