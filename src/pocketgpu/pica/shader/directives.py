"""Directives of shader text: for each its forms, one a line, and what it says.

The language is that of picasso, the assembler of homebrew, with forms of this assembler beside it: those that name a
register where picasso chooses one, and `.endproc`, `.word` and `.desc`.

Source: the manual of picasso.
"""

from __future__ import annotations

from typing import Final

DIRECTIVES: Final[dict[str, tuple[str, str]]] = {
    ".alias": ("NAME REGISTER", "a name for a register, perhaps for some components; NAME[1] is the next one"),
    ".bool": ("NAME, NAME[SIZE], ...", "boolean uniforms; the assembler chooses the registers"),
    ".constf": (
        "NAME(X, Y, Z, W)\nREGISTER, X, Y, Z, W",
        "a constant of the program in a float uniform: in one that the assembler chooses, or in that register",
    ),
    ".constfa": (
        "NAME[]\nNAME[SIZE]\n(X, Y, Z, W)",
        "an array of constants in float uniforms: its beginning, and each element; .end ends it",
    ),
    ".consti": ("NAME(X, Y, Z, W)", "a constant of the program in an integer uniform, for a loop"),
    ".desc": ("NUMBER, WORD", "an operand descriptor; @NUMBER after an instruction makes it use that"),
    ".else": ("", "what runs if the condition of ifu or ifc is not true"),
    ".end": ("", "ends a procedure, a block of ifu, ifc or for, or an array of constants"),
    ".endproc": ("", "ends a procedure"),
    ".entry": ("NAME", "the procedure or label where the program begins, if that is not main"),
    ".fvec": ("NAME, NAME[SIZE], ...", "float uniforms of four components; the assembler chooses the registers"),
    ".gsh": (
        "point REGISTER\nvariable REGISTER VERTICES\nfixed REGISTER ARRAY VERTICES",
        "this is a geometry program, how it gets its vertices, and the first float uniform that is free for names",
    ),
    ".in": ("NAME\nNAME REGISTER", "a name for an input register, which the assembler may choose"),
    ".ivec": ("NAME, NAME[SIZE], ...", "integer uniforms, for loops; the assembler chooses the registers"),
    ".nodvle": ("", "the text has procedures for other texts only, and no program of its own"),
    ".out": (
        "NAME SEMANTIC\nNAME SEMANTIC REGISTER\n- SEMANTIC REGISTER\nREGISTER SEMANTIC",
        "semantic of an output register or of a part of one, such as texcoord0.xy or o2.zw",
    ),
    ".proc": ("NAME", "a procedure begins, for call, callu and callc"),
    ".setb": ("REGISTER VALUE", "a boolean uniform has this value: true, false, on, off, 1 or 0"),
    ".setf": ("REGISTER(X, Y, Z, W)", "a float uniform has this value, such as one of a procedure in another text"),
    ".seti": ("REGISTER(X, Y, Z, W)", "an integer uniform has this value"),
    ".word": ("WORD", "any 32 bits in the place of an instruction"),
}

SEMANTIC_NAMES: Final[dict[str, str]] = {
    "position": "position", "pos": "position", "normalquat": "normalquat", "nquat": "normalquat",
    "quaternion": "normalquat", "color": "color", "clr": "color", "texcoord0": "texcoord0", "tcoord0": "texcoord0",
    "texcoord0w": "texcoord0w", "tcoord0w": "texcoord0w", "texcoord1": "texcoord1", "tcoord1": "texcoord1",
    "texcoord2": "texcoord2", "tcoord2": "texcoord2", "view": "view", "dummy": "dummy",
}  # fmt: skip
"""Words for the semantics of outputs, with the kinds of outputs of `shbin.py` that they mean."""

GEOMETRY_MODES: Final[dict[str, str]] = {
    "point": "point", "variable": "variable", "subdivision": "variable", "fixed": "fixed", "particle": "fixed",
}  # fmt: skip
"""Words for the modes of geometry programs, with the modes that they mean."""

BOOLEANS: Final[dict[str, bool]] = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}
"""Words for the value of a boolean uniform."""

OPENERS: Final[dict[str, str]] = {"ifc": "ifc", "ifu": "ifu", "for": "loop", "loop": "loop"}
"""Mnemonics that open a block, with the instruction that they are."""
CLOSERS: Final[dict[str, tuple[str, ...]]] = {
    ".end": (".proc", "ifc", "ifu", "loop", ".constfa"), ".endproc": (".proc",), "endif": ("ifu", "ifc"),
    "endloop": ("loop",),
}  # fmt: skip
"""What ends a block, with the blocks that it ends."""
MIDDLES: Final = ("else", ".else")
"""What separates the two parts of ifc and ifu."""
