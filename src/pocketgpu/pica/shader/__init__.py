"""The shader unit: programs, their translation into lane code, their interpreter, and their arithmetic."""

from pocketgpu.pica.shader.unit import Emission, Outputs, Program

__all__ = ["Emission", "Outputs", "Program"]
