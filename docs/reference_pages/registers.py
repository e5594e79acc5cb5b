"""The pages of registers and methods: for each its place, a drawing of its bits, its fields, and what the project knows
about it elsewhere: choices, rules, scenes, rows of documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape as html
from itertools import pairwise
from typing import Final

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import USER_OFFSET
from pocketgpu.facts.maxwell import Method
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.registers.describe import CERTAINTY_TEXT, Bits, explain
from pocketgpu.wording import counted
from reference_pages import about
from reference_pages.bits import Part, code, drawing, layers, named, table, with_sentence
from reference_pages.catalogue import Page, like
from reference_pages.markdown import escape
from reference_pages.names import anchor

WORD: Final = 4
"""Bytes of a register."""


def page(content: Page) -> str:
    """One page: a heading and a section for each group of like registers."""
    example = next(one for one in content.registers if one.known)
    lines = [f"# {content.title}", "", content.intro, "", commands(example), ""]
    for group in like(content.registers):
        lines += section(group)
    return "\n".join(lines)


def section(group: Sequence[Register]) -> Iterator[str]:
    """Everything about one register, or some alike."""
    first, last = group[0], group[-1]
    yield from (f"({anchor(register)})=" for register in reversed(group))  # the last one becomes that of the section
    title = first.name if len(group) == 1 else f"{first.name} to {last.name}"
    yield from ("", f"## {title}", "", sentence(group))
    yield from ("", *listed(group))
    if first.doc:
        yield from ("", escape(first.doc))
    if others := names(group):
        yield from ("", f"Also called {others}.")
    yield from fields(first)
    certainty = f"{first.certainty}: {CERTAINTY_TEXT[first.certainty]}"
    yield from ("", f"*Source: {first.source or 'none'} ({certainty}).*")
    if first.known:
        yield from ("", *more(group))
    yield ""


def sentence(group: Sequence[Register]) -> str:
    """Where the registers are, and how they can be accessed."""
    how = access(group[0])
    return f"{places(group)}, {how}." if how else f"{places(group)}."


def names(group: Sequence[Register]) -> str:
    """Other names of a register; the prefix of the wiki and of NVIDIA's headers is only told on its page."""
    if len(group) > 1:
        return ""
    return ", ".join(f"`{alias}`" for alias in group[0].aliases)


def fields(register: Register) -> Iterator[str]:
    """The drawing of the bits, and the table of the fields."""
    if not register.fields:
        return
    views = (False, True)
    drawn = [
        layer for view in views
        for layer in layers(Part(one.lo, one.width, one.name) for one in register.fields if one.view is view)
    ]  # fmt: skip
    yield ""
    for number, layer in enumerate(drawn):
        yield drawing(layer, title=f"Bits of {register.name}" if number == 0 else "The same bits, read in another way")
    rows = [row for row in explain(register).bits if row.field is not None]
    cells = [(row.span, code(row.name), meaning(row)) for row in rows]
    yield table(("bits", "field", "meaning"), cells)


def meaning(row: Bits) -> str:
    """Values and sentence of a field."""
    values = row.field.enum if row.field is not None else None
    return with_sentence(named(values) if values else html(row.text), row.note)


def more(group: Sequence[Register]) -> Iterator[str]:
    """Links to choices, rules and scenes, and the rows of documents."""
    links = {
        "Choices about it": [f"{{choice}}`{one.name}`" for one in about.choices(group)],
        "Rules that name it": [f"{{rule}}`{one.id}`" for one in about.rules(group)],
        "Scenes that use it": [f"{{doc}}`{one.title} </{one.page}>`" for one in about.scenes(group)],
    }
    for what, those in links.items():
        if those:
            yield from (f"{what}: {', '.join(those)}.", "")
    if found := about.rows(group):
        yield from ("", rows(found))


def rows(found: Sequence[tuple[str, str]]) -> str:
    """The rows of public documents about a register, folded."""
    many = f"{len(found)} row{'s' if len(found) > 1 else ''} of public documents that tests check"
    items = "".join(f"\n<li><code>{row}</code> {html(title)}" for row, title in found)
    sources = dict.fromkeys(about.DOCUMENTS[row.partition(".")[0]] for row, _ in found)
    return f'<details class="more"><summary>{many}</summary>\n{html("; ".join(sources))}\n<ul>{items}</ul></details>'


def commands(register: Register) -> str:
    """The command for registers of a page, with one of them, and how headers of NVIDIA call methods."""
    if isinstance(register, Method):
        block = register.block.name
        also = f"NVIDIA's headers call this one `NV{block.upper()}_{register.name}`."
        return f"`pocketgpu regs {block} {register.name}` shows a method and explains values of it. {also}"
    return f"`pocketgpu regs {register.name}` shows a register and explains values of it."


def places(group: Sequence[Register]) -> str:
    """Offsets and addresses of the registers; where their distances differ, only offsets: `listed` has the rest."""
    first = group[0]
    if isinstance(first, Method):
        many = f", {first.count} of them, {counted(first.stride, 'word')} apart" if first.stride else ""
        word = span([one.offset for one in group], 3)
        return f"Word {word}, byte {span([one.address for one in group], 4)}{many}"
    what = "Id" if first.block is PICA.bank else "Offset"
    offsets = [one.offset for one in group]
    if irregular(offsets):
        return f"{what}s {span(offsets, 3)}"
    apart = offsets[1] - offsets[0] if len(group) > 1 else 0
    physical = [one.address for one in group]
    text = f"{what} {span(offsets, 3)}, physical {span(physical, 8)}"
    text += f", for programs {span([one + USER_OFFSET for one in physical], 8)}"
    return f"{text}, {apart:#x} apart" if apart * first.block.stride > WORD else text


def listed(group: Sequence[Register]) -> Iterator[str]:
    """The place of each register, folded, if the sentence about all of them has not all places."""
    if isinstance(group[0], Method) or not irregular([one.offset for one in group]):
        return
    rows = (
        (one.name, *(f"0x{number:0{digits}X}" for number, digits in (
            (one.offset, 3), (one.address, 8), (one.address + USER_OFFSET, 8),
        ))) for one in group
    )  # fmt: skip
    heads = ("register", "id" if group[0].block is PICA.bank else "offset", "physical", "for programs")
    yield f'<details class="more"><summary>All addresses</summary>\n{table(heads, rows)}</details>'


def irregular(numbers: Sequence[int]) -> bool:
    """Whether numbers are at different distances."""
    return len({later - earlier for earlier, later in pairwise(numbers)}) > 1


def span(numbers: Sequence[int], digits: int) -> str:
    """Numbers at equal distances as "first to last", others as a list."""
    texts = [f"0x{number:0{digits}X}" for number in numbers]
    if len(texts) == 1:
        return texts[0]
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if irregular(numbers) else f"{texts[0]} to {texts[-1]}"


def access(register: Register) -> str:
    """How a register can be accessed."""
    if isinstance(register, Method):
        return "a write triggers an action" if register.trigger else ""
    words = {"rw": "read and write", "r": "read only", "w": "write only"}[register.access]
    if register.reset:
        words += f", reset value 0x{register.reset:08X}"
    if register.writable not in (0, 0xFFFFFFFF):
        words += f", writable bits 0x{register.writable:08X}"
    return words + (", a write triggers an action" if register.trigger else "")
