"""Making work for the Switch's GPU in Python: pushbuffers, and whole recordings of them.

`docs/guides/pushbuffers.md` writes one from start to end.
"""

from __future__ import annotations

from .capture import MaxwellCaptureBuilder
from .grids import Grid
from .packets import Packets
from .pushbuffer import PushBuffer
from .shaders import Shader, shader
from .surface import Surface, size_of

__all__ = ["Grid", "MaxwellCaptureBuilder", "Packets", "PushBuffer", "Shader", "Surface", "shader", "size_of"]
