"""Lanes: the language of hot code, with two evaluators.

A *kernel* is a Python function that computes over lanes (a handful of pixels, vertices or threads side by side).
It is written once. The NumPy evaluator runs it unchanged: it is slow, easy to observe, and the oracle. The LLVM
evaluator traces it once, writes LLVM IR text and runs the machine code. Both give the same bits; tests check that.

The words of the language are the methods of `Lang`; the values are `Value`. Nothing here knows about GPUs.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pocketgpu.lanes.kernel import Engine, Kernel, kernel, late, numpy_lanes, run_once
from pocketgpu.lanes.language import Lang
from pocketgpu.lanes.primitives import Jump, Next
from pocketgpu.lanes.values import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, Array, LaneError, Type, Value, Var

if TYPE_CHECKING:
    from pocketgpu.lanes.numpy_eval import ArenaViews, ArrayLang

__all__ = [
    "BOOL",
    "F32",
    "F64",
    "I8",
    "I16",
    "I32",
    "I64",
    "U8",
    "U16",
    "ArenaViews",
    "Array",
    "ArrayLang",
    "Engine",
    "Jump",
    "Kernel",
    "LaneError",
    "Lang",
    "Next",
    "Type",
    "Value",
    "Var",
    "kernel",
    "late",
    "numpy_lanes",
    "run_once",
]


def __getattr__(name: str) -> Any:
    # Machine code runs without the NumPy evaluator.
    if name in ("ArenaViews", "ArrayLang"):
        return getattr(import_module("pocketgpu.lanes.numpy_eval"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
