"""Builders of GPU work in Python: command lists, GX commands and whole captures.

They use the same tables of facts as the decoders, for samples, tests and experiments. `docs/guides/triangle.md` draws a
triangle with them.
"""

from __future__ import annotations

from pocketgpu.builder.canvas import Box, Canvas
from pocketgpu.builder.capture import CaptureBuilder
from pocketgpu.builder.command_list import Buffer, CommandList
from pocketgpu.pica.shader.assembler import Assembly, ShaderError, assemble

__all__ = ["Assembly", "Box", "Buffer", "Canvas", "CaptureBuilder", "CommandList", "ShaderError", "assemble"]


def __dir__() -> list[str]:
    return [*__all__, *(name for name in ("matrices", "maxwell", "meshes", "patterns", "shapes") if name in globals())]
