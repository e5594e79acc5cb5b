"""Kernels that are imported late are the kernels they name; a case that is there twice is one piece of code."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import pocketgpu
from pocketgpu.lanes import I32, Engine, Kernel, Lang, Value, kernel, late

ROOT = Path(pocketgpu.__file__).parent


def named() -> list[tuple[str, str]]:
    """Modules and names in calls of `late` with two texts."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "late":
                values = [one.value for one in node.args if isinstance(one, ast.Constant)]
                if len(values) == 2:
                    found.append((str(values[0]), str(values[1])))
    return found


def test_every_late_kernel_exists_and_is_the_same() -> None:
    names = named()
    assert len(names) > 20
    for module, name in names:
        real, stand_in = getattr(import_module(module), name), late(module, name)
        assert isinstance(real, Kernel) and stand_in.home == real.home
        assert (stand_in.types, stand_in.lanes, stand_in.body) == (real.types, real.lanes, real.body)


def test_a_late_kernel_and_the_real_one_are_one_specialisation() -> None:
    stand_in = late("pocketgpu.pica.engines.transfer", "copy_units")
    real = import_module("pocketgpu.pica.engines.transfer").copy_units
    engine = Engine(np.zeros(4096, np.uint8))
    assert engine.get(stand_in) is engine.get(real)


@pytest.mark.parametrize("evaluator", ["llvm", "numpy"])
def test_a_case_that_is_there_twice_is_one_piece_of_code(evaluator: str) -> None:
    traced = []

    @kernel(lanes=1, which=I32)
    def choose(k: Lang, which: Value) -> None:
        def usual() -> Value:
            traced.append("usual")
            return k.i32(7)

        k.store(I32, k.i32(64), k.switch(which, [usual, lambda: k.i32(8), usual, lambda: k.i32(9), usual]))

    arena = np.zeros(4096, np.uint8)
    run = Engine(arena, evaluator).get(choose)
    found = []
    for which in range(-1, 6):
        run(which)
        found.append(int(arena[64:68].view(np.int32)[0]))
    assert found == [7, 7, 8, 7, 9, 7, 7]
    if evaluator == "llvm":
        assert traced == ["usual"]
