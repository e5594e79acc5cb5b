"""Directives of shader text: for each the words after it, and what it says."""

from __future__ import annotations

from typing import Final

DIRECTIVES: Final[dict[str, tuple[str, str]]] = {
    ".alias": ("NAME REGISTER", "a name for a register; NAME[1] is the next one"),
    ".constf": ("REGISTER X Y Z W", "a constant of the program in a float uniform"),
    ".out": ("REGISTER SEMANTIC", "semantic of an output register or of a part of one, such as o2.zw"),
    ".proc": ("NAME", "a procedure begins, for call, callu and callc"),
    ".endproc": ("", "a procedure ends"),
    ".word": ("WORD", "any 32 bits in the place of an instruction"),
    ".desc": ("NUMBER WORD", "an operand descriptor; @NUMBER after an instruction makes it use that"),
}

OF_PICASSO: Final = frozenset({
    ".bool", ".constfa", ".consti", ".dvle", ".else", ".end", ".entry", ".fvec", ".gsh", ".in", ".ivec", ".nodvle",
    ".setb", ".setf", ".seti", ".uniform", ".vsh",
})  # fmt: skip
"""Directives of picasso, the assembler of homebrew, which the one here does not have. A text with one of them is
picasso's. Source: the manual of picasso."""
