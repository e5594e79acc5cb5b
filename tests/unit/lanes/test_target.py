"""Levels of x86-64: which one a processor has, how a lower one is chosen, and that results do not depend on it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from pocketgpu.lanes.target import LEVELS, SETTING, Target, host, level_of, making_for

NAMES = [names.split() for names in LEVELS.values()]


def report(*names: str) -> str:
    return f"processor\t: 0\nvendor_id\t: GenuineIntel\nflags\t\t: fpu {' '.join(names)} ht\nbugs\t\t: none\n"


@pytest.mark.parametrize("count", range(4))
def test_a_processor_has_the_highest_level_whose_instructions_it_has_all(count: int) -> None:
    have = [name for names in NAMES[:count] for name in names]
    assert level_of(report(*have)) == ([*LEVELS][count - 1] if count else "")
    for missing in NAMES[count - 1] if count else ():
        less = [name for name in have if name != missing]
        assert level_of(report(*less)) == ([*LEVELS][count - 2] if count > 1 else "")


def test_levels_stand_on_each_other_and_no_report_gives_none() -> None:
    assert level_of(report(*NAMES[0], *NAMES[2])) == "x86-64-v2"
    assert level_of("") == level_of("flags") == level_of("Features : fp asimd\n") == ""


def test_what_code_for_a_level_may_use() -> None:
    low, middle, high = (Target.of_level(level) for level in LEVELS)
    assert (low.lanes, middle.lanes, high.lanes) == (8, 8, 16)
    assert (low.fused, middle.fused, high.fused) == (False, True, True)
    assert "avx2" not in low.instructions and {"ssse3", "fma"} <= set(middle.instructions) < set(high.instructions)
    assert repr(middle) == "<target x86-64-v3, 8 lanes>"
    assert Target.of_level("x86-64-v4", gathers=True).name == "x86-64-v4-gathers"


def test_another_target_is_chosen_for_a_while() -> None:
    before = host()
    with making_for(Target.of_level("x86-64-v2")) as nothing:
        assert nothing is None and host().cpu == "x86-64-v2"
    assert host() is before


RUN = """
import numpy as np
from pocketgpu.lanes import F32, I32, Engine, kernel
from pocketgpu.lanes.target import host

@kernel(n=I32)
def work(k, n):
    for i in k.range(0, n, 8):
        x = k.load(F32, 4096 + 4 * k.to_i64(i), 8)
        k.store(F32, 4096 + 4 * k.to_i64(i), k.sqrt(k.abs(k.fma(x, x, -0.1))) / (x + 3.0))

arena = np.zeros(1 << 14, np.uint8)
arena[4096:8192].view(np.float32)[:] = np.linspace(-1, 1, 1024, dtype=np.float32)
Engine(arena).get(work)(1024)
import hashlib
print(host().cpu, hashlib.sha256(arena.tobytes()).hexdigest())
"""


def at(level: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, SETTING: level}
    return subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, env=environment, check=False)


@pytest.mark.skipif(not host().level, reason="code is made for this processor here, not for a level")
def test_all_levels_give_the_same_bits_and_others_are_refused() -> None:
    known = list(LEVELS)
    can = known[: known.index(host().level) + 1]
    done = [at(level) for level in can]
    assert [one.stdout.split()[0] for one in done] == can
    assert len({one.stdout.split()[1] for one in done}) == 1
    wrong = at("x86-64-v9")
    assert wrong.returncode != 0
    assert wrong.stderr.splitlines()[-1].endswith(
        f"POCKETGPU_LEVEL is 'x86-64-v9'; this processor runs {' '.join(can)}"
    )
