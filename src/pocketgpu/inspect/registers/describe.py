"""Explanations of registers: which register is at an address, what a value means bit by bit, and the sources.

Everything comes from the fact tables, so a correction there also corrects the explanation. A register is found by any
of its names: the wiki's with or without its prefix, its aliases, its id, its physical address, the address that
programs use, and the byte offset that the wiki's tables print.
"""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pocketgpu.displayed import Displayed, table_html, title_html
from pocketgpu.facts.choices.certainty import certainty
from pocketgpu.facts.choices.registers import about_register
from pocketgpu.facts.dialect.registers import Certainty, Field, Register
from pocketgpu.facts.external import EXTERNAL, USER_OFFSET
from pocketgpu.facts.list_entry import ALL_BYTES, UNUSED, header_of
from pocketgpu.facts.lookup import BLOCKS, physical, register_at, register_named
from pocketgpu.facts.lookup import search as search_tables
from pocketgpu.facts.maxwell import CLASSES, Method
from pocketgpu.facts.pica import COUNT, PICA
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

CERTAINTY_TEXT: Final[Mapping[Certainty, str]] = {
    Certainty.DOC: "the public documentation says so",
    Certainty.GBATEK: "GBATEK says so, mostly measured on a console",
    Certainty.DRIVER: "driver libraries rely on it",
    Certainty.PEERS: "other simulators agree",
    Certainty.DIFFER: "other simulators disagree",
    Certainty.ONE_PEER: "a single simulator does it",
    Certainty.UNKNOWN: "nobody has measured it",
}
"""The text of each degree of certainty."""

_ACCESS: Final[Mapping[str, str]] = {"rw": "read and write", "r": "read only", "w": "write only"}
_BLOCK_TEXT: Final[Mapping[str, str]] = {
    "pica": "internal register (3D core)",
    "external": "external register",
    "lcd": "LCD register",
}
_ALL: Final = (1 << 32) - 1
_LONG_TEXT: Final = 40
_LINE: Final = 80
_LEAST_ROOM: Final = 30
_LONGEST_RANGE: Final = 16
"""Characters of a line, the least room that a text gets after a long start of the line, and bits of a field whose
values are told as a range: of longer ones the numbers are hard to read."""


@dataclass(frozen=True, slots=True, repr=False)
class Match(Displayed):
    """The meaning of a word of the user: a register, perhaps one of its fields, perhaps a byte other than the first.

    header: the header of a command list entry, if the word was one. said: a remark that is known already.
    """

    register: Register
    field: Field | None = None
    byte: int = 0
    header: int | None = None
    said: str = ""

    def __str__(self) -> str:
        name = self.register.name if self.field is None else f"{self.register.name}.{self.field.name}"
        remark = self.remark()
        return f"{name}: {remark}" if remark else name

    def remark(self) -> str:
        """A remark on what the word says besides the register; "" without one."""
        if self.said:
            return self.said
        if self.header is not None:
            return _header_text(self.header)
        if self.byte:
            return f"The address names byte {self.byte} of it: bits {8 * self.byte + 7} to {8 * self.byte}."
        return ""


@dataclass(frozen=True, slots=True, repr=False)
class Bits(Displayed):
    """One line of an explanation: bits `hi` to `lo`. `field` is None where no source describes the bits.

    raw: the bits shifted down; text: their meaning (or the possible values, if there is no value); note: what is odd
    about them.
    """

    hi: int
    lo: int
    field: Field | None
    raw: int | None
    text: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.span} {self.name}: {self.text}" + (f" ({self.note})" if self.note else "")

    @property
    def name(self) -> str:
        return self.field.name if self.field else "-"

    @property
    def span(self) -> str:
        return str(self.lo) if self.hi == self.lo else f"{self.hi}-{self.lo}"


@dataclass(frozen=True, slots=True, repr=False)
class Explanation(Displayed):
    """A register, and the meaning of the value `word` if that is not None. `bits`: from the highest to the lowest."""

    register: Register
    word: int | None
    bits: tuple[Bits, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        title = self.register.name if self.word is None else f"{self.register.name} = {self.word:#010x}"
        rows = ((one.span, one.name, one.text, one.note) for one in self.bits)
        return title_html(title) + table_html(("bits", "field", "value", "note"), rows, len(self.bits))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain data, for JSON."""
        register = self.register
        data: dict[str, Any] = {
            "name": register.name,
            "aliases": list(register.aliases),
            **_place_data(register),
            "trigger": register.trigger,
            "doc": register.doc,
            "source": register.source,
            "certainty": str(register.certainty),
            "known": register.known,
            "fields": [_field_data(field, self.word) for field in register.fields],
            "choices": [
                {"choice": choice.name, "default": choice.default, "certainty": str(certainty(choice))}
                for choice in about_register(register.block.name, register.name)
            ],
        }
        if self.word is not None:
            data["value"] = self.word
            data["unexplained_bits"] = self.word & ~_described(register)
        return data

    def lines(self) -> list[str]:
        """The explanation for people: what the register is, then one line for each group of bits."""
        register = self.register
        name = register.label if isinstance(register, Method) else register.name
        lines = [f"{name}   {_place(register)}"]
        if register.aliases:
            lines.append(f"    also called: {', '.join(register.aliases)}")
        if register.doc:
            lines += hanging("    ", register.doc)
        if access := _access(register):
            lines.append(f"    {access}")
        source = register.source or "none"
        said = f"    source: {source}; certainty: {register.certainty} ({CERTAINTY_TEXT[register.certainty]})"
        lines += _wrapped(said, _LINE, "        ")
        choices = about_register(register.block.name, register.name)
        for choice in choices:
            lines += hanging("    choice: ", f"{choice.name}={choice.default}, {certainty(choice)}. {choice.doc}")
        if choices:
            names = " ".join(choice.name for choice in choices)
            lines += hanging("    who says what: ", f"pocketgpu switches {names}")
        lines.append("")
        if self.word is not None:
            lines.append(f"value {self.word:#010x}")
        lines += _table(self.bits)
        return lines


def _place_data(register: Register) -> dict[str, Any]:
    if isinstance(register, Method):
        return {
            "console": "switch",
            "class": register.block.name,
            "class_name": CLASSES[int(register.block.name, 16)].title,
            "word": register.word,
            "byte": register.byte,
            "index": register.index,
            "count": register.count,
            "stride": register.stride,
        }
    return {
        "console": "3ds",
        "block": register.block.name,
        "id": register.offset if register.block is PICA.bank else None,
        "address": register.address,
        "virtual_address": register.address + USER_OFFSET,
        "access": register.access,
        "reset": register.reset,
        "writable": register.writable,
    }


def _access(register: Register) -> str:
    """How a register can be accessed, as text."""
    off = "a write triggers an action" if register.trigger else ""
    if isinstance(register, Method):
        return off
    text = f"{_ACCESS.get(register.access, register.access)}, reset value {register.reset:#010x}"
    if register.writable not in (0, _ALL):
        text += f", writable bits {register.writable:#010x}"
    return f"{text}, {off}" if off else text


def _place(register: Register) -> str:
    if isinstance(register, Method):
        block = CLASSES[int(register.block.name, 16)]
        text = (
            f"{block.engine} method ({block.name} {block.title}), word {register.word:#05x}, byte {register.byte:#06x}"
        )
        if register.stride:
            size = " x ".join(str(count) for count in register.shape or (register.count,))
            text += f"; {size} of them, {counted(register.stride, 'word')} apart"
        return text
    kind = _BLOCK_TEXT.get(register.block.name, register.block.name)
    number = f" {register.offset:#05x}" if register.block is PICA.bank else ""
    return f"{kind}{number} at {register.address:#010x} (programs: {register.address + USER_OFFSET:#010x})"


def _table(bits: tuple[Bits, ...]) -> list[str]:
    wide = max(len("field"), *(len(row.name) for row in bits))
    lines = [f"    bits   {'field':{wide}}   meaning"]
    said: dict[str, str] = {}
    for row in bits:
        note = f"[{row.note}]" if row.note else ""
        # Neighbours often have the same long list of names: it is shown once.
        first = said.setdefault(row.text, row.name) if len(row.text) > _LONG_TEXT else row.name
        text = row.text if first == row.name else f"as {first}"
        lines += hanging(f"    {row.span:5}  {row.name:{wide}}   ", text, note)
    return lines


def hanging(start: str, text: str, note: str = "") -> list[str]:
    """A text and a note after the start of a line, in lines of 80 characters that are indented to its first word."""
    room = max(_LINE - len(start), _LEAST_ROOM)
    both = f"{text}   {note}" if text and note else text or note
    parts = [both] if len(both) <= room else [text, note]
    # The number of a value and its name are not separated.
    kept = [re.sub(r"(\d+) (\w+,?)", "\\1\N{NO-BREAK SPACE}\\2", part) for part in parts if part]
    lines = [line for part in kept for line in _wrapped(part, room)] or [""]
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]
    return [f"{start}{lines[0]}".rstrip(), *(f"{'':{len(start)}}{line}" for line in lines[1:])]


def _wrapped(text: str, room: int, indent: str = "") -> list[str]:
    """A text in lines; those after the first are indented."""
    if len(text) <= room:
        return [text]
    return textwrap.wrap(text, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def _described(register: Register) -> int:
    """The bits that fields of the register cover."""
    if not register.fields and register.known:
        return _ALL
    mask = 0
    for field in register.fields:
        mask |= field.mask
    return mask


def _field_data(field: Field, word: int | None) -> dict[str, Any]:
    data: dict[str, Any] = {
        "name": field.name,
        "lo": field.lo,
        "hi": field.hi,
        "type": field.type,
        "unit": field.unit,
        "doc": field.doc,
        "values": {str(number): name for number, name in field.enum.items()} if field.enum else None,
    }
    if word is not None:
        value = field.decode(word)
        # JSON cannot hold infinity and NaN; the text shows them.
        finite = not isinstance(value, float) or abs(value) <= 1e300
        data |= {"raw": field.raw(word), "value": value if finite else None, "text": field.text(word)}
    return data


def explain(register: Register, word: int | None = None, field: Field | None = None) -> Explanation:
    """All bits of a register, or of one `field`, with the meaning of `word` if there is one.

    Bits that no field covers get a line of their own, so that no bit of a value is left out.

    :raises ValueError: the word has more than 32 bits, or is negative.
    """
    if word is not None and not 0 <= word <= _ALL:
        raise ValueError(f"{word:#x} does not fit a 32-bit register")
    if field is not None:
        return Explanation(register, word, (_describe(register, field, word),))
    if not register.fields:
        shown = "" if word is None else str(word)
        return Explanation(register, word, (Bits(31, 0, None, word, shown, "" if register.known else "unknown"),))
    rows = [_describe(register, one, word) for one in register.fields]
    rows += _gaps(register, word)
    rows.sort(key=lambda row: (-row.hi, row.field is not None and row.field.view))
    return Explanation(register, word, tuple(rows))


def _describe(register: Register, field: Field, word: int | None) -> Bits:
    notes = [field.doc] if field.doc else []
    if word is None:
        return Bits(field.hi, field.lo, field, None, _possible(field), "; ".join(notes))
    raw = field.raw(word)
    if raw and not field.mask & register.writable and register.access != "r":
        notes.append("a write does not change these bits")
    return Bits(field.hi, field.lo, field, raw, field.text(word), "; ".join(notes))


def _possible(field: Field) -> str:
    """The values that a field can have."""
    if field.enum is not None:
        return ", ".join(f"{number} {name}" for number, name in field.enum.items())
    number = 1 << field.width
    words = {
        "bool": "yes or no",
        "uint": f"0 to {number - 1}" if field.width <= _LONGEST_RANGE else "number",
        "sint": f"-{number // 2} to {number // 2 - 1}" if field.width <= _LONGEST_RANGE else "signed number",
        "smag": "number with sign bit",
        "ieee32": "float",
    }
    kind = words.get(field.type, field.type)
    if field.type in ("pa", "pa8", "pa16"):
        kind = "physical address" + (f" / {field.type[2:]}" if field.type != "pa" else "")
    if field.type in ("x8", "x16"):
        kind = f"number of {field.type[1:]} bytes"
    return f"{kind}, {field.unit}" if field.unit and not field.type.startswith("x") else kind


def _gaps(register: Register, word: int | None) -> Iterator[Bits]:
    covered = _described(register)
    hi = 31
    while hi >= 0:
        if covered >> hi & 1:
            hi -= 1
            continue
        lo = hi
        while lo and not covered >> (lo - 1) & 1:
            lo -= 1
        raw = None if word is None else word >> lo & ((1 << (hi - lo + 1)) - 1)
        note = ""
        if raw:
            kept = register.writable >> lo & ((1 << (hi - lo + 1)) - 1)
            note = "set, but no source says what for" if kept else "set, but a write does not change these bits"
        yield Bits(hi, lo, None, raw, "" if raw is None else f"{raw:#x}", note)
        hi = lo - 1


# Finding


def parse_number(text: str) -> int | None:
    """A number as people write register numbers: 0x..., 0b..., decimal, or the eight digits of an address."""
    word = text.strip().replace("_", "")
    if re.fullmatch(r"1[0-9a-fA-F]{7}", word):
        return int(word, 16)
    match = re.fullmatch(r"(0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[0-9]{1,20})", word)
    if match is None:
        return None
    base = {"0x": 16, "0b": 2}.get(word[:2].lower(), 10)
    return int(word, base)


def resolve(text: str) -> Match | None:
    """The register, or field of one ("TEXUNIT0_DIM.height"), that a word names; None if it names none.

    Numbers: below 0x300 a register id; then up to 0x2000 a byte offset from 0x10400000, as in the wiki's tables;
    otherwise a physical or program address, of any of the register's four bytes, or the header of a command list entry
    (0x000F0110), which old pages call command id and write with X for any digit.
    """
    open_header = re.fullmatch(r"0x(X{3})([0-9a-f]{5})", text.strip(), re.IGNORECASE)
    number = int(open_header[2], 16) if open_header else parse_number(text)
    if number is not None:
        return _resolve_number(number)
    # The wiki names unknown registers by their id: GPUREG_0045.
    unnamed = re.fullmatch(r"(?:GPUREG_)(?:0[xX])?([0-9a-fA-F]{4})", text.strip(), re.IGNORECASE)
    if unnamed:
        return _resolve_number(int(unnamed[1], 16))
    name, _, part = text.strip().partition(".")
    register = register_named(name)
    if register is None:
        return None
    if not part:
        return Match(register)
    for field in register.fields:
        if field.name.lower() == part.lower():
            return Match(register, field)
    return None


def _resolve_number(number: int) -> Match | None:
    if number < COUNT:
        return Match(PICA[number])
    address = physical(number) if number >= 0x2000 else EXTERNAL.base + number
    register = register_at(address & ~3)
    if register is not None:
        return Match(register, byte=address & 3)
    # Addresses of registers have bit 28 set, headers have bits 30 to 28 clear.
    head = header_of(number)
    named = PICA.get(head.id) if head.byte_mask and not UNUSED.raw(number) else None
    return Match(named, header=number) if named else None


def _header_text(header: int) -> str:
    """A command list entry's header as text. Source: 3dbrew GPU/Internal Registers (command lists)."""
    _, mask, extra, step = header_of(header)
    written = [f"{8 * byte + 7}-{8 * byte}" for byte in range(4) if mask >> byte & 1]
    bits = "all bits" if mask == ALL_BYTES else f"bits {', '.join(written)} of it" if written else "no bit of it"
    words = ""
    if extra:
        where = "this and the following registers" if step else "this register, one after the other"
        words = f"; {counted(extra + 1, 'word')}, to {where}"
    return f"As the header of a command list entry it writes {bits}{words}."


def search(text: str, unknown: bool = False) -> list[Register]:
    """Registers with all words of `text` in their description. unknown: registers that no source describes, too."""
    return [register for register in search_tables(text) if register.known or unknown]


def registers(unknown: bool = False) -> list[Register]:
    """Every register that a source describes; with `unknown` only those that none does."""
    return [register for block in BLOCKS for register in block if register.known != unknown]


def similar(text: str, count: int = 3) -> list[str]:
    """Names close to a mistyped one."""
    register, _, part = text.upper().partition(".")
    names = [name for block in BLOCKS for one in block if one.known for name in (one.name, *one.aliases)]
    if part and (found := register_named(register)):
        fields = difflib.get_close_matches(part.lower(), [field.name for field in found.fields], n=count)
        return [f"{found.name}.{name}" for name in fields]
    return difflib.get_close_matches(register, names, n=count)


def line(register: Register) -> str:
    """A register in one line: number, address, name and fields."""
    number = f"{register.offset:#05x}" if register.block is PICA.bank else "     "
    what = register.doc.split(". ")[0] or ", ".join(field.name for field in register.fields)
    return f"{number}  {register.address:#010x}  {register.name:28}  {what}".rstrip()
