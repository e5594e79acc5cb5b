"""Random Maxwell programs: each runs to an end or to a hang event, and specialised code gives the interpreter's bytes.

    python tests/fuzz/sass_programs.py --cases 100000 --specialised 1000 --seed 1

Half of the programs are random instructions, half are made of branches, loops, calls and barriers (see
tests/support/random_sass.py). At its end each thread stores its registers, predicates and condition code. Compared are
memory, faults and whether a program hung: between the interpreter and specialised code, the same where turns are a few
instructions long and one takes over from the other, and the slow evaluator.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command
from support.random_sass import BUFFER, SIZE, Program, make

from pocketgpu.events import EventLog
from pocketgpu.lanes import Engine
from pocketgpu.maxwell.memory.gpu_memory import MIB, GpuMemory
from pocketgpu.maxwell.sass.launch.code import Code
from pocketgpu.maxwell.sass.launch.launcher import SLICE, TURNS, Launcher
from pocketgpu.maxwell.sass.thread_memory.work import SlotLayout

LIMIT = 4000
"""Steps after which a program is taken to hang."""
SHARED, LOCAL = 2048, 256


class Changing(Launcher):
    """With the tier "both" the interpreter begins, and specialised code takes over after some turns.

    Where jumps go anywhere specialised code may hand back to the interpreter, so the two take turns there.
    """

    def _function(
        self, code: Code, layout: SlotLayout, tier: str, count: bool, block: Sequence[int]
    ) -> Callable[[], tuple[int, int]]:
        if tier != "both":
            return super()._function(code, layout, tier, count, block)
        general = super()._function(code, layout, "interpreter", count, block)()
        special = super()._function(code, layout, "specialised", count, block)()
        both = (special[0], general[0])
        late = itertools.chain([general] * (1 + self.slice % 5), itertools.repeat(both))
        ways = itertools.cycle((general, both)) if code.jumps else late
        return lambda: next(ways)


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
        self.launcher = Changing(self.memory, self.engine, self.events, (self.memory.work_offset, work))
        self.memory.map(BUFFER, SIZE)

    def run(self, program: Program, tier: str, turn: int = SLICE) -> Outcome:
        """Run a program with turns of so many steps."""
        self.events.clear()
        self.memory.write(BUFFER, program.data)
        self.launcher.slice, self.launcher.turns = turn, TURNS if turn == SLICE else 1
        code = Code("fuzz", program.code, 32)
        result = self.launcher.launch(
            code, (1,), (program.threads,), {0: program.bank}, SHARED, LOCAL, limit=LIMIT, tier=tier
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
    if any("further faults" in fault[1] for fault in a.faults + b.faults):
        # How many are told one by one depends on the turns.
        told, other = (sum(fault[2] for fault in o.faults) for o in (a, b))
        return "" if told == other or full else f"{told} and {other} faults"
    if a.faults != b.faults and not full:
        return f"faults {a.faults[:2]} and {b.faults[:2]}"
    return ""


def run(cases: int, seed: int = 1, first: int = 0, *, specialised: int, numpy: int = 0) -> Counter[str]:
    """Run programs; of the first `specialised` compare specialised code, of the first `numpy` the slow evaluator."""
    counts: Counter[str] = Counter()
    gpu = Gpu()
    slow = Gpu("numpy") if numpy else None
    for number in range(first, first + cases):
        program = make(seed, number)
        outcome = gpu.run(program, "interpreter")
        name = "woven" if program.woven else "wild"
        counts.update({"cases": 1, name: 1, "steps": outcome.steps})
        counts[f"{name} hung"] += outcome.hung
        counts["faults"] += bool(outcome.faults)
        if counts["specialised"] < specialised:
            tiers = {"specialised": gpu.run(program, "specialised")}
            if program.threads <= 32:
                # One warp: with several, shorter turns would be another order of what they do to memory.
                tiers["both"] = gpu.run(program, "both", 3 + number % 40)
            for tier, other in tiers.items():
                problem = compare(outcome, other)
                assert not problem, f"seed {seed}, program {number}, {tier}: {problem}"
                counts[tier] += 1
        if slow is not None and counts["numpy"] < numpy and not outcome.hung and outcome.steps < 500:
            tier = ("interpreter", "specialised")[counts["numpy"] % 8 > 0]
            problem = compare(outcome, slow.run(program, tier))
            assert not problem, f"seed {seed}, program {number}, numpy {tier}: {problem}"
            counts["numpy"] += 1
    return counts


if __name__ == "__main__":
    command(__doc__, run, "programs", specialised=1000, numpy=100)
