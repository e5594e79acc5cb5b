"""The shader unit: programs, their translation into lane code, their interpreter, and their arithmetic."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pocketgpu.pica.shader.unit import Emission, Outputs, Program

__all__ = ["Emission", "Outputs", "Program"]


def __getattr__(name: str) -> Any:
    # A machine whose code is there needs no unit of its own.
    if name in __all__:
        return getattr(import_module("pocketgpu.pica.shader.unit"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, *(name for name in ("assembler",) if name in globals())]
