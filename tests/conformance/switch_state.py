"""What switch_state.tsv says of each row of the Switch's page, and the check that holds registers to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from pocketgpu.facts.maxwell import B0B5, B197
from pocketgpu.inspect.registers import describe, methods

from .switch_client import COPY, THREE_D, Client

TABLE = Path(__file__).with_name("switch_state.tsv")
BLOCKS = {"b197": (B197, THREE_D), "b0b5": (B0B5, COPY)}
UNWRITTEN = ("SET_OBJECT", "CALL_MME_MACRO(127)", "CALL_MME_DATA(127)", "LOAD_CONSTANT_BUFFER(15)")
"""Methods that are no register: the host, the macro engine or memory takes the word. They have tests of their own."""
SIDE = {word: {0xD00} for word in range(0x8C0, 0x8E0)}
"""Words that a write also changes: the answer to a call of the firmware."""


@dataclass(frozen=True)
class Bits:
    """A field as the table has it: where it stands, what is written, and how that reads ("" for plain numbers)."""

    name: str
    hi: int
    lo: int
    raw: int
    text: str


@dataclass(frozen=True)
class Line:
    """A line of the table. page: the name of Switchbrew's page, or nothing."""

    row: str
    page: str
    method: str
    word: int
    bits: tuple[Bits, ...]
    note: str

    @property
    def value(self) -> int:
        return sum(one.raw << one.lo for one in self.bits)


@cache
def lines() -> tuple[Line, ...]:
    found = []
    for row in TABLE.read_text("utf-8").splitlines()[1:]:
        name, page, method, word, fields, note = [*row.split("\t"), ""][:6]
        bits = []
        for text in fields.split():
            match = re.fullmatch(r"(\w+)\[(\d+):(\d+)\]=(0x[0-9a-f]+)(?::(.+))?", text)
            assert match, text
            bits.append(Bits(match[1], int(match[2]), int(match[3]), int(match[4], 16), match[5] or ""))
        found.append(Line(name, page, method, int(word, 16), tuple(bits), note))
    return tuple(found)


def parameters(family: str) -> list[Any]:
    """The lines of a family as parameters that carry their row and its note."""
    found = []
    for line in lines():
        if line.row.startswith(f"{family}."):
            note = {"note": line.note} if line.note else {}
            found.append(pytest.param(line, id=line.method, marks=pytest.mark.row(line.row, **note)))
    return found


def check_line(line: Line) -> None:
    """The method is known by both names, keeps what a pushbuffer writes, and decodes it to these fields alone."""
    block, subchannel = BLOCKS[line.row.split(".")[0]]
    method = block[line.method]
    assert method.word == line.word and method.label == line.method
    assert block[line.word].label == line.method
    if line.page:
        assert line.page in method.aliases and method.name in {one.name for one in block.find(line.page)}
    # The fields are these and no others, and stand where the table says.
    fields = [field for field in method.fields if not field.view]
    assert [(field.name, field.hi, field.lo) for field in fields] == [(one.name, one.hi, one.lo) for one in line.bits]
    for field, one in zip(fields, line.bits, strict=True):
        assert field.raw(line.value) == one.raw
        if one.text:
            said = field.text(line.value)
            assert said == one.text or said == f"{one.raw} ({one.text})" or said.startswith(f"{one.text} (")
    # The tools say the same, by number and by value.
    match = methods.resolve(block, f"{line.word:#x}")
    assert match is not None and match.register.offset == line.word
    explained = {row.name: row for row in describe.explain(method, line.value).bits if row.field}
    assert all(explained[one.name].raw == one.raw for one in line.bits)
    if line.method in UNWRITTEN:
        return
    client = Client()
    before = client.gpu.registers(block.class_id).copy()
    client.put(line.word, line.value, subchannel=subchannel)
    after = client.gpu.registers(block.class_id)
    assert after[line.word] == line.value
    changed = {int(word) for word in (after != before).nonzero()[0]}
    assert changed <= {line.word} | SIDE.get(line.word, set()), [hex(word) for word in changed]
    assert "channel.unknown_method" not in client.events()
