"""Which pages of registers and methods there are, and what is on each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from pocketgpu.facts.dialect.registers import Field, Register, RegisterBlock
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.maxwell import CLASSES, MethodBlock
from pocketgpu.facts.pica import COUNT, PICA

HERE: Final = Path(__file__).resolve().parent
FOLDER: Final = "reference/generated"
"""The folder of the pages on the site."""

# Pages of the 3D core: file name, title, first id. The last page ends where the ids do.
PICA_PAGES: Final = (
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


class Page(NamedTuple):
    """A page of registers: file name without its suffix, title, first paragraph, and its registers by their place."""

    name: str
    title: str
    intro: str
    registers: Sequence[Register]


@cache
def pages() -> tuple[Page, ...]:
    """All pages, those of the 3DS first."""
    return (*_pica(), *_outside(), *(page for block in CLASSES.values() for page in _methods(block)))


def _pica() -> Iterator[Page]:
    for (name, title, first), (_, _, end) in zip(PICA_PAGES, (*PICA_PAGES[1:], ("", "", COUNT)), strict=True):
        intro = f"Ids {first:#05x} to {end - 1:#05x}. "
        intro += f"Id n answers the processor at physical {PICA.base:#x} + {PICA.stride} n."
        yield Page(name, title, intro, [register for register in PICA if first <= register.offset < end])


def _outside() -> Iterator[Page]:
    intro = "What the processor writes directly: fills, transfers, displays. "
    yield Page("external", "External registers", intro + _from(EXTERNAL), list(EXTERNAL))
    yield Page("lcd", "LCD registers", _from(LCD), list(LCD))


def _from(block: RegisterBlock) -> str:
    return f"Offsets are bytes from {block.base:#x}."


def _methods(block: MethodBlock) -> Iterator[Page]:
    """The pages of a class: one, or those of its families."""
    intro = f"Methods of class {block.name.upper()}, {block.title}. Offsets are words as pushbuffers have them."
    title = f"{block.engine[0].upper()}{block.engine[1:]} methods"
    listed = families(block.name)
    if not listed:
        yield Page(f"switch-{block.name}", title, intro, list(block))
    left = list(block)
    for name, family, patterns in listed:
        own = [method for method in left if any(fnmatchcase(method.name, pattern) for pattern in patterns)]
        left = [method for method in left if method not in own]
        yield Page(f"switch-{block.name}-{name}", f"{title}: {family[0].lower()}{family[1:]}", intro, own)


def families(block: str) -> list[tuple[str, str, list[str]]]:
    """Page, title and patterns of each family of a class in `families.tsv`: a method is of the first that fits."""
    rows = [line.split("\t") for line in (HERE / "families.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    return [(page, title, patterns.split()) for name, page, title, patterns in rows if name == block]


def like(registers: Iterable[Register]) -> list[list[Register]]:
    """Registers that differ in nothing but numbers in their names and their places, in the order of their first ones.

    Of unknown ones only neighbours are together.
    """
    groups: dict[tuple[object, ...], list[Register]] = {}
    run = 0
    before: Register | None = None
    for register in registers:
        run += before is None or before.known or register.offset != before.offset + 1
        before = register
        name = re.sub(r"\d+", "#", register.name) if register.known else str(run)
        fields = tuple(map(_content, register.fields))
        key = (name, fields, register.access, register.doc, register.source, register.certainty)
        groups.setdefault(key, []).append(register)
    return list(groups.values())


def _content(field: Field) -> tuple[object, ...]:
    """Everything about a field, to compare it with others."""
    values = tuple((field.enum or {}).items())
    return field.name, field.lo, field.width, field.type, field.unit, values, field.doc, field.view, field.source
