"""What all kinds of operands share: signs and suffixes, numbers and names of registers as text, bits of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from pocketgpu.facts.maxwell.sass import ENUMS, Attribute, Bits, OperandField
from pocketgpu.maxwell.sass.isa.operand import PT, RZ, Operand

Groups = Mapping[str, str]
"""What a pattern found: text by group name, empty for groups that did not match."""
Naming = Callable[[int], str]
"""Text of a code address."""
Put = list[tuple[Bits, int]]
"""Fields and their values."""

INTEGER = r"-?(?:0[xX][0-9a-fA-F]+|\d+)"
REGISTER = r"R(?:Z|\d{1,3})"
PREDICATE = r"P[T0-6]"


def parse_integer(text: str) -> int:
    """A number as the assembler takes it: decimal, or hexadecimal with 0x."""
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("-")
    return sign * int(digits, 16 if digits[:2] in ("0x", "0X") else 10)


def parse_register(text: str) -> int | None:
    """Number of a register; None for one that does not exist."""
    if text == "RZ":
        return RZ
    number = int(text[1:])
    return number if number < RZ else None


def register_name(n: int) -> str:
    """R0 to R254, RZ."""
    return "RZ" if n == RZ else f"R{n}"


def predicate_name(n: int) -> str:
    """P0 to P6, PT."""
    return "PT" if n == PT else f"P{n}"


def sign_extended(number: int, width: int) -> int:
    """A number of so many bits taken as two's complement."""
    return number - (1 << width) if number >> (width - 1) else number


def fit(number: int, bits: Bits, signed: bool) -> int | None:
    """The bits of a number in a field; None if they are too few."""
    if signed and not -(1 << bits.width - 1) <= number < 1 << bits.width - 1:
        return None
    if not signed and not 0 <= number < 1 << bits.width:
        return None
    return number & (1 << bits.width) - 1


@cache
def texts_of(attribute: Attribute) -> dict[str, list[int]]:
    """Text of a suffix to the values that give it."""
    if attribute.bits is None:
        return {}
    if attribute.enum is None:
        return {"": [0], "." + (attribute.name if attribute.name == "reuse" else attribute.name.upper()): [1]}
    found: dict[str, list[int]] = {}
    for member in ENUMS[attribute.enum].members(attribute.bits.width):
        found.setdefault("." + member.text if member.text else "", []).append(member.value)
    return found


def alternation(texts: list[str]) -> str:
    """A pattern for any of some texts, longer ones first."""
    return "|".join(re.escape(text) for text in sorted(texts, key=len, reverse=True))


class Kind:
    """What all kinds share. `signs_before`: signs are a prefix ("-|R0|"), else suffixes ("1.NEG")."""

    signs_before = True

    def decode(self, field: OperandField, word: int, address: int) -> Operand | None:
        """The operand in an instruction; `word` has the scheduling bits from 64 up."""
        raise NotImplementedError

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        """Its text without signs and suffixes. operand: what `decode` gave."""
        raise NotImplementedError

    def pattern(self, field: OperandField) -> str:
        """What `core` looks like; groups begin with the role."""
        raise NotImplementedError

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        """Fields of what a pattern found; None if it does not fit."""
        raise NotImplementedError

    # Signs and suffixes, the same for all kinds.

    def text(self, field: OperandField, operand: Operand | None, word: int, name: Naming) -> str:
        """Its text with signs and suffixes."""

        def on(attribute: str) -> bool:
            found = field.attribute(attribute)
            return found is not None and found.bits is not None and bool(found.bits.get(word))

        core = self.core(field, operand, name)
        tail = "".join(self._suffix(one, word) for one in field.attributes if one.name == "part")
        if self.signs_before:
            core += tail
            core = f"|{core}|" if on("abs") else core
            core = "!" * on("not") + "-" * on("neg") + "~" * on("inv") + core
        else:
            core = (
                "-" * (on("minus") and core != "0x0")
                + core
                + ".NEG" * on("neg")
                + ".ABS" * on("abs")
                + ".INV" * on("inv")
                + tail
            )
        return core + "".join(self._suffix(one, word) for one in field.attributes if one.name in ("reuse", "cc"))

    def _suffix(self, attribute: Attribute, word: int) -> str:
        if attribute.bits is None:
            return ""
        value = attribute.bits.get(word)
        return next(text for text, values in texts_of(attribute).items() if value in values)

    def full_pattern(self, field: OperandField) -> str:
        """A pattern for all of it."""
        role = field.role
        has = {one.name for one in field.attributes if one.bits is not None}

        def sign(attribute: str, text: str) -> str:
            return f"(?P<{role}_{attribute}>{text})?" if attribute in has else ""

        suffixes = {
            one.name: f"(?P<{role}_{one.name}>{alternation(list(texts_of(one)))})"
            for one in field.attributes
            if one.name in ("part", "reuse", "cc") and one.bits is not None
        }
        core = self.pattern(field)
        if self.signs_before:
            core += suffixes.pop("part", "")
            if "abs" in has:
                core = rf"(?P<{role}_abs>\|)?{core}(?({role}_abs)\|)"
            core = sign("not", "!") + sign("neg", "-") + sign("inv", "~") + core
        else:
            core = (
                sign("minus", "-")
                + core
                + sign("neg", r"\.NEG")
                + sign("abs", r"\.ABS")
                + sign("inv", r"\.INV")
                + suffixes.pop("part", "")
            )
        return core + suffixes.pop("reuse", "") + suffixes.pop("cc", "")

    def full_encode(
        self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]
    ) -> list[tuple[Bits, list[int]]] | None:
        """Fields of it and its signs and suffixes, each with all values that its text can stand for."""
        put = self.encode(field, groups, address, labels)
        if put is None:
            return None
        found = [(bits, [value]) for bits, value in put]
        for one in field.attributes:
            if one.bits is None or one.name in _ADDRESSING:
                continue
            given = groups.get(f"{field.role}_{one.name}") or ""
            if one.name in ("part", "reuse", "cc"):
                found.append((one.bits, texts_of(one)[given]))
            else:
                found.append((one.bits, [int(bool(given))]))
        return found


_ADDRESSING = ("base", "none", "wide")
"""Attributes that belong to the core of an operand."""


def raw_of(field: OperandField, word: int) -> int:
    """The number of an operand in a word: signed, scaled, not inverted."""
    if field.bits is None:
        return 0
    number = int(field.bits.get(word)) ^ field.number("xor", 0)
    if field.signed:
        number = sign_extended(number, field.bits.width)
    return number * field.number("scale", 1)


def put_number(field: OperandField, number: int) -> Put | None:
    """The number of an operand in its field."""
    if field.bits is None:
        return [] if number == 0 else None
    scale = field.number("scale", 1)
    if number % scale:
        return None
    fitted = fit(number // scale, field.bits, field.signed)
    return None if fitted is None else [(field.bits, fitted ^ field.number("xor", 0))]


def flag(field: OperandField, word: int, name: str) -> bool:
    """Whether the bit of a sign or of another attribute is set."""
    found = field.attribute(name)
    return found is not None and found.bits is not None and bool(found.bits.get(word))


def part_of(field: OperandField, word: int) -> str:
    """Name of the part that counts; empty if there is no choice."""
    found = field.attribute("part")
    if found is None or found.bits is None or found.enum is None:
        return ""
    member = ENUMS[found.enum].member(found.bits.get(word))
    return "" if member is None else member.name


def base_of(field: OperandField, word: int) -> int | None:
    """The register of an address; None for RZ."""
    found = field.attribute("base")
    if found is None or found.bits is None:
        return None
    n = int(found.bits.get(word))
    return None if n == RZ else n
