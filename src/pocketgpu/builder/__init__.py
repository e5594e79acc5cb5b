"""Making work for the GPU in Python: command lists, GX commands and whole captures.

The other rooms read what programs wrote; this one writes it, from the same tables of facts, for samples, tests and
experiments. `docs/guides/triangle.md` draws a triangle with it.
"""

from __future__ import annotations

from pocketgpu.builder.capture import CaptureBuilder
from pocketgpu.builder.command_list import Buffer, CommandList
from pocketgpu.pica.shader.assembler import Assembly, ShaderError, assemble

__all__ = ["Assembly", "Buffer", "CaptureBuilder", "CommandList", "ShaderError", "assemble"]
