"""The pages of structures in memory: words with their bits drawn, and tables of fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape as html
from typing import Final, NamedTuple

from pocketgpu.facts.gsp import ENTRY
from pocketgpu.facts.maxwell.headers import GPFIFO, HANDLE, QMD, SPH, TIC, TSC, BitField, BitStructure
from pocketgpu.facts.n3ds.structures import ERROR_RECORD, LIST_ENTRY, RESULT_CODE, structure
from reference_pages.bits import Part, code, drawing, layers, named, table, with_sentence
from reference_pages.names import dashed

WORD: Final = 32


class StructurePage(NamedTuple):
    """A page: file name, title, first paragraph, structures by the names of their sections."""

    name: str
    title: str
    intro: str
    structures: Mapping[str, BitStructure]


_BITS: Final = "A word has 32 bits; bit 0 of word 0 is the lowest bit of the structure."
PAGES: Final = (
    StructurePage(
        "3ds-structures", "Structures of commands and calls",
        f"What command lists, GX commands, framebuffers and calls are made of on a 3DS. {_BITS}",
        {"LIST_ENTRY": LIST_ENTRY, "GX_HEADER": structure("GX_HEADER"), "FRAMEBUFFER_ENTRY": ENTRY,
         "CALL_HEADER": structure("CALL_HEADER"), "RESULT_CODE": RESULT_CODE, "ERROR_RECORD": ERROR_RECORD},
    ),
    StructurePage(
        "switch-textures", "Texture and sampler headers (TIC, TSC)",
        "{method}`SET_TEX_HEADER_POOL_A` and {method}`SET_TEX_SAMPLER_POOL_A` say where the tables of these are. "
        "A texture header has one of eight forms; HEADER_VERSION says which. `pocketgpu regs tic WORDS` decodes one. "
        f"{_BITS}",
        {**{f"TIC {name}": one for name, one in TIC.items()}, "HANDLE": HANDLE, "TSC": TSC},
    ),
    StructurePage(
        "switch-launches", "Launches of grids (QMD)",
        f"A QMD describes one launch of a compute program. Drivers of the Switch write version 1.7. {_BITS}",
        {f"QMD {name}": one for name, one in QMD.items()},
    ),
    StructurePage(
        "switch-shader-headers", "Shader program headers (SPH)",
        f"A header of 80 bytes comes before the code of each program of the 3D engine. {_BITS}",
        {f"SPH {name}": one for name, one in SPH.items()},
    ),
    StructurePage(
        "switch-pushbuffers", "Pushbuffers and channels (GPFIFO)",
        f"What feeds a channel: entries of its ring, headers in a pushbuffer, the page of the ring's pointers. {_BITS}",
        {f"GPFIFO {name}": one for name, one in GPFIFO.items()},
    ),
)  # fmt: skip
"""All pages, that of the 3DS first."""


def anchor(name: str) -> str:
    """The anchor of a structure's section."""
    return f"structure-{dashed(name)}"


def page(content: StructurePage) -> str:
    """One page."""
    lines = [f"# {content.title}", "", content.intro, ""]
    for name, one in content.structures.items():
        lines += section(name, one)
    return "\n".join(lines)


def section(name: str, one: BitStructure) -> Iterator[str]:
    """A structure: its words drawn, and its fields."""
    title = f"{one.title[0].upper()}{one.title[1:]}"
    yield from (f"({anchor(name)})=", f"## {name}", "", f"{title}, {one.bits // 8} bytes.", "")
    yield from words(name, one)
    rows = ((*place(field), code(field.name), meaning(field)) for field in one.fields)
    yield table(("word", "bits", "field", "meaning"), rows)
    yield ""


def words(name: str, one: BitStructure) -> Iterator[str]:
    """The words as drawings. Words without a field are only counted."""
    parts = [Part(element.lo, element.width, element.name) for element in one.elements()]
    empty: list[int] = []
    for number in range(one.words):
        low = number * WORD
        own = [part for part in parts if part.lo < low + WORD and part.hi >= low]
        if not own:
            empty.append(number)
            continue
        yield from unused(empty)
        empty = []
        yield f'<p class="word">Word {number}</p>'
        for layer in layers(moved(own, low)):
            yield drawing(layer, title=f"Word {number} of {name}")
    yield from unused(empty)


def moved(parts: Iterable[Part], low: int) -> Iterator[Part]:
    """The bits that parts have in the word from bit `low` on, counted from there."""
    for part in parts:
        lo, end = max(part.lo - low, 0), min(part.hi + 1 - low, WORD)
        yield part._replace(lo=lo, width=end - lo)


def unused(numbers: list[int]) -> Iterator[str]:
    """A line about words without fields."""
    if numbers:
        many = f"Words {numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else f"Word {numbers[0]}"
        yield f'<p class="word">{many}: not used</p>'


def place(field: BitField) -> tuple[str, str]:
    """Word and bits of a field, "3-4" and "31-16, 3-0" if it has a part in more than one word."""
    first, last = field.lo // WORD, field.hi // WORD
    spans = []
    for number in range(first, last + 1):
        part = next(moved([Part(field.lo, field.width)], number * WORD))
        spans.append(part.span)
    return (str(first) if first == last else f"{first}-{last}"), ", ".join(spans)


def meaning(field: BitField) -> str:
    """Values, number of elements and sentence of a field."""
    if field.enum:
        text = named(field.enum)
    else:
        text = html({"uint": "number", "bool": "0 no, 1 yes"}.get(field.type, field.type))
    if field.unit == "minus one":
        text += ", one less than what is meant"
    if field.stride:
        text += f"; {field.count} of them, {field.stride} bits apart"
    return with_sentence(text, field.doc)
