"""Lookup of methods of the Switch's GPU, and of structures that it reads, by names and numbers that a user types.

A method is found by its class and number (`b197 0x674`) or by any name alone (`CLEAR_SURFACE`, `RenderTarget3Addr`).
Numbers are word offsets, as in pushbuffers and on Switchbrew's page; above 0xfff they can only be byte offsets, as in
the vendor's headers, or the header of a pushbuffer. A remark says what else a number could mean.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pocketgpu.facts.maxwell import (
    A140,
    B0B5,
    B06F,
    B1C0,
    B197,
    CLASSES,
    GPFIFO,
    QMD,
    SPH,
    TIC,
    TSC,
    TWOD,
    WORDS,
    Method,
    MethodBlock,
)  # fmt: skip
from pocketgpu.facts.maxwell.classes import MISPLACED
from pocketgpu.facts.maxwell.headers import BitField, BitStructure, tic_of
from pocketgpu.facts.maxwell.pushbuffers import FORMS, HEADER, HOST_WORDS
from pocketgpu.inspect.registers.describe import Match, hanging, parse_number
from pocketgpu.wording import counted

ENGINES: Final[Mapping[str, int]] = {
    "3d": B197.class_id,
    "compute": B1C0.class_id,
    "inline": A140.class_id,
    "2d": TWOD.class_id,
    "dma": B0B5.class_id,
    "host": B06F.class_id,
}
"""Short words for the classes."""

FAMILIES: Final[Mapping[str, tuple[BitStructure, ...]]] = {
    "tic": tuple(TIC.values()),
    "tsc": (TSC,),
    "qmd": tuple(QMD.values()),
    "sph": tuple(SPH.values()),
    "gpfifo": tuple(GPFIFO.values()),
}
"""Structures in memory, by the word for them on the command line."""


def class_named(text: str, engines: bool = False) -> MethodBlock | None:
    """The class of a number ("b197", "0xB197") or title ("MAXWELL_B"), with `engines` also of a word like "dma"."""
    word = text.lower().removeprefix("0x")
    for block in CLASSES.values():
        if word == block.name or text.upper() == block.title:
            return block
    return CLASSES[ENGINES[word]] if engines and word in ENGINES else None


def resolve(block: MethodBlock, text: str) -> Match | None:
    """The method of a class, or field of one, that a word names: a name, a word or byte offset, a pushbuffer header."""
    number = parse_number(text)
    if number is None:
        found = _named(block, text)
        return None if found is None else Match(*found)
    if number >= 4 * WORDS:
        return _header(block, number) if number < 1 << 32 else None
    if number >= WORDS:
        method = block.get(number // 4) if number % 4 == 0 else None
        return Match(method, said=f"{number:#x} is a byte offset: words end at 0xfff.") if method else None
    method = block.get(number)
    if method is None and number < HOST_WORDS and (host := B06F.get(number)) is not None:
        return Match(host, said=f"Words below {HOST_WORDS:#x} go to the host, whatever class a subchannel is bound to.")
    other = block.get(number // 4) if number % 4 == 0 else None
    if method is None:
        return Match(other, said=f"No method has word {number:#x}; this is byte {number:#x}.") if other else None
    said = f"Taken as a word offset. Byte offset {number:#x} is {other.label}, word {other.word:#x}." if other else ""
    return Match(method, said=said)


def _named(block: MethodBlock, text: str) -> tuple[Method, Any] | None:
    name, _, part = text.strip().partition(".")
    method = block.get(name)
    if method is None:
        return None
    if not part:
        return method, None
    for field in method.fields:
        if field.name.lower() == part.lower():
            return method, field
    return None


def _header(block: MethodBlock, number: int) -> Match | None:
    """A pushbuffer header as text, and the first method that it writes."""
    form, word, subchannel, count = (HEADER[name].raw(number) for name in ("SEC_OP", "ADDRESS", "SUBCHANNEL", "COUNT"))
    if form not in FORMS.numbers("INC_METHOD", "NON_INC_METHOD", "IMMD_DATA_METHOD", "ONE_INC"):
        return None
    method = block.get(word) or (B06F.get(word) if word < HOST_WORDS else None)
    if method is None:
        return None
    what = "1 word follows" if count == 1 else f"{count} words follow"
    if form == FORMS.IMMD_DATA_METHOD:
        what = f"the value {count:#x}"
    kind = HEADER["SEC_OP"].text(number)
    return Match(
        method, said=f"As a pushbuffer header: {kind}, subchannel {subchannel}, {what}, from word {word:#x} on."
    )


def everywhere(text: str) -> list[Match]:
    """Methods of all classes with a name. Several classes often have the same name."""
    found = [_named(block, text) for block in CLASSES.values()] if parse_number(text) is None else []
    return [Match(*one) for one in found if one is not None]


def search(text: str, blocks: Sequence[MethodBlock] | None = None) -> list[Method]:
    """Methods that have all words of `text` in their names, fields or description."""
    words = text.lower().split()
    return [
        method for block in (CLASSES.values() if blocks is None else blocks) for method in block if _has(method, words)
    ]


def _has(method: Method, words: Sequence[str]) -> bool:
    parts = [method.block.name, method.name, *method.aliases, method.doc, *(field.name for field in method.fields)]
    text = " ".join(parts).lower()
    return all(word in text for word in words)


def similar(text: str, block: MethodBlock | None = None, count: int = 3) -> list[str]:
    """Names close to a mistyped one, of one class or of all."""
    blocks = CLASSES.values() if block is None else (block,)
    name = text.partition(".")[0].lower()
    names = {one.lower(): one for each in blocks for method in each for one in (method.name, *method.aliases)}
    return [names[one] for one in difflib.get_close_matches(name, names, n=count)]


def line(method: Method) -> str:
    """A method in one line: class, word, byte, name and fields."""
    what = method.doc.split(". ")[0] or ", ".join(field.name for field in method.fields)
    size = "x".join(str(count) for count in method.shape or (method.count,))
    name = f"{method.label}[{size}]" if method.stride else method.label
    return f"{method.block.name}  {method.word:#05x}  {method.byte:#06x}  {name:40}  {what}".rstrip()


def class_line(block: MethodBlock) -> str:
    """A class in one line."""
    return f"{block.name}  {block.title:26}  {block.engine}, {counted(len(block), 'method')}"


def elsewhere(block: MethodBlock, word: int) -> str:
    """A remark on a method that Switchbrew's page has at the wrong word, or ""."""
    alias = MISPLACED.get(word) if block is B197 else None
    method = block.get(alias) if alias else None
    return f"Switchbrew's {alias} is {method.name}, word {method.word:#x}." if method is not None else ""


# Structures

_LONG_TEXT: Final = 40
"""A list of values with more characters is not repeated for further fields."""


def structures_named(text: str) -> tuple[BitStructure, ...]:
    """The structures that a word names: a family ("tic"), or one member ("tic.bl", "qmd.01_07")."""
    family, _, name = text.lower().partition(".")
    found = FAMILIES.get(family, ())
    return tuple(one for one in found if not name or one.name.lower() == name)


def choose(found: Sequence[BitStructure], words: Sequence[int]) -> BitStructure | None:
    """The structure that these words have: chosen by their length, and by the version that they contain."""
    fitting = [one for one in found if one.words == len(words)]
    if len(fitting) > 1 and fitting[0].file == "tic.tsv":
        return tic_of(list(words))
    if len(fitting) > 1 and fitting[0].file == "qmd.tsv":
        layout = QMD["01_07"]
        name = f"{layout['QMD_MAJOR_VERSION'].raw(words):02}_{layout['QMD_VERSION'].raw(words):02}"
        return QMD.get(name)
    if len(fitting) > 1 and fitting[0].file == "sph.tsv":
        return {1: SPH["VTG"], 2: SPH["PS"]}.get(SPH["VTG"]["SPH_TYPE"].raw(words))
    return fitting[0] if len(fitting) == 1 else None


def parse_words(texts: Sequence[str]) -> list[int] | None:
    """32-bit words as people paste them: with 0x, or eight hexadecimal digits; None if a text is not a word."""
    words = []
    for text in texts:
        if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,8}|[0-9a-fA-F]{8}|0", text):
            return None
        words.append(int(text, 16))
    return words


def structure_lines(structure: BitStructure, words: Sequence[int] | None = None) -> list[str]:
    """A structure for people: the values of `words` field by field, or, without them, the meaning of each field."""
    lines = [
        f"{structure.file.partition('.')[0]}.{structure.name.lower()}   {structure.title}, "
        f"{counted(structure.bits // 8, 'byte')}",
        "",
    ]
    said: dict[str, str] = {}
    for field in structure:
        if words is None:
            many = f"[{field.count}, {field.stride} bits apart]" if field.stride else ""
            lines.append(f"{_place(field)}{field.name}{many}")
            values = _possible(field)
            first = said.setdefault(values, field.name)
            shown = values if first == field.name or len(values) <= _LONG_TEXT else f"values as {first}"
            for text in (field.doc, shown):
                lines += hanging(" " * len(_place(field)), text) if text else []
        elif "RESERVED" not in field.name or any(one.raw(words) for one in field.elements()):
            lines += [f"{_place(one)}{one.name:40} {one.text(words)}".rstrip() for one in field.elements()]
    return lines


def _place(field: BitField) -> str:
    """The start of a line about a field: its word and bits."""
    word, bits = divmod(field.lo, 32)
    span = f"{bits + field.width - 1}-{bits}" if field.width > 1 else str(bits)
    return f"    word {word:2}  {span:6} "


def structure_data(structure: BitStructure, words: Sequence[int] | None = None) -> dict[str, Any]:
    """The same as plain data, for JSON."""
    fields = []
    for one in structure.elements():
        entry: dict[str, Any] = {"name": one.name, "lo": one.lo, "width": one.width, "type": one.type}
        entry["values"] = {str(number): name for number, name in one.enum.items()} if one.enum else None
        if words is not None:
            entry |= {"raw": one.raw(words), "text": one.text(words)}
        fields.append(entry)
    data = {"name": structure.name, "title": structure.title, "words": structure.words, "fields": fields}
    return data if words is None else data | {"value": list(words)}


def _possible(field: BitField) -> str:
    if field.enum:
        return ", ".join(f"{number} {name}" for number, name in field.enum.items())
    return {"bool": "yes or no", "uint": ""}.get(field.type, field.type) + (f" {field.unit}" if field.unit else "")
