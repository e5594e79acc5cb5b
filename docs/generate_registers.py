"""Writes the register reference as Markdown pages, from the fact tables that the program itself runs on.

    python docs/generate_registers.py FOLDER

Registers that differ only in a number (the entries of a table, the lights) share one section. All text comes
from the tables, so correct a mistake in src/pocketgpu/facts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL, LCD, USER_OFFSET
from pocketgpu.facts.maxwell import CLASSES, Method
from pocketgpu.facts.maxwell.headers import STRUCTURES, BitStructure
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.registers.describe import CERTAINTY_TEXT, explain
from pocketgpu.maxwell.sass.isa import reference

# Pages of the 3D core: file name, title, first id. The last page ends where the ids do.
PICA_PAGES = (
    ("pica-interrupts", "Interrupts and the end of a list", 0x000),
    ("pica-rasteriser", "Rasteriser", 0x040),
    ("pica-textures", "Texture units", 0x080),
    ("pica-combiners", "Texture combiners and fog", 0x0C0),
    ("pica-output", "Tests, blending and render targets", 0x100),
    ("pica-lighting", "Lighting", 0x140),
    ("pica-vertices", "Vertices and command lists", 0x200),
    ("pica-geometry-shader", "Geometry shader unit", 0x280),
    ("pica-vertex-shader", "Vertex shader units", 0x2B0),
)


def generate(folder: Path) -> list[Path]:
    """Write all pages into `folder`, which is emptied of older ones; returns what was written."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        old.unlink()
    pages: dict[str, str] = {}
    for (name, title, first), (_, _, end) in zip(PICA_PAGES, (*PICA_PAGES[1:], ("", "", 0x300)), strict=True):
        intro = f"Ids {first:#05x} to {end - 1:#05x}. Id n answers the processor at physical 0x10401000 + 4 n."
        pages[name] = page(title, intro, [register for register in PICA if first <= register.offset < end])
    intro = "What the processor writes directly: fills, transfers, displays. Offsets are bytes from 0x10400000."
    pages["external"] = page("External registers", intro, EXTERNAL)
    pages["lcd"] = page("LCD registers", "Offsets are bytes from 0x10202000.", LCD)
    for block in CLASSES.values():
        intro = f"Methods of class {block.name.upper()}, {block.title}. Offsets are words as pushbuffers have them."
        pages[f"switch-{block.name}"] = page(f"{block.engine[0].upper()}{block.engine[1:]} methods", intro, block)
    pages["switch-structures"] = structures()
    pages["switch-shaders"] = reference.page()
    written = []
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.write_text(text, encoding="utf-8", newline="\n")
        written.append(path)
    return written


def page(title: str, intro: str, registers: Iterable[Register]) -> str:
    """One page: a heading and a section for each group of like registers."""
    lines = [f"# {title}", "", intro, ""]
    for group in like(registers):
        lines += section(group)
    return "\n".join(lines)


def like(registers: Iterable[Register]) -> Iterator[list[Register]]:
    """Runs of registers that differ in nothing but numbers in their names and their places."""

    def kind(register: Register) -> tuple[object, ...]:
        name = re.sub(r"\d+", "#", register.name) if register.known else "unknown"
        return name, register.fields, register.access, register.doc, register.source, register.certainty

    for _, run in groupby(registers, kind):
        yield list(run)


def section(group: list[Register]) -> list[str]:
    """Everything about one register, or some alike."""
    first, last = group[0], group[-1]
    lines = [f"({anchor(register)})=" for register in group]
    title = first.name if len(group) == 1 else f"{first.name} to {last.name}"
    lines += ["", f"## {title}", ""]
    how = access(first)
    lines.append(f"{places(group)}, {how}." if how else f"{places(group)}.")
    if first.doc:
        lines += ["", escape(first.doc)]
    aliases = [alias for alias in first.aliases if not alias.startswith("GPUREG_")]
    if aliases and len(group) == 1:
        lines += ["", f"Also called {', '.join(f'`{alias}`' for alias in aliases)}."]
    if first.fields:
        lines += ["", "| bits | field | meaning |", "|---|---|---|"]
        for row in explain(first).bits:
            if row.field is not None:
                note = f" ({escape(row.note)})" if row.note else ""
                lines.append(f"| {row.span} | {row.name} | {escape(row.text)}{note} |")
    certainty = f"{first.certainty}: {CERTAINTY_TEXT[first.certainty]}"
    return [*lines, "", f"*Source: {first.source or 'none'} ({certainty}).*", ""]


def structures() -> str:
    """The page of what the Switch's GPU reads from memory."""
    lines = ["# Structures in memory", "", "Bits count from the lowest bit of the first word.", ""]
    for structure in STRUCTURES:
        lines += structure_section(structure)
    return "\n".join(lines)


def structure_section(structure: BitStructure) -> list[str]:
    family = structure.file.partition(".")[0].upper()
    name = structure.name if structure.name == family else f"{family} {structure.name}"
    lines = [f"## {name}", "", f"{structure.title.capitalize()}, {structure.bits // 8} bytes.", ""]
    lines += ["| bits | field | meaning |", "|---|---|---|"]
    for field in structure.fields:
        span = f"{field.hi}-{field.lo}" if field.width > 1 else str(field.lo)
        many = f", {field.count} of them, {field.stride} bits apart" if field.stride else ""
        values = ", ".join(f"{number} {text}" for number, text in (field.enum or {}).items()) or field.type
        lines.append(f"| {span} | {field.name} | {escape(values + many)} |")
    return [*lines, ""]


def anchor(register: Register) -> str:
    if isinstance(register, Method):
        return f"method-{register.block.name}-{register.name.lower().replace('_', '-')}"
    return f"register-{register.name.lower().replace('_', '-')}"


def places(group: list[Register]) -> str:
    first, last = group[0], group[-1]

    def span(start: int, end: int, digits: int) -> str:
        text = f"0x{start:0{digits}X}"
        return text if len(group) == 1 else f"{text} to 0x{end:0{digits}X}"

    if isinstance(first, Method):
        many = f", {first.count} of them, {first.stride} words apart" if first.stride else ""
        return f"Word {span(first.offset, last.offset, 3)}, byte {span(first.address, last.address, 4)}{many}"
    what = "Id " if first.block is PICA.bank else "Offset "
    physical = span(first.address, last.address, 8)
    virtual = span(first.address + USER_OFFSET, last.address + USER_OFFSET, 8)
    return f"{what}{span(first.offset, last.offset, 3)}, physical {physical}, for programs {virtual}"


def access(register: Register) -> str:
    if isinstance(register, Method):
        return "a write triggers an action" if register.trigger else ""
    words = {"rw": "read and write", "r": "read only", "w": "write only"}[register.access]
    if register.reset:
        words += f", reset value 0x{register.reset:08X}"
    if register.writable not in (0, 0xFFFFFFFF):
        words += f", writable bits 0x{register.writable:08X}"
    return words + (", a write triggers an action" if register.trigger else "")


def escape(text: str) -> str:
    """Text for a table cell or paragraph: what Markdown would read as markup is taken literally."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/generate_registers.py FOLDER")
    print(f"{len(generate(Path(sys.argv[1])))} pages in {sys.argv[1]}")
