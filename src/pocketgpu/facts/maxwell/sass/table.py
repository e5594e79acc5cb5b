"""Reads the table of instructions: the rows as objects.

A row of `instructions.tsv` is one *form* of an instruction: a mnemonic with operands of certain kinds.

* op, form: mnemonic, and the name of the row ("FFMA", "FFMA.C").
* value, mask: a word has this form if `word & mask == value`; if several rows match, the mask with most bits wins.
  Bits of `value` outside the mask are what the assembler writes where no field is.
* guard: "P" if bits 19:16 hold the predicate that guards the instruction.
* modifiers: in the order of the text. `.HI` is fixed text. `x@43` is a flag, printed as `.X`; `x@!43` is printed when
  the bit is clear. `rounding=rounding@40:39` is a member of an enumeration; bits are listed high to low. `rounding?` is
  not printed.
* operands: in the order of the text, each `role=KIND@bits` and then attributes: `neg@48 abs@46 inv@40 not@42` are signs
  before it, `part=h1@53` and `cc@47` suffixes, `opt=7` omits it when its bits are 7, `base@15:8` is the register
  of an address (`physical`: not RZ; `rz`: shown even if all is 0), `unsigned` means that its offset is, `scale=4` is
  the factor of an offset, `xor=7` are bits that are stored inverted.

Kinds of operands:
    R register; P predicate; I U signed and unsigned number; F D H number whose bits are the top ones of a float32,
    float64, float16; C word of a constant buffer (bank 38:34, word 33:20), CS the same with a space in the text;
    K constant buffer and byte offset, perhaps with a base register; M memory `[R+n]`; A attribute `a[R+n]`;
    T a code address relative to the next instruction; RX a register and an offset to jump to; S special register;
    X member of an enumeration; L fixed text; V one or two registers of a compare-and-swap; Q signs of FSWZADD; B a set
    of barriers; N decimal number.

A line of `enums.tsv` lists an enumeration from value 0. `(RN)` has a name but is not printed, `!` is invalid, in
`128=U.128` the text differs from the name, and `*INVALID#` is for all further values, # being the number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import cache, cached_property
from itertools import count
from typing import Any, Final

from pocketgpu.facts.dialect.late import Late
from pocketgpu.late_dataclass import dataclass

Word = Any
"""An instruction word: a number, or an array of uint64."""


@dataclass(frozen=True)
class Bits:
    """Some bits of a word, as pieces (lowest bit, width), the highest piece first."""

    pieces: tuple[tuple[int, int], ...]

    @staticmethod
    @cache
    def parse(text: str) -> Bits:
        """From text such as "56,38:20"."""
        pieces = []
        for piece in text.split(","):
            high, _, low = piece.partition(":")
            pieces.append((int(low or high), int(high) - int(low or high) + 1))
        return Bits(tuple(pieces))

    @cached_property
    def width(self) -> int:
        """Number of bits."""
        return sum(width for _, width in self.pieces)

    @cached_property
    def mask(self) -> int:
        """The bits in the word."""
        return sum(((1 << width) - 1) << low for low, width in self.pieces)

    def get(self, word: Word) -> Word:
        """The number in these bits of a word, or of each word of an array."""
        if len(self.pieces) == 1:
            low, width = self.pieces[0]
            return (word >> low) & ((1 << width) - 1)
        number = word & 0
        for low, width in self.pieces:
            number = number << width | (word >> low) & ((1 << width) - 1)
        return number

    def put(self, number: int) -> int:
        """A word with the number in these bits and 0 elsewhere."""
        word = 0
        for low, width in reversed(self.pieces):
            word |= (number & ((1 << width) - 1)) << low
            number >>= width
        return word

    def __str__(self) -> str:
        return ",".join(f"{low + width - 1}:{low}" if width > 1 else str(low) for low, width in self.pieces)


@dataclass(frozen=True, slots=True)
class Member:
    """A value of an enumeration: its name, and its text, which is empty if it is not printed."""

    value: int
    name: str
    text: str


def _member(value: int, item: str) -> Member | None:
    """The member that an item of a line of enums.tsv describes."""
    if item == "!":
        return None
    if item.startswith("("):
        return Member(value, item[1:-1], "")
    short, _, text = item.partition("=")
    return Member(value, short, text or short)


@dataclass(frozen=True)
class Enum:
    """An enumeration: members by value; values without a member are invalid."""

    name: str
    listed: Sequence[Member | None]
    rest: str | None = None

    @staticmethod
    def parse(name: str, line: str) -> Enum:
        """From a line of enums.tsv."""
        items = line.split()
        rest = items.pop()[1:] if items and items[-1].startswith("*") else None
        return Enum(name, Late(lambda: tuple(map(_member, count(), items))), rest)

    def member(self, value: int) -> Member | None:
        """The member of a value, or None."""
        if value < len(self.listed):
            return self.listed[value]
        if self.rest is None:
            return None
        text = self.rest.replace("#", str(value))
        return Member(value, text, text)

    def members(self, width: int) -> list[Member]:
        """All members for a field of this width."""
        return [found for value in range(1 << width) if (found := self.member(value)) is not None]

    def refused(self, width: int) -> tuple[int, ...]:
        """Values of such a field without a member."""
        return tuple(value for value in range(1 << width) if self.member(value) is None)


@dataclass(frozen=True, slots=True)
class Attribute:
    """An addition to an operand or modifier: a sign, a suffix. `value`: the text after "="."""

    name: str
    bits: Bits | None = None
    enum: str | None = None
    value: int = 0


@dataclass(frozen=True)
class Modifier:
    """A suffix of the mnemonic. `bits` is None for fixed text."""

    name: str
    bits: Bits | None
    enum: Enum | None = None
    inverted: bool = False
    printed: bool = True

    @cached_property
    def choices(self) -> tuple[tuple[int, str, str], ...]:
        """(raw value, name, text) of all its values, in their order."""
        if self.bits is None:
            return ((0, self.name, self.name),)
        if self.enum is not None:
            return tuple((m.value, m.name, m.text if self.printed else "") for m in self.enum.members(self.bits.width))
        shown = "" if not self.printed else self.name.upper()
        return ((0, "0", shown), (1, "1", "")) if self.inverted else ((0, "0", ""), (1, "1", shown))

    def text(self, raw: int) -> str:
        """The text of a value, without the dot; empty if nothing is printed."""
        return next((text for value, _, text in self.choices if value == raw), "")


@dataclass(frozen=True)
class OperandField:
    """An operand of a form. `literal`: the text of kind L. `enum`: that of kind X."""

    role: str
    kind: str
    bits: Bits | None
    attributes: tuple[Attribute, ...] = ()
    enum: Enum | None = None
    literal: str = ""

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {one.name: one for one in reversed(self.attributes)}

    def attribute(self, name: str) -> Attribute | None:
        """The attribute of a name."""
        return self._by_name.get(name)

    def number(self, name: str, default: int) -> int:
        """The number after "=" of an attribute."""
        found = self.attribute(name)
        return default if found is None else found.value

    @cached_property
    def signed(self) -> bool:
        """Whether its number, or its address's offset, has a sign."""
        return self.kind in ("I", "C", "CS", "M", "A", "T", "RX", "K") and self.attribute("unsigned") is None


@dataclass(frozen=True)
class Form:
    """A row of the table. `index` counts rows from 0."""

    index: int
    op: str
    name: str
    value: int
    mask: int
    guarded: bool
    modifiers: Sequence[Modifier]
    operands: Sequence[OperandField]

    def __hash__(self) -> int:
        """Equal forms have the same number. Tables of what is known of forms are asked for each instruction."""
        return self.index

    def operand(self, role: str) -> OperandField:
        """The operand of a role such as "a". Raises KeyError if the form has none."""
        for one in self.operands:
            if one.role == role:
                return one
        raise KeyError(role)

    def modifier(self, name: str) -> Modifier | None:
        """The modifier of a name, None if the form has none."""
        return next((one for one in self.modifiers if one.name == name and one.bits is not None), None)

    @cached_property
    def fields(self) -> dict[str, Bits]:
        """All bits with a meaning, by name: "guard", "rounding", "a", "a.neg", "d.cc"."""
        found = {"guard": GUARD} if self.guarded else {}
        found |= {one.name: one.bits for one in self.modifiers if one.bits is not None}
        for operand in self.operands:
            if operand.bits is not None:
                found[operand.role] = operand.bits
            found |= {f"{operand.role}.{one.name}": one.bits for one in operand.attributes if one.bits is not None}
        return found

    @cached_property
    def meaningful(self) -> int:
        """Bits that define the instruction; all others are ignored."""
        mask = self.mask
        for bits in self.fields.values():
            mask |= bits.mask
        return mask

    @cached_property
    def exceptions(self) -> tuple[Bits, ...]:
        """Base registers of physical addresses: if one is RZ, the word has another form."""
        found = (one.attribute("base") for one in self.operands if one.attribute("physical"))
        return tuple(base.bits for base in found if base is not None and base.bits is not None)

    @cached_property
    def limits(self) -> tuple[tuple[Bits, tuple[int, ...]], ...]:
        """Fields with their invalid values, which make a word invalid."""
        found = []
        for one in self.modifiers:
            if one.bits is not None and one.enum is not None:
                found.append((one.bits, one.enum.refused(one.bits.width)))
        for operand in self.operands:
            if operand.bits is not None and operand.enum is not None:
                found.append((operand.bits, operand.enum.refused(operand.bits.width)))
            for attribute in operand.attributes:
                if attribute.bits is not None and attribute.enum is not None:
                    found.append((attribute.bits, ENUMS[attribute.enum].refused(attribute.bits.width)))
        return tuple((bits, values) for bits, values in found if values)


GUARD: Final = Bits.parse("19:16")
_WORD_CONSTANT: Final = Bits.parse("38:34,33:20")


def rows(name: str) -> list[list[str]]:
    """The rows of a table in this folder, without its heading."""
    # Not importlib.resources: importing that costs more than reading the table.
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return [line.split("\t") for line in file.read().splitlines()[1:] if line and not line.startswith("#")]


@cache  # forms share most of these texts
def _modifier(text: str) -> Modifier:
    if text.startswith("."):
        return Modifier(text[1:], None)
    name, _, rest = text.partition("=")
    enum = None
    if rest:
        enum_name, _, bits = rest.partition("@")
        enum = ENUMS[enum_name]
    else:
        name, _, bits = text.partition("@")
    return Modifier(
        name.removesuffix("?"), Bits.parse(bits.removeprefix("!")), enum, bits.startswith("!"), not name.endswith("?")
    )


@cache
def _attribute(text: str) -> Attribute:
    name, equals, rest = text.partition("=")
    if not equals:
        name, _, bits = text.partition("@")
        return Attribute(name, Bits.parse(bits) if bits else None)
    enum, at, bits = rest.partition("@")
    return Attribute(name, Bits.parse(bits), enum) if at else Attribute(name, value=int(rest))


@cache
def _operand(text: str) -> OperandField:
    first, *rest = text.split()
    role, _, what = first.partition("=")
    kind, _, bits = what.partition("@")
    kind, _, detail = kind.partition(":")
    parsed = Bits.parse(bits) if bits else _WORD_CONSTANT if kind in ("C", "CS") else None
    return OperandField(
        role,
        kind,
        parsed,
        tuple(_attribute(one) for one in rest),
        ENUMS[detail] if kind == "X" else None,
        detail if kind == "L" else "",
    )


def _form(index: int, row: list[str]) -> Form:
    op, name, value, mask, guard, modifiers, operands = row
    return Form(
        index,
        op,
        name,
        int(value, 16),
        int(mask, 16),
        guard == "P",
        Late(lambda: tuple(map(_modifier, modifiers.split()))) if modifiers != "-" else (),
        Late(lambda: tuple(map(_operand, re.split(r";\s*", operands)))) if operands != "-" else (),
    )


ENUMS: Final[dict[str, Enum]] = {row[0]: Enum.parse(*row) for row in rows("enums.tsv")}
FORMS: Final[dict[str, Form]] = {row[1]: _form(index, row) for index, row in enumerate(rows("instructions.tsv"))}
