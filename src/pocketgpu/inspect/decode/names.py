"""Names of ids and values, from the fact tables of all blocks. Lookups are cached."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Final

from pocketgpu.facts.dialect.registers import Register
from pocketgpu.facts.external import EXTERNAL, LCD
from pocketgpu.facts.gsp import GX_COMMANDS, command_number, command_of, half_words
from pocketgpu.facts.maxwell import B06F, CLASSES
from pocketgpu.facts.maxwell.pushbuffers import ENTRY, segment_of
from pocketgpu.facts.pica import PICA
from pocketgpu.inspect.decode.rows import (
    BLOCKS,
    EXTERNAL_BLOCK,
    GPFIFO_BLOCK,
    GX_BLOCK,
    HOST_BLOCK,
    LCD_BLOCK,
    PICA_BLOCK,
)
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.host.layout import CLASS_FILES
from pocketgpu.wording import counted

TITLES: Final = ("3D", "compute", "inline", "2D", "DMA", "host", "?", "", "", "LCD", "GX", "GPFIFO")
"""The text before a register's name, by number of the block."""


@dataclass(frozen=True, slots=True)
class Named:
    """A register or method. id: hexadecimal, with the digits of its table. register: None if no table has it."""

    id: str
    name: str
    register: Register | None = None

    @property
    def known(self) -> bool:
        return self.register is not None and self.register.known


@cache
def named(block: int, id: int, command: int = 0) -> Named:
    """The register of a row, by its block, id and (for words of GX commands) the command's number."""
    if block == PICA_BLOCK:
        found = PICA.get(id)
        return Named(f"{id:#05x}", found.name if found else f"UNKNOWN_{id:03X}", found)
    if block in (EXTERNAL_BLOCK, LCD_BLOCK):
        found = (EXTERNAL if block == EXTERNAL_BLOCK else LCD).get(id)
        return Named(f"{id:#06x}", found.name if found else f"UNKNOWN_{id:04X}", found)
    if block == GX_BLOCK:
        if command >= len(GX_COMMANDS):
            return Named(f"{id:#x}", f"UNKNOWN_{command}.word{id}")
        known = GX_COMMANDS[command]
        return Named(f"{id:#x}", f"{known.name}.{known.words[id - 1].name if id else 'command'}")
    if block == GPFIFO_BLOCK:
        return Named(f"{id:#x}", ("ENTRY.low", "ENTRY.high")[id & 1])
    classes = B06F if block == HOST_BLOCK else CLASSES.get(CLASS_FILES[block]) if block < HOST_BLOCK else None
    method = classes.get(id) if classes is not None else None
    return Named(f"{id:#05x}", method.label if method else f"UNKNOWN_{id:03X}", method)


@lru_cache(1 << 16)
def fields(block: int, id: int, value: int) -> tuple[tuple[str, str], ...]:
    """(name, value for people) of each field of a word; alternative views of the same bits are left out."""
    register = named(block, id).register if block not in (GX_BLOCK, GPFIFO_BLOCK) else None
    if register is None:
        return ()
    return tuple((field.name, field.text(value)) for field in register.fields if not field.view)


def gx_text(words: list[int]) -> str:
    """A GX command as text: its name, and its words by name."""
    command = command_of(words)
    if command is None:
        return f"unknown command {command_number(words)}"
    parts = []
    for word, value in zip(command.words, words[1:], strict=False):
        if word.kind == "unused":
            continue
        if word.kind == "pair":
            text = ",".join(map(str, half_words(value)))
        elif word.kind == "size":
            text = f"{counted(value, 'byte')}"
        else:
            text = f"{value:#010x}" if word.kind in ("address", "end", "value") else f"{value:#x}"
        parts.append(f"{word.name}={text}")
    return f"{command.name} {' '.join(parts)}".rstrip()


def entry_text(low: int, high: int) -> str:
    """A GPFIFO entry as text."""
    value = high << 32 | low
    address, length = segment_of(value)
    if not length:
        return f"control {ENTRY['OPCODE'].text(value)}, operand {ENTRY['OPERAND'].raw(value):#x}"
    flags = ((ENTRY[name].raw(value), ENTRY[name].values) for name in ("FETCH", "PRIV", "LEVEL", "SYNC"))
    named_flags = "".join(f", {values[flag]}" for flag, values in flags if flag)
    return f"{counted(length, 'word')} at {address:#x}{named_flags}"


def short(text: str) -> str:
    """The text of a field's value without its number, if it has a name: "1 (front)" is "front"."""
    _, space, rest = text.partition(" (")
    if space and rest.endswith(")") and rest[:1].isalpha() and not rest.startswith(("means", "undefined")):
        return rest[:-1]
    return text


__all__ = ["BLOCKS", "TITLES", "Named", "entry_text", "fields", "gx_text", "named", "short"]
