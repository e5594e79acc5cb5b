"""Builders of work for the Switch's GPU in Python: pushbuffers, and whole recordings of them.

`docs/guides/pushbuffers.md` writes one from start to end.
"""

from __future__ import annotations

from pocketgpu.builder.maxwell.canvas import MaxwellCanvas
from pocketgpu.builder.maxwell.capture import MaxwellCaptureBuilder
from pocketgpu.builder.maxwell.grids import Grid
from pocketgpu.builder.maxwell.packets import Packets
from pocketgpu.builder.maxwell.pushbuffer import PushBuffer
from pocketgpu.builder.maxwell.shaders import Shader, shader
from pocketgpu.builder.maxwell.surface import Surface, size_of

__all__ = [
    "Grid", "MaxwellCanvas", "MaxwellCaptureBuilder", "Packets", "PushBuffer", "Shader", "Surface", "shader", "size_of",
]  # fmt: skip


def __dir__() -> list[str]:
    return [*__all__]
