"""Kernels compiled by NVIDIA's compiler give their expected outputs, on both evaluators."""

from __future__ import annotations

import pytest
from support import recordings
from support.kernel_cases import NAMES, Case

# What takes more than a second or two on the slow evaluator.
SLOW_ON_NUMPY = {"atom_global", "histogram", "mandelbrot", "sgemm", "nbody", "ctl_nested", "ctl_nested_o0"}

pytestmark = pytest.mark.skipif(not NAMES, reason=recordings.REASON)


@pytest.mark.parametrize("name", NAMES)
def test_kernel_on_llvm(name: str) -> None:
    case = Case(name)
    module = case.run("llvm")
    assert not any(case.errors().values()), case.errors()
    assert [event.message for event in module.events] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name not in SLOW_ON_NUMPY])
def test_kernel_on_numpy(name: str) -> None:
    case = Case(name)
    case.run("numpy")
    assert not any(case.errors().values()), case.errors()
