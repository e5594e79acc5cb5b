"""The instruction set of the PICA200 shader units: formats, opcodes, registers.

Source: 3dbrew GPU/Shader Instruction Set, for numbers and field positions.
"""

from __future__ import annotations

from pocketgpu.facts.pica_enums import SEMANTIC
from pocketgpu.late_dataclass import dataclass

SOURCE = "3dbrew GPU/Shader Instruction Set"


@dataclass(frozen=True, slots=True)
class Format:
    """An instruction format: field name to (lowest bit, width). `wide` is the source that may be indexed and may be a
    float uniform."""

    name: str
    fields: dict[str, tuple[int, int]]
    wide: str = ""

    def get(self, word: int, field: str) -> int:
        """A field of an instruction word; 0 if the format lacks it."""
        lo, width = self.fields.get(field, (0, 0))
        return (word >> lo) & ((1 << width) - 1)

    def mask(self, field: str) -> int:
        """The bits of a field, in place."""
        lo, width = self.fields[field]
        return ((1 << width) - 1) << lo


OPCODE_AT = 26
"""Lowest bit of the opcode in most formats."""


def opcode_number(word: int) -> int:
    """The top six bits of an instruction word, the key of OPCODES."""
    return word >> OPCODE_AT


_ARITHMETIC = {"desc": (0, 7), "idx": (19, 2), "dst": (21, 5), "op": (26, 6)}
_FLOW = {"num": (0, 8), "dst": (10, 12)}

F0 = Format("0", {"op": (26, 6)})
F1 = Format("1", {**_ARITHMETIC, "src2": (7, 5), "src1": (12, 7)}, "src1")
F1I = Format("1i", {**_ARITHMETIC, "src2": (7, 7), "src1": (14, 5)}, "src2")
F1C = Format(
    "1c",
    {"desc": (0, 7), "src2": (7, 5), "src1": (12, 7), "idx": (19, 2), "cmpy": (21, 3), "cmpx": (24, 3), "op": (27, 5)},
    "src1",
)
F2 = Format("2", {**_FLOW, "cond": (22, 2), "refy": (24, 1), "refx": (25, 1)})
F3 = Format("3", {**_FLOW, "bool": (22, 4), "int": (22, 4)})
F4 = Format("4", {"winding": (22, 1), "primitive": (23, 1), "vertex": (24, 2)})
_MAD = {"desc": (0, 5), "src1": (17, 5), "idx": (22, 2), "dst": (24, 5), "op": (29, 3)}
F5 = Format("5", {**_MAD, "src3": (5, 5), "src2": (10, 7)}, "src2")
F5I = Format("5i", {**_MAD, "src3": (5, 7), "src2": (12, 5)}, "src3")


@dataclass(frozen=True, slots=True)
class Opcode:
    """`sources`: number of source operands. `flow`: it may change the program counter. `doc`: what it does."""

    name: str
    format: Format
    sources: int = 0
    flow: bool = False
    doc: str = ""


_TABLE: dict[int, Opcode] = {
    0x00: Opcode("ADD", F1, 2, doc="sum of the sources, component by component"),
    0x01: Opcode("DP3", F1, 2, doc="dot product of x, y and z, in all components"),
    0x02: Opcode("DP4", F1, 2, doc="dot product of all four components, in all components"),
    0x03: Opcode("DPH", F1, 2, doc="dot product with w of the first source taken as 1"),
    0x04: Opcode("DST", F1, 2, doc="distance vector (1, y*y, z, w)"),
    0x05: Opcode("EX2", F1, 1, doc="2 to the power of x, in all components"),
    0x06: Opcode("LG2", F1, 1, doc="logarithm to base 2 of x, in all components"),
    0x07: Opcode("LITP", F1, 1, doc="partial lighting; sets the condition codes"),
    0x08: Opcode("MUL", F1, 2, doc="product of the sources, component by component"),
    0x09: Opcode("SGE", F1, 2, doc="1 where the first source is greater than or equal to the second, else 0"),
    0x0A: Opcode("SLT", F1, 2, doc="1 where the first source is less than the second, else 0"),
    0x0B: Opcode("FLR", F1, 1, doc="the largest whole number that is not greater"),
    0x0C: Opcode("MAX", F1, 2, doc="the greater of the sources, component by component"),
    0x0D: Opcode("MIN", F1, 2, doc="the lesser of the sources, component by component"),
    0x0E: Opcode("RCP", F1, 1, doc="1 / x, in all components"),
    0x0F: Opcode("RSQ", F1, 1, doc="1 / square root of x, in all components"),
    0x12: Opcode("MOVA", F1, 1, doc="the whole part of the source into the address registers a0.x and a0.y"),
    0x13: Opcode("MOV", F1, 1, doc="copy of the source"),
    0x18: Opcode("DPHI", F1I, 2, doc="DPH with the uniform as its second source"),
    0x19: Opcode("DSTI", F1I, 2, doc="DST with the uniform as its second source"),
    0x1A: Opcode("SGEI", F1I, 2, doc="SGE with the uniform as its second source"),
    0x1B: Opcode("SLTI", F1I, 2, doc="SLT with the uniform as its second source"),
    0x20: Opcode("BREAK", F0, flow=True, doc="leaves the innermost loop"),
    0x21: Opcode("NOP", F0, doc="nothing"),
    0x22: Opcode("END", F0, flow=True, doc="ends the program"),
    0x23: Opcode("BREAKC", F2, flow=True, doc="leaves the innermost loop if the condition is true"),
    0x24: Opcode("CALL", F2, flow=True, doc="runs NUM instructions at DST and comes back"),
    0x25: Opcode("CALLC", F2, flow=True, doc="the same if the condition is true"),
    0x26: Opcode("CALLU", F3, flow=True, doc="the same if the boolean uniform is true"),
    0x27: Opcode("IFU", F3, flow=True, doc="runs what follows if the boolean uniform is true, else what is at DST"),
    0x28: Opcode("IFC", F2, flow=True, doc="runs what follows if the condition is true, else what is at DST"),
    0x29: Opcode("LOOP", F3, flow=True, doc="runs what follows, up to DST, x + 1 times; aL begins at y and grows by z"),
    0x2A: Opcode("EMIT", F0, doc="geometry shader: copy the outputs to the chosen vertex slot"),
    0x2B: Opcode("SETEMIT", F4, doc="geometry shader: choose slot, primitive and winding of the next EMIT"),
    0x2C: Opcode("JMPC", F2, flow=True, doc="goes to DST if the condition is true"),
    0x2D: Opcode("JMPU", F3, flow=True, doc="goes to DST if the boolean uniform is true, or false if NUM is odd"),
}
_TABLE |= {op: Opcode("CMP", F1C, 2, doc="compares x with x into cmp.x and y with y into cmp.y") for op in (0x2E, 0x2F)}
_TABLE |= {op: Opcode("MADI", F5I, 3, doc="MAD with the uniform as its third source") for op in range(0x30, 0x38)}
_TABLE |= {op: Opcode("MAD", F5, 3, doc="product of the first two sources plus the third") for op in range(0x38, 0x40)}
OPCODES = _TABLE
"""By the top six bits of the word (CMP and MAD have several numbers); the others are undefined."""


def number_of(name: str) -> int:
    """The lowest opcode number of an instruction's name."""
    return next(number for number, opcode in OPCODES.items() if opcode.name == name)


TEMPORARIES, UNIFORMS = 0x10, 0x20
"""Register numbers: r0 as a source or a destination (outputs and inputs have lower numbers), c0 as a source."""
OPDESC_FIELDS = {"mask": (0, 4), "neg1": (4, 1), "sel1": (5, 8), "neg2": (13, 1), "sel2": (14, 8), "neg3": (22, 1),
                 "sel3": (23, 8)}  # fmt: skip
"""Operand descriptor. In `mask` bit 3 is x and bit 0 is w; in a selector the top two bits are for component x."""

COMPONENT_MASKS = tuple((3 - i, 1) for i in range(4))
"""(lowest bit, width) of x, y, z and w in a write mask."""
COMPONENT_SELECTORS = tuple((6 - 2 * i, 2) for i in range(4))
"""(lowest bit, width) in a selector of the source component for x, y, z and w."""

LAST_SLOT = 3
"""The highest vertex slot of SETEMIT."""
EMIT_STATE = 22, 4
"""(lowest bit, width) of the three adjacent fields of SETEMIT, which are kept until EMIT."""
EMITTED = Format("4, kept", {name: (lo - EMIT_STATE[0], width) for name, (lo, width) in F4.fields.items()})
"""Positions of the three fields in the kept bits."""


def emit_state(word: int) -> int:
    """The kept bits of a SETEMIT word."""
    lo, width = EMIT_STATE
    return word >> lo & ((1 << width) - 1)


ANY, BOTH, ONLY_X, ONLY_Y = range(4)
"""The condition registers that a format 2 instruction tests: one of the two, both, only x, only y."""
INVERTS = 1
"""In NUM of JMPU: the jump is taken if the boolean is false."""
INDEX_NAMES = ("", "a0.x", "a0.y", "aL")
"""What is added to the number of the wide source, by `idx`: nothing, or one of the address registers."""
COMPARE_NAMES = ("EQ", "NE", "LT", "LE", "GT", "GE", "TRUE", "TRUE")
CALL_DEPTH, IF_DEPTH, LOOP_DEPTH = 4, 8, 4
SEMANTICS = tuple(SEMANTIC.get(number, "") for number in range(SEMANTIC.TEXCOORD2_V + 1))
"""Semantics of output components in SH_OUTMAP, by number; SEMANTIC.UNUSED has none."""


def components(mask: int) -> list[int]:
    """The components (0 x to 3 w) in a write mask."""
    return [i for i, (lo, _) in enumerate(COMPONENT_MASKS) if mask >> lo & 1]


def selected(selector: int) -> list[int]:
    """The source components that a selector moves to x, y, z and w."""
    return [selector >> lo & ((1 << width) - 1) for lo, width in COMPONENT_SELECTORS]


def source_register(number: int) -> tuple[str, int]:
    """The file (v, r or c) of a source operand, and its number in the file."""
    if number < TEMPORARIES:
        return "v", number
    return ("r", number - TEMPORARIES) if number < UNIFORMS else ("c", number - UNIFORMS)


def target_register(number: int) -> tuple[str, int]:
    """The file (o or r) of a destination, and its number in the file."""
    return ("o", number) if number < TEMPORARIES else ("r", number - TEMPORARIES)


def descriptor(word: int, field: str) -> int:
    """A field of an operand descriptor."""
    lo, width = OPDESC_FIELDS[field]
    return (word >> lo) & ((1 << width) - 1)
