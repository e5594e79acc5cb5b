"""Random shader programs: none may crash the host or run forever, and all ways to run one must agree bit for bit.

    python tests/fuzz/shader.py --cases 100000 --specialised 1000 --seed 1

Each program is made from the seed and its number, so a failure names what to run again (--first N --cases 1). All
programs run on the interpreter; the first `--specialised` of those that can be specialised also as code of their own,
and some of those with the NumPy evaluator.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root / "tests")]

from support.fuzz import command

from pocketgpu.facts.choices import CHOICES
from pocketgpu.facts.shader_isa import OPCODES
from pocketgpu.pica.shader import Outputs, Program
from pocketgpu.pica.shader.program import TooComplex, program_of

VERTICES = 11  # more than the lanes of the compiled code, and not a multiple of them
_FLOW = [code for code, op in OPCODES.items() if op.flow and op.name not in ("END", "BREAK")]
_PLAIN = [code for code, op in OPCODES.items() if op.sources]
_EMITS = [code for code, op in OPCODES.items() if op.name in ("EMIT", "SETEMIT", "NOP")]
_SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-45, -1e-40, 1e30, -3e38, 127.9961, np.inf, -np.inf, np.nan, 95.0, -128.5)
_RULES = ("precision", "reciprocal_zero", "max_infinity", "litp_nan", "nested_loop_counter", "loop_ends", "stacks")


@dataclass
class Case:
    """A program and all that it runs on."""

    code: list[int]
    descriptors: list[int]
    entry: int
    choices: dict[str, str]
    run: dict[str, Any]

    def program(self, **kind: str) -> Program:
        return Program(self.code, self.descriptors, self.entry, switches=self.choices, **kind)


def _flow_word(r: random.Random, code: int, at: int, length: int) -> int:
    """A flow instruction that leads to somewhere near, mostly forwards."""
    name = OPCODES[code].name
    near = r.choice((1, 1, 2, 2, 3, 4, 6, 10)) * (1 if r.random() < 0.85 or name == "LOOP" else -1)
    target = at + near if r.random() < 0.97 else r.randrange(4096)
    number = r.choice((0, 0, 1, 2, 3, 5)) if r.random() < 0.98 else r.randrange(256)
    if name.startswith("CALL") and r.random() < 0.5:
        target = r.randrange(max(length, 1))
    return code << 26 | (target & 0xFFF) << 10 | number | r.getrandbits(4) << 22


def make(seed: int, number: int) -> Case:
    """Case `number` of a seed."""
    r = random.Random(f"{seed}/{number}")
    length = r.choice((3, 6, 10, 16, 24, 40)) if r.random() < 0.97 else r.randrange(513)
    wild = r.random() < 0.1  # words without any sense
    flow = r.choice((0.0, 0.1, 0.25, 0.5))
    few = r.random() < 0.7  # few registers, so that values meet
    code = []
    for at in range(length):
        kind = r.random()
        if wild:
            word = r.getrandbits(32)
        elif kind < flow:
            word = _flow_word(r, r.choice(_FLOW), at, length)
        elif kind < flow + 0.03:
            word = r.choice(_EMITS) << 26 | r.getrandbits(26)
        else:
            word = r.choice(_PLAIN) << 26 | r.getrandbits(26)
            if few:  # registers 0-3 of each file
                word &= ~(r.choice((0x0318C000, 0x031CE000, 0)) if word >> 30 != 3 else 0x0C630180)
        code.append(word)
    if r.random() < 0.95:
        code.append(0x22 << 26)
    descriptors = [r.getrandbits(32) if r.random() < 0.8 else 0x0D86C360 | r.getrandbits(4) for _ in range(128)]
    # Values without infinities let the plain arithmetic stand.
    special = r.random() < 0.6
    values = np.random.default_rng((seed, number))

    def floats(*shape: int) -> np.ndarray[Any, Any]:
        out = (values.standard_normal(shape) * 4.0 ** values.integers(-2, 3, shape)).astype(np.float32)
        if special:
            out = np.where(values.random(shape) < 0.3, values.choice(np.array(_SPECIAL, np.float32), shape), out)
        return out

    uniforms = floats(96, 4)
    choices = {}
    if r.random() < 0.3:
        names = [f"shader.{name}" for name in _RULES] + ["geometry.output_banks"]
        name = r.choice(names)
        choices = {name: r.choice(CHOICES[name].values)}
    integers = values.integers(0, 256, (4, 4)) if r.random() < 0.3 else values.integers(0, 4, (4, 4))
    return Case(
        code,
        descriptors,
        0 if r.random() < 0.9 else r.randrange(600),
        choices,
        {
            "inputs": floats(VERTICES, 16, 4),
            "uniforms": {i: uniforms[i] for i in range(96)},
            "bool_uniforms": values.integers(0, 2, 16),
            "int_uniforms": integers,
            "conditions": values.integers(0, 2, 2),
            "address": values.integers(-200, 200, 3),
        },
    )


def difference(a: Outputs, b: Outputs) -> str:
    """What two runs do not agree about; empty if they are equal bit for bit."""
    pairs = {
        "outputs": (a.view(np.uint32), b.view(np.uint32)), "conditions": (a.conditions, b.conditions),
        "address": (a.address, b.address), "hung": (a.hung, b.hung), "emit.count": (a.emit.count, b.emit.count),
        "emit.vertices": (a.emit.vertices.view(np.uint32), b.emit.vertices.view(np.uint32)),
        "emit.states": (a.emit.states, b.emit.states), "emit.vertex_id": (a.emit.vertex_id, b.emit.vertex_id),
        "emit.winding": (a.emit.winding, b.emit.winding), "emit.prim_emit": (a.emit.prim_emit, b.emit.prim_emit),
    }  # fmt: skip
    for name, (x, y) in pairs.items():
        x, y = np.asarray(x), np.asarray(y)
        if x.shape != y.shape:
            return f"{name}: shapes {x.shape} and {y.shape}"
        if (x != y).any():
            place = tuple(int(i) for i in np.argwhere(x != y)[0])
            return f"{name}{list(place)}: {x[place]} and {y[place]}, {int((x != y).sum())} in all"
    return ""


def check(case: Case, specialised: bool, numpy: bool) -> tuple[str, Outputs, str]:
    """(what is wrong, the outputs, how else the program ran). The slow evaluator is spared programs that run long."""
    started = time.perf_counter()
    result = case.program(tier="interpreter").run(**case.run)
    if not specialised:
        return "", result, ""
    others: dict[str, dict[str, str]] = {}
    if numpy and time.perf_counter() - started < 2e-3:
        others["numpy interpreter"] = {"tier": "interpreter", "evaluator": "numpy"}
    try:
        program_of(*case.program()._key)
        others |= {f"{name} specialised".replace("numpy interpreter ", "numpy "): {**kind, "tier": "specialised"}
                   for name, kind in (*others.items(), ("compiled", {}))}  # fmt: skip
    except TooComplex:
        pass
    for name, kind in others.items():
        problem = difference(result, case.program(**kind).run(**case.run))
        if problem:
            return f"interpreter against {name}: {problem}", result, ""
    return "", result, ", ".join(others)


def run(cases: int, seed: int, first: int = 0, report: Any = None, *, specialised: int) -> Counter[str]:
    """Run programs first .. first+cases-1 of a seed; AssertionError names the first that goes wrong."""
    counts: Counter[str] = Counter()
    for number in range(first, first + cases):
        case = make(seed, number)
        also = counts["specialised"] < specialised
        problem, result, others = check(case, also, number % 5 == 0)
        assert not problem, f"seed {seed}, program {number}: {problem}"
        counts["cases"] += 1
        counts["hung"] += bool(result.hung.any())
        counts["specialised"] += "compiled" in others
        counts["too complex"] += also and "compiled" not in others
        counts["numpy"] += "numpy" in others
        if report is not None and (number + 1 - first) % 5000 == 0:
            report(counts)
    return counts


if __name__ == "__main__":
    command(__doc__, run, "programs", print, specialised=1000)
