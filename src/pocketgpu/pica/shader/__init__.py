"""The shader unit: programs, their translation into lane code, their interpreter, and their arithmetic."""

from pocketgpu.pica.shader.unit import Emission, Outputs, Program

__all__ = ["Emission", "Outputs", "Program"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in ("assembler",) if name in globals())]
