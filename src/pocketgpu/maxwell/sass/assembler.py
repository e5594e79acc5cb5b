"""Assembly text to code: `assemble`. `isa/assembler.py` describes the syntax."""

from __future__ import annotations

from pocketgpu.maxwell.sass.isa.assembler import Assembly, assemble

__all__ = ["Assembly", "assemble"]


def __dir__() -> list[str]:
    return [*__all__]
