"""How instructions are counted until a program is stopped."""

from __future__ import annotations

import numpy as np
import pytest

from pocketgpu.lanes import BOOL, I32, Engine, Lang, Value, kernel
from pocketgpu.pica.core.layout import CONTROL
from pocketgpu.pica.shader.limits import ENDLESS, SUBMISSION_LIMIT, settle

AT = 0x1000
"""Where the words of control are."""


@kernel(lanes=8, vertices=I32, steps=I32)
def counted(k: Lang, vertices: Value, steps: Value) -> None:
    """One pass over some vertices."""
    settle(k, AT, k.splat(k.const(False, BOOL)), k.splat(steps), k.iota() < vertices)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_only_lanes_with_a_vertex_count(evaluator: str) -> None:
    arena = np.zeros(1 << 16, np.uint8)
    words = arena.view(np.int32)[AT // 4 :]
    run = Engine(arena, evaluator).get(counted)
    low, high, hang = (at // 4 for at in (CONTROL.SHADER_STEPS_LOW, CONTROL.SHADER_STEPS, CONTROL.HANG))
    run(3, 5)
    assert words[low] == 15 and words[high] == 0
    run(8, 7)
    assert words[low] == 15 + 56
    run(0, 9)
    assert words[low] == 15 + 56
    run(1, 1 << 16)
    assert (words[low], words[high], words[hang]) == (71, 1, 0)
    words[high] = SUBMISSION_LIMIT >> 16
    run(1, 1 << 16)
    assert words[hang] == ENDLESS
