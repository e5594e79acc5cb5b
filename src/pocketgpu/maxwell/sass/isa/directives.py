"""Directives of a kernel's text: for each the words after it, and what it says."""

from __future__ import annotations

from typing import Final

DIRECTIVES: Final[dict[str, tuple[str, str]]] = {
    ".kernel": ("NAME", "a kernel begins"),
    ".registers": ("COUNT", "registers of a thread; without it as many as the code uses"),
    ".shared": ("BYTES", "shared memory of a block; without it none"),
    ".local": ("BYTES", "local memory of a thread; without it none"),
    ".param": ("NAME TYPE [OFFSET]", "a parameter, which instructions name as c[0x0][NAME]"),
    ".constant": ("BANK WORD...", "words of another constant bank; further lines go on"),
    ".word": ("WORD", "any 64 bits in the place of an instruction"),
    ".section": (".text.NAME", "a kernel begins, as NVIDIA's disassembler writes it"),
    ".sectioninfo": ('@"SHI_REGISTERS=COUNT"', "registers of a thread, as NVIDIA's disassembler writes it"),
}
