"""Assembly text to code: `assemble`. How it is written is told in `isa/assembler.py`."""

from __future__ import annotations

from pocketgpu.maxwell.sass.isa.assembler import Assembly, assemble

__all__ = ["Assembly", "assemble"]
