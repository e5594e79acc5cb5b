"""What instructions compute, over lanes: one function each, entered into OPERATIONS, shared by both executors."""

from __future__ import annotations

from pocketgpu.maxwell.sass.semantics import bits, convert, float32, float64, half, integer, special, video
from pocketgpu.maxwell.sass.semantics.unit import OPERATIONS, Flags, Operation, Unit

__all__ = [
    "OPERATIONS", "Flags", "Operation", "Unit", "bits", "convert", "float32", "float64", "half", "integer", "special",
    "video",
]  # fmt: skip
