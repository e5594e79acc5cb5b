"""The pages of both consoles' shader instructions: the bits of each form drawn, and what they mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape as html
from typing import Final, NamedTuple

from pocketgpu.facts.maxwell.sass import ENUMS, FORMS, Form
from pocketgpu.facts.maxwell.sass.operations import OPERATIONS
from pocketgpu.facts.shader_isa import (
    ANY,
    BOTH,
    COMPARE_NAMES,
    COMPONENT_MASKS,
    COMPONENT_SELECTORS,
    F0,
    F1,
    F1C,
    F5,
    INDEX_NAMES,
    INVERTS,
    LAST_SLOT,
    ONLY_X,
    ONLY_Y,
    OPCODES,
    OPDESC_FIELDS,
    SOURCE,
    Format,
    Opcode,
    source_register,
    target_register,
)
from pocketgpu.maxwell.sass.isa.reference import fields, members, syntax
from reference_pages.bits import Part, drawing, folded, table
from reference_pages.markdown import escape
from reference_pages.names import dashed

# Pages of the Switch's instructions: file name, title, the first mnemonic in the order of the table.
SWITCH_PAGES: Final = (
    ("switch-sass-integer", "Integer instructions", "IADD"),
    ("switch-sass-moves", "Comparisons, moves and conversions", "ISETP"),
    ("switch-sass-float", "Float32 and float64 instructions", "FADD"),
    ("switch-sass-half", "Float16 instructions", "HADD2"),
    ("switch-sass-flow", "Predicates, flow and special instructions", "PSETP"),
    ("switch-sass-memory", "Memory and attributes", "LDG"),
    ("switch-sass-textures", "Textures and surfaces", "TEX"),
    ("switch-sass-video", "Video instructions and exchange", "VADD"),
)
VALUES_PAGE: Final = "switch-sass-values"
"""The page of what fields with named values can be."""
WORD: Final = 64


class Sass(NamedTuple):
    """A page of the Switch's instructions: file name, title, mnemonics with their forms."""

    name: str
    title: str
    operations: dict[str, list[Form]]


def anchor(console: str, name: str) -> str:
    """The anchor of an instruction: of "3ds" or "switch"."""
    return f"instruction-{console}-{dashed(name)}"


# -- Switch -----------------------------------------------------------------------------------------------------------
def sass_pages() -> list[Sass]:
    """All pages. Every form is on one."""
    pages: list[Sass] = []
    starts = {first: (name, title) for name, title, first in SWITCH_PAGES}
    for form in FORMS.values():
        if form.op in starts:
            pages.append(Sass(*starts.pop(form.op), {}))
        forms = next((page.operations[form.op] for page in pages if form.op in page.operations), None)
        if forms is None:
            forms = pages[-1].operations.setdefault(form.op, [])
        forms.append(form)
    return pages


def sass_page(content: Sass) -> str:
    """One page: a section for each mnemonic."""
    lines = [
        f"# {content.title} (SM 5.3)", "",
        "From the table that decoder, disassembler and assembler share. Bits that are drawn as 0 or 1 select the form;",
        "where two forms fit a word, it is the one with more of these bits. Hatched bits are ignored.", "",
    ]  # fmt: skip
    for op, forms in content.operations.items():
        lines += [f"({anchor('switch', op)})=", f"## {op}", ""]
        operation = OPERATIONS.get(op)
        if operation is not None:
            lines += [f"What it does: {escape(operation.meaning)}.", ""]
        for form in forms:
            lines += sass_form(form)
    return "\n".join(lines)


def sass_form(form: Form) -> Iterator[str]:
    """A form: how it is written, its bits, and its fields with named values."""
    guard = "@P0 " if form.guarded else ""
    yield f'<p class="form"><b>{html(form.name)}</b> <code>{html(guard + syntax(form))}</code></p>'
    fixed = [Part(bit, 1, fixed=str(form.value >> bit & 1)) for bit in range(WORD) if form.mask >> bit & 1]
    named = [
        Part(lo, width, name) for name, bits in form.fields.items() for lo, width in bits.pieces if lo < WORD
    ]  # fmt: skip
    parts = first_readings((*fixed, *named))
    yield drawing(parts, size=WORD, title=f"Bits of {form.name}")
    if lines := "; ".join(beside(form, parts)):
        yield f'<p class="more">{lines}.</p>'
    yield ""


def first_readings(parts: Iterable[Part]) -> list[Part]:
    """Parts without the bits that an earlier one has."""
    taken = 0
    found: list[Part] = []
    for part in parts:
        for bit in range(part.lo, part.hi + 1):
            if taken >> bit & 1:
                continue
            last = found[-1] if found else None
            if last is not None and last.name == part.name and last.hi + 1 == bit and not part.fixed:
                found[-1] = last._replace(width=last.width + 1)
            else:
                found.append(part._replace(lo=bit, width=1))
            taken |= 1 << bit
    return found


def beside(form: Form, parts: Sequence[Part]) -> Iterator[str]:
    """What the drawing of a form does not say: lists of values, fields of the control word, other readings of bits."""
    lists = [name if name == enum else f"{name} (list {enum})" for name, _, enum in fields(form) if enum]
    if lists:
        yield f'<a href="{VALUES_PAGE}.html">Named values</a>: {html(", ".join(lists))}'
    drawn = {part.name for part in parts}
    places = {name: bits for name, bits in form.fields.items() if name not in drawn}
    control = [f"{name} {bits}" for name, bits in places.items() if bits.pieces[0][0] >= WORD]
    same = [f"{name} {bits}" for name, bits in places.items() if bits.pieces[0][0] < WORD]
    if same:
        yield f"In bits that are drawn with another name: {html(', '.join(same))}"
    if control:
        yield f"In the control word, whose lowest bit counts as {WORD}: {html(', '.join(control))}"


def sass_values() -> str:
    """The page of enumerations."""
    lines = ["# Values of fields (SM 5.3)", "", "The named values of fields, by the name of their list.", ""]
    rows = ((f"<code>{html(name)}</code>", folded(html(members(name)), "values", 600)) for name in sorted(ENUMS))
    return "\n".join([*lines, table(("list", "values"), rows), ""])


# -- 3DS --------------------------------------------------------------------------------------------------------------
PICA_PAGE: Final = "pica-shader-instructions"
_FILES: Final = {"v": "inputs ", "o": "outputs "}
"""What is said before the names of registers, by their file."""


def files(named: Callable[[int], tuple[str, int]], width: int) -> str:
    """Which registers the numbers of a field mean: "0x00 to 0x0f are inputs v0 to v15, ..."."""
    found: dict[str, list[int]] = {}
    for number in range(1 << width):
        found.setdefault(named(number)[0], []).append(number)
    return ", ".join(
        f"{those[0]:#04x} to {those[-1]:#04x} are {_FILES.get(file, '')}{file}{named(those[0])[1]} to "
        f"{file}{named(those[-1])[1]}"
        for file, those in found.items()
    )  # fmt: skip


def bits_of(shape: Format, field: str) -> int:
    """Bits of a field."""
    return shape.fields[field][1]


def listed(names: Sequence[str]) -> str:
    """The values of a field: "0 EQ, 1 NE"."""
    return ", ".join(f"{number} {name or 'none'}" for number, name in enumerate(names))


_FIELDS: Final = {
    "op": "number of the instruction",
    "desc": "number of the operand descriptor, which has signs, selectors and the write mask",
    "src1": "first source", "src2": "second source", "src3": "third source",
    "idx": f"address register that is added to the wide source: {listed(INDEX_NAMES)}",
    "dst": f"destination: {files(target_register, bits_of(F1, 'dst'))}",
    "cmpx": f"comparison of x: {listed(COMPARE_NAMES)} (always true)",
    "cmpy": "comparison of y, with the same numbers",
    "num": f"number of instructions; of JMPU, {INVERTS} inverts the condition",
    "cond": f"condition: {ANY} any of both, {BOTH} both, {ONLY_X} only x, {ONLY_Y} only y",
    "refx": "what cmp.x is compared with", "refy": "what cmp.y is compared with",
    "bool": "number of the boolean uniform (CALLU, IFU, JMPU)", "int": "number of the integer uniform (LOOP)",
    "winding": "turns the primitive round", "primitive": "ends a primitive with this vertex",
    "vertex": f"slot of the vertex, 0 to {LAST_SLOT}",
}  # fmt: skip
_FLOW_DST: Final = "address of an instruction, counted in words"


def pica_formats() -> dict[str, tuple[Format, list[tuple[int, Opcode]]]]:
    """Formats by name, each with its instructions and their numbers."""
    found: dict[str, tuple[Format, list[tuple[int, Opcode]]]] = {}
    for number, opcode in sorted(OPCODES.items()):
        found.setdefault(opcode.format.name, (opcode.format, []))[1].append((number, opcode))
    return dict(sorted(found.items()))


def pica_page() -> str:
    """The page of the 3DS's shader instructions."""
    wide, narrow = bits_of(F1, "src1"), bits_of(F1, "src2")
    lines = [
        "# Shader instructions of the PICA200", "",
        f"A program has words of 32 bits. The upper {bits_of(F0, 'op')} bits are the number of the instruction; CMP",
        f"has {bits_of(F1C, 'op')}, and MAD and MADI have {bits_of(F5, 'op')}.", "",
        f"A source of {wide} bits can be any register: {files(source_register, wide)}.",
        f"A source of {narrow} bits can be fewer: {files(source_register, narrow)}.", "",
        "[Shaders](../../guides/shaders.md) shows how to write, run and trace programs.", "",
    ]  # fmt: skip
    for name, (shape, opcodes) in pica_formats().items():
        lines += [f"({anchor('3ds', one)})=" for one in dict.fromkeys(opcode.name for _, opcode in opcodes)]
        lines += pica_format(name, shape, opcodes)
    lines += descriptors()
    return "\n".join([*lines, f"*Source: {SOURCE}.*", ""])


def pica_format(name: str, shape: Format, opcodes: Sequence[tuple[int, Opcode]]) -> Iterator[str]:
    """A format: its bits, its fields, and its instructions."""
    names = ", ".join(dict.fromkeys(opcode.name for _, opcode in opcodes))
    yield from (f"## Format {name}: {names}", "")
    taken: dict[tuple[int, int], str] = {}
    for field, place in shape.fields.items():
        taken[place] = f"{taken[place]} / {field}" if place in taken else field
    if "op" not in shape.fields:
        taken[26, 6] = "op"
    yield drawing([Part(lo, width, field) for (lo, width), field in taken.items()], title=f"Bits of format {name}")
    rows = [
        (f"{lo + width - 1}-{lo}" if width > 1 else str(lo), f"<code>{field}</code>", told(shape, field))
        for field, (lo, width) in sorted(shape.fields.items(), key=lambda one: -one[1][0])
    ]
    yield table(("bits", "field", "meaning"), rows)
    yield table(("number", "instruction", "what it does"), instructions(opcodes))
    yield ""


def told(shape: Format, field: str) -> str:
    """What a field of a format means."""
    if field == "dst" and "num" in shape.fields:
        return _FLOW_DST
    wide = "; the wide source, which can be a uniform and can be indexed" if field == shape.wide else ""
    return html(_FIELDS[field] + wide)


def instructions(opcodes: Sequence[tuple[int, Opcode]]) -> Iterator[tuple[str, str, str]]:
    """Number, name and meaning; numbers of the same instruction are together."""
    numbers: dict[str, list[int]] = {}
    for number, opcode in opcodes:
        numbers.setdefault(opcode.name, []).append(number)
    docs = {opcode.name: opcode.doc for _, opcode in opcodes}
    for name, those in numbers.items():
        span = f"0x{those[0]:02x}" if len(those) == 1 else f"0x{those[0]:02x} to 0x{those[-1]:02x}"
        yield span, f"<code>{name}</code>", html(docs[name])


def descriptors() -> Iterator[str]:
    """The section of operand descriptors."""
    yield from ("(operand-descriptor)=", "## Operand descriptors", "")
    every, first = (1 << bits_of(shape, "desc") for shape in (F1, F5))
    yield f"{{register}}`VSH_OPDESCS_DATA0` and {{register}}`GSH_OPDESCS_DATA0` load a table of {every} descriptors."
    yield f"MAD and MADI can name the first {first}."
    yield ""
    yield drawing([Part(lo, width, name) for name, (lo, width) in OPDESC_FIELDS.items()], title="Operand descriptor")
    parts = [f"{name} {lo}" for name, (lo, _) in zip("xyzw", COMPONENT_MASKS, strict=True)]
    selectors = [f"{name} {lo + width - 1}-{lo}" for name, (lo, width) in zip("xyzw", COMPONENT_SELECTORS, strict=True)]
    meanings = {
        "mask": f"components that are written: bits {', '.join(parts)}",
        "neg": "the source is negated",
        "sel": f"component that comes to each place, 0 x to 3 w: in the selector {', '.join(selectors)}",
    }
    rows = [
        (f"{lo + width - 1}-{lo}" if width > 1 else str(lo), f"<code>{name}</code>", meanings[name.rstrip("123")])
        for name, (lo, width) in sorted(OPDESC_FIELDS.items(), key=lambda one: -one[1][0])
    ]
    yield table(("bits", "field", "meaning"), rows)
    yield ""
