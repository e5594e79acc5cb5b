"""Blocks of pixels with random registers at the end of the Switch's pipeline: nothing is stored outside of targets, and
both evaluators and both tiers store the same.

    python tests/fuzz/output.py --cases 100000 --seed 1
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

import numpy as np
from support.fuzz import command
from support.output_case import TARGET_ROOM, Case, Result, place_of, run_made
from support.output_random import random_case
from support.reads import names_read

from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.graphics.output.state import OutputState


@cache
def _names() -> tuple[str, ...]:
    """The methods that matter."""
    header = Case({}, outputs=(15,) * 8, kills=True, gives_mask=True).header()
    return names_read(lambda state: OutputState.of(state, header, choose(), True))


def _damaged(case: Case, rng: np.random.Generator) -> Case:
    """The case with a few registers that are something else, anywhere, and in any layer."""
    registers = dict(case.registers)
    for _ in range(int(rng.integers(0, 5))):
        name = _names()[int(rng.integers(len(_names())))]
        count = B197[name].count
        value = (int(rng.integers(0, 9)), 1 << int(rng.integers(32)), int(rng.integers(1 << 32)))[int(rng.integers(3))]
        registers[f"{name}:{int(rng.integers(count))}" if count > 1 else name] = value
    where = (int(rng.choice([1, 8, 1 << 12])) * int(rng.integers(8)) for _ in range(2))
    x, y = (case.x, case.y) if rng.random() < 0.7 else (8 * next(where), 4 * next(where))
    layer = int(rng.choice([0, 0, 1, 3, 0xFFFF]))
    return replace(case, registers=registers, x=x, y=y, layer=layer, layered=bool(rng.integers(2)))


def _outside(case: Case, out: OutputState, found: Result) -> bool:
    """Whether a byte that belongs to no target is another one now."""
    same = (found.memory == case.memory).reshape(9, TARGET_ROOM)
    for target in (*out.colours, *([out.zeta] if out.zeta is not None else [])):
        same[place_of(target) // TARGET_ROOM, : target.size] = True
    return not same.all()


def run(cases: int, seed: int, first: int = 0, numpy_every: int = 20, special_every: int = 200) -> Counter[str]:
    """Counts: cases; refused: no room for a target; stored: a byte changed; compared, special: with NumPy, with
    specialised machine code."""
    counts: Counter[str] = Counter()
    for number in range(first, first + cases):
        rng = np.random.default_rng([seed, number])
        case = _damaged(random_case(int(rng.integers(1 << 30))), rng)
        case = replace(case, colours=np.nan_to_num(case.colours, nan=0.5))
        counts["cases"] += 1
        try:
            out = case.output()
        except UsageError:
            counts["refused"] += 1
            continue
        if any(t.size > TARGET_ROOM for t in (*out.colours, *([out.zeta] if out.zeta is not None else []))):
            counts["refused"] += 1
            continue
        found = run_made(case, out, "llvm", general=True)
        where = f"case {number} of seed {seed}"
        assert not _outside(case, out, found), where
        counts["stored"] += bool((found.memory != case.memory).any())
        if number % numpy_every == 0 and not _makes_nan(case):
            counts["compared"] += 1
            for general in (False, True):
                other = run_made(case, out, "numpy", general)
                np.testing.assert_array_equal(found.memory, other.memory, err_msg=where)
                assert (found.cover, found.passed) == (other.cover, other.passed), where
        if number % special_every == 0:
            counts["special"] += 1
            other = run_made(case, out, "llvm")
            np.testing.assert_array_equal(found.memory, other.memory, err_msg=where)
    return counts


def _makes_nan(case: Case) -> bool:
    """Whether a blend constant is none or infinite; which NaN arithmetic gives is left open."""
    words = [value for name, value in case.registers.items() if "CONST" in name]
    return any(isinstance(value, int) and value & 0x7F800000 == 0x7F800000 for value in words)


if __name__ == "__main__":
    command(__doc__, run, "blocks")
