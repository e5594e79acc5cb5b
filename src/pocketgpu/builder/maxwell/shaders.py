"""Shader programs for draws: assembly text with the header that it needs.

    program = shader("pixel", '''
        IPA.PASS R4, a[0x7c], RZ
        MUFU.RCP R4, R4
        IPA R0, a[0x80], R4
        ...
        EXIT
        ''')
    address = capture.put(program.image)

The inputs and outputs of a program, and whether it kills pixels or accesses memory, are found in its instructions.
Computed addresses and all other properties of the header must be given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from pocketgpu.displayed import line_of
from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Value
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.graphics.programs.headers import FLAT, HEADER_SIZE, LINEAR, PERSPECTIVE, packed
from pocketgpu.maxwell.sass.isa.assembler import assemble
from pocketgpu.maxwell.sass.isa.decoder import decode_program
from pocketgpu.maxwell.sass.isa.instruction import Program
from pocketgpu.maxwell.sass.isa.operand import Attr
from pocketgpu.maxwell.sass.isa.waits import one_by_one
from pocketgpu.maxwell.sass.stages.stage import CONTROL, EVALUATION, GEOMETRY, PIXEL, VERTEX
from pocketgpu.wording import counted

STAGES: Final = {"vertex": VERTEX, "control": CONTROL, "evaluation": EVALUATION, "geometry": GEOMETRY, "pixel": PIXEL}
"""Names of stages, and their numbers in headers."""
ALIGNMENT: Final = 0x80
"""Code begins at a multiple of this, so its header does not."""
_MODES: Final = {"PASS": LINEAR, "MUL": PERSPECTIVE, "CONSTANT": FLAT, "SC": PERSPECTIVE}
_STORES: Final = frozenset({"ST", "STG", "RED", "ATOM", "SUST", "SUATOM", "SURED"})
_LOADS: Final = frozenset({"LD", "LDG", "LDL", "STL", "SULD"})
_WORDS: Final = {0: 1, "32": 1, "64": 2, "96": 3, "128": 4}


@dataclass(frozen=True)
class Shader:
    """A program for one stage. header: its 80 bytes; code: bundles of 32 bytes."""

    stage: str
    header: bytes
    code: bytes

    def __repr__(self) -> str:
        return line_of(self, f"{self.stage}: {counted(len(self.code), 'byte')} of code")

    @property
    def image(self) -> bytes:
        """Header and code, after padding, so that the code of an image at a multiple of ALIGNMENT is at one too."""
        return bytes(PADDING) + self.header + self.code


PADDING: Final = -HEADER_SIZE % ALIGNMENT
"""Bytes of an image before the header; SET_PIPELINE_PROGRAM must point to their end."""


def shader(
    stage: str,
    source: str,
    *,
    inputs: Mapping[int, int] | Iterable[int] = (),
    outputs: Iterable[int] = (),
    targets: Sequence[str] = ("rgba",),
    mask: bool = False,
    depth: bool = False,
    pass_through: bool = False,
    barriers: bool = False,
    **fields: Value,
) -> Shader:
    """A program from assembly text.

    :param stage: "vertex", "control", "evaluation", "geometry" or "pixel".
    :param inputs: attribute addresses of further input words; for pixels a mapping may give their interpolation
        (`headers.FLAT`, `PERSPECTIVE`, `LINEAR`), which then overrides that of the instructions.
    :param outputs: attribute addresses of further output words.
    :param targets: of pixel programs, for each target the components that the program outputs.
    :param mask, depth: whether it outputs a sample mask, depth.
    :param pass_through: of geometry programs: whether the vertices go on, with what the program adds to them.
    :param barriers: whether each instruction waits for the results of those before it, as a real GPU needs it. Without
        that the text must have scheduling fields for a real GPU.
    :param fields: other fields of the header.
    :raises UsageError: there is no such stage, a stage that passes no vertices on should, or a field that the header
        does not have or cannot hold.
    :raises SassError: the text is not a valid program.
    """
    if stage not in STAGES:
        raise UsageError(f"no stage {stage!r}", hint=f"There are {', '.join(STAGES)}.")
    if pass_through and stage != "geometry":
        raise UsageError(f"a {stage} program does not pass vertices on", hint="Only geometry programs can.")
    code = assemble(source).code
    code = one_by_one(code) if barriers else code
    program = decode_program(code)
    reads, writes = _attributes(program)
    names = {instruction.op for instruction in program}
    values: dict[str, int] = {"DOES_GLOBAL_STORE": int(bool(names & _STORES))}
    values["DOES_LOAD_OR_STORE"] = int(bool(names & (_STORES | _LOADS)))
    if stage == "pixel":
        values |= {"KILLS_PIXELS": int("KIL" in names), "MRT_ENABLE": int(len(targets) > 1)}
        values |= {"OMAP_SAMPLE_MASK": int(mask), "OMAP_DEPTH": int(depth)}
        for n, components in enumerate(targets):
            values |= {f"OMAP_{_COMPONENTS[c]}({n})": 1 for c in components}
    reads |= dict(inputs) if isinstance(inputs, Mapping) else dict.fromkeys(inputs, PERSPECTIVE)
    try:
        header = packed(
            STAGES[stage], reads, {*writes, *outputs}, values | {key: int(value) for key, value in fields.items()},
            pass_through,
        )
    except (KeyError, IndexError, ValueError) as problem:
        raise UsageError(f"the program does not fit its header: {problem}") from None
    return Shader(stage, header, code)


_COMPONENTS: Final = {"r": "RED", "g": "GREEN", "b": "BLUE", "a": "ALPHA"}


def _attributes(program: Program) -> tuple[dict[int, int], set[int]]:
    """Words of attribute space that instructions read (with the interpolation for pixels) and write."""
    reads: dict[int, int] = {}
    writes: set[int] = set()
    for instruction in program:
        if instruction.op not in ("ALD", "AST", "IPA"):
            continue
        place, modifiers = instruction["addr"], instruction.modifiers
        if not isinstance(place, Attr) or place.register is not None:
            continue
        if instruction.op == "IPA":
            mode = _MODES[str(modifiers["op"])]
            reads[place.offset] = min(mode, reads.get(place.offset, mode)) if mode != FLAT else mode
            continue
        count = _WORDS[modifiers["size"]]
        if ".P" in instruction.form:  # of a patch: levels are flags in the header, the rest is a count
            continue
        addresses = range(place.offset, place.offset + 4 * count, 4)
        if instruction.op == "AST":
            writes.update(addresses)
        elif not modifiers["o"]:
            reads |= dict.fromkeys(addresses, FLAT)
    return reads, writes
