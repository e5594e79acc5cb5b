"""The page of GX commands and of the memory that programs share with the system software of a 3DS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape as html
from typing import Final

from pocketgpu.facts.gsp import (
    FRAMEBUFFER_INFO,
    GX_COMMANDS,
    GX_QUEUE,
    INTERRUPT_QUEUE,
    SHARED_PAGE,
    SHARED_SIZE,
    BlockLayout,
    GxCommand,
)
from reference_pages import about
from reference_pages.bits import code, table
from reference_pages.markdown import escape
from reference_pages.names import dashed
from reference_pages.registers import rows

PAGE: Final = "3ds-gx-commands"
BLOCKS: Final[Mapping[str, BlockLayout]] = {
    "Interrupt relay queue": INTERRUPT_QUEUE, "Framebuffer info": FRAMEBUFFER_INFO, "GX command queue": GX_QUEUE,
}  # fmt: skip
_KINDS: Final = {"end": "first address after the range", "pair": "two half-words, the low one first"}


def anchor(name: str) -> str:
    """The anchor of a command's section."""
    return f"gx-{dashed(name)}"


def page() -> str:
    """The whole page."""
    lines = [
        "# GX commands and shared memory", "",
        "A GX command has eight words. Programs put it into a queue in memory that they share with gsp, the system",
        "software's graphics module, which runs it. [The header](#structure-gx-header) is word 0.", "",
    ]  # fmt: skip
    for command in GX_COMMANDS:
        lines += section(command)
    lines += ["## Shared memory", "", f"{SHARED_SIZE:#x} bytes for each program. Offsets count bytes of a block.", ""]
    for name, block in BLOCKS.items():
        lines += shared(name, block)
    lines += [listed("gsp.header."), ""]
    return "\n".join([*lines, f"*Source: {SHARED_PAGE}.*", ""])


def section(command: GxCommand) -> Iterator[str]:
    """A command: what it does, and its words."""
    yield from (f"({anchor(command.name)})=", f"## {command.name}", "")
    yield from (f"Command {command.id}. {escape(command.doc)}", "")
    aligned = "must" if command.aligned else "need not"
    many = "s" if len(command.interrupts) > 1 else ""
    ends = f" Interrupt{many} at its end: {' and '.join(command.interrupts)}." if command.interrupts else ""
    yield from (f"Also called `{command.old_name}`. Addresses and sizes {aligned} be multiples of 8.{ends}", "")
    words = (
        (str(number), code(word.name), html(_KINDS.get(word.kind, word.kind) + (f". {word.doc}" if word.doc else "")))
        for number, word in enumerate(command.words, 1) if word.kind != "unused"
    )  # fmt: skip
    yield table(("word", "name", "meaning"), words)
    yield from ("", listed(f"gsp.gx{command.id}."), "")


def shared(name: str, block: BlockLayout) -> Iterator[str]:
    """A block of shared memory: where it is, and its cells."""
    screens = f", screen s at {block.screen_stride:#x} s from there" if block.screen_stride else ""
    place = f"Client n's is at {block.base:#x} + {block.stride:#x} n{screens}; {block.size:#x} bytes."
    yield from (f"### {name}", "", place, "")
    cells = (
        (f"{cell.offset:#04x}" if cell.size == 1 else f"{cell.offset:#04x}-{cell.offset + cell.size - 1:#04x}",
         code(cell.name), html(cell.doc)) for cell in block.cells
    )  # fmt: skip
    yield table(("bytes", "name", "meaning"), cells)
    yield ""


def listed(start: str) -> str:
    """The rows of public documents whose ids begin so."""
    return rows([(row, title) for row, title in about.titles().items() if row.startswith(start)])
