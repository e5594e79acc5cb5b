"""Kinds of operands: how each is read from a word, written as text, recognised in text, and put into a word.

One class a kind, found by the letters that the table uses (`facts/maxwell/sass/table.py` lists them). A kind knows
nothing of opcodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from ...facts.maxwell.sass import ENUMS, SPECIAL_REGISTERS, Attribute, Bits, OperandField
from . import numbers
from .isa import (
    PT,
    RZ,
    WORD,
    Attr,
    Const,
    Imm,
    Indirect,
    Label,
    Mem,
    Name,
    Operand,
    Pred,
    Reg,
    Set,
    Special,
    Swap,
)

Groups = Mapping[str, str]
"""What a pattern found: text by group name; groups that took no part are empty."""
Naming = Callable[[int], str]
"""Text of a code address."""
Put = list[tuple[Bits, int]]
"""Fields with what belongs into them."""

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

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        """Its text without signs and suffixes."""
        raise NotImplementedError

    def pattern(self, field: OperandField) -> str:
        """What `core` looks like; groups begin with the role."""
        raise NotImplementedError

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        """Fields of what a pattern found; None if it does not fit."""
        raise NotImplementedError

    # Signs and suffixes, the same for all kinds.

    def text(self, field: OperandField, operand: Operand, word: int, name: Naming) -> str:
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
            core = "-" * on("minus") + core + ".NEG" * on("neg") + ".ABS" * on("abs") + ".INV" * on("inv") + tail
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


def _raw(field: OperandField, word: int) -> int:
    if field.bits is None:
        return 0
    number = int(field.bits.get(word)) ^ field.number("xor", 0)
    if field.signed:
        number = sign_extended(number, field.bits.width)
    return number * field.number("scale", 1)


def _put(field: OperandField, number: int) -> Put | None:
    """The number of an operand in its field."""
    if field.bits is None:
        return [] if number == 0 else None
    scale = field.number("scale", 1)
    if number % scale:
        return None
    fitted = fit(number // scale, field.bits, field.signed)
    return None if fitted is None else [(field.bits, fitted ^ field.number("xor", 0))]


def _flag(field: OperandField, word: int, name: str) -> bool:
    found = field.attribute(name)
    return found is not None and found.bits is not None and bool(found.bits.get(word))


def _part(field: OperandField, word: int) -> str:
    found = field.attribute("part")
    if found is None or found.bits is None or found.enum is None:
        return ""
    member = ENUMS[found.enum].member(found.bits.get(word))
    return "" if member is None else member.name


def _base(field: OperandField, word: int) -> int | None:
    found = field.attribute("base")
    if found is None or found.bits is None:
        return None
    n = int(found.bits.get(word))
    return None if n == RZ else n


class RegKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Reg:
        return Reg(
            _raw(field, word),
            _flag(field, word, "neg"),
            _flag(field, word, "abs"),
            _flag(field, word, "inv"),
            _part(field, word),
            _flag(field, word, "reuse"),
        )

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Reg)
        return register_name(operand.n)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{REGISTER})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        n = parse_register(groups[field.role])
        return None if n is None else _put(field, n)


class PredKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Pred:
        return Pred(_raw(field, word), _flag(field, word, "not"))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Pred)
        return predicate_name(operand.n)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{PREDICATE})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        return _put(field, PT if given == "PT" else int(given[1:]))


class NumberKind(Kind):
    """An integer, shown in hexadecimal, or in decimal for kind N."""

    signs_before = False

    def __init__(self, form: str = "#x") -> None:
        self.form = form

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        value = _raw(field, word)
        return Imm(
            value & 0xFFFFFFFF,
            value,
            32,
            _flag(field, word, "neg"),
            _flag(field, word, "abs"),
            _flag(field, word, "inv"),
            _part(field, word),
        )

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Imm)
        return format(operand.value, self.form)

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}>{INTEGER}|`\([^)]+\))"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        # A symbol that the linker will put there is 0 until then.
        given = groups[field.role]
        number = 0 if given.startswith("`") else parse_integer(given)
        if field.signed and field.bits is not None and field.bits.width == 32 and 1 << 31 <= number < 1 << 32:
            number -= 1 << 32  # 32 bits written without a sign
        return _put(field, number)


class FloatKind(Kind):
    """The top bits of a float of `width` bits."""

    signs_before = False

    def __init__(self, width: int) -> None:
        self.width = width

    def _missing(self, field: OperandField) -> int:
        return self.width - (field.bits.width if field.bits is not None else self.width)

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        bits = _raw(field, word) << self._missing(field)
        return Imm(
            bits,
            numbers.value(bits, self.width),
            self.width,
            _flag(field, word, "neg"),
            _flag(field, word, "abs"),
            _flag(field, word, "inv"),
            _part(field, word),
        )

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Imm)
        return numbers.text(operand.bits, self.width)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{numbers.PATTERN})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        missing = self._missing(field)
        bits = numbers.parse(groups[field.role], self.width)
        if bits is None or field.bits is None or bits & (1 << missing) - 1:
            return None
        return [(field.bits, bits >> missing)]


class ConstKind(Kind):
    """`c[bank][offset]`: words of a bank. `gap`: between the brackets."""

    def __init__(self, gap: str = "") -> None:
        self.gap = gap

    def decode(self, field: OperandField, word: int, address: int) -> Const:
        (bank_low, bank_width), (low, width) = _const_pieces(field)
        offset = sign_extended(word >> low & (1 << width) - 1, width) * self.scale
        return Const(
            word >> bank_low & (1 << bank_width) - 1,
            offset,
            _base(field, word),
            _flag(field, word, "neg"),
            _flag(field, word, "abs"),
            _flag(field, word, "inv"),
            _part(field, word),
        )

    scale = 4

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Const)
        return f"c[{operand.bank:#x}]{self.gap}[{_address_text(operand.register, operand.offset)}]"

    def pattern(self, field: OperandField) -> str:
        role = field.role
        base = rf"(?:(?P<{role}_base>{REGISTER})(?:\+|(?=\])))?" if field.attribute("base") else ""
        return rf"c\[(?P<{role}_bank>{INTEGER})\] ?\[{base}(?P<{role}_offset>{INTEGER})?\]"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        (bank_low, bank_width), (low, width) = _const_pieces(field)
        bank_bits, offset_bits = Bits(((bank_low, bank_width),)), Bits(((low, width),))
        bank = fit(parse_integer(groups[f"{field.role}_bank"]), bank_bits, False)
        number = parse_integer(groups.get(f"{field.role}_offset") or "0")
        if number >= 1 << 15 and number < 1 << 16:
            number -= 1 << 16  # the upper half of a bank written without a sign
        offset = fit(number // self.scale, offset_bits, True)
        if bank is None or offset is None or number % self.scale:
            return None
        base = _put_base(field, groups)
        return None if base is None else [(bank_bits, bank), (offset_bits, offset), *base]


class ByteConstKind(ConstKind):
    """A byte offset, perhaps with a base register."""

    scale = 1


class MemKind(Kind):
    """`[R0+0x10]`, with `before` in front."""

    def __init__(self, before: str = "") -> None:
        self.before = before

    def decode(self, field: OperandField, word: int, address: int) -> Mem | Attr:
        register, offset = _base(field, word), _raw(field, word)
        return Attr(register, offset) if self.before else Mem(register, offset)

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Mem | Attr)
        offset = operand.offset
        if operand.register is None and offset < 0 and field.bits is not None:
            # NVIDIA's text gives an address without a register as the unsigned number that the field holds.
            offset += (1 << field.bits.width) * field.number("scale", 1)
        if operand.register is None and offset == 0 and field.attribute("base") is not None:
            return f"{self.before}[RZ]"
        return f"{self.before}[{_address_text(operand.register, offset)}]"

    def pattern(self, field: OperandField) -> str:
        role = field.role
        base = rf"(?:(?P<{role}_base>{REGISTER})(?:\+|(?=\])))?" if field.attribute("base") else ""
        return rf"{self.before}\[{base}(?P<{role}>{INTEGER})?\]"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        base = _put_base(field, groups)
        number = parse_integer(groups.get(field.role) or "0")
        if not groups.get(f"{field.role}_base") and field.bits is not None and field.signed:
            span = (1 << field.bits.width) * field.number("scale", 1)
            number -= span if number >= span // 2 else 0
        put = _put(field, number)
        return None if base is None or put is None else base + put


def _put_base(field: OperandField, groups: Groups) -> Put | None:
    found = field.attribute("base")
    if found is None or found.bits is None:
        return []
    n = parse_register(groups.get(f"{field.role}_base") or "RZ")
    return None if n is None else [(found.bits, n)]


def _const_pieces(field: OperandField) -> tuple[tuple[int, int], tuple[int, int]]:
    assert field.bits is not None
    bank, offset = field.bits.pieces
    return bank, offset


def _address_text(register: int | None, offset: int) -> str:
    if register is None:
        return f"{offset:#x}"
    return register_name(register) + (f"+{offset:#x}" if offset else "")


class TargetKind(Kind):
    """A code address, stored relative to the next instruction."""

    def decode(self, field: OperandField, word: int, address: int) -> Label:
        return Label(address + WORD + _raw(field, word))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Label)
        return name(operand.target)

    def pattern(self, field: OperandField) -> str:
        return rf"(?:(?P<{field.role}>{INTEGER})|`\((?P<{field.role}_label>[^)]+)\))"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        label = groups.get(f"{field.role}_label")
        if label:
            if label not in labels:
                raise KeyError(label)
            return _put(field, labels[label] - address - WORD)
        return _put(field, parse_integer(groups[field.role]) - address - WORD)


class IndirectKind(Kind):
    """A register and an offset, with a space between."""

    def decode(self, field: OperandField, word: int, address: int) -> Indirect:
        base = field.attribute("base")
        assert base is not None and base.bits is not None
        return Indirect(int(base.bits.get(word)), _raw(field, word))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Indirect)
        return register_name(operand.register) + (f" {operand.offset:#x}" if operand.offset else "")

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}_base>{REGISTER})(?: (?P<{field.role}>{INTEGER}))?"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        base = _put_base(field, groups)
        put = _put(field, parse_integer(groups.get(field.role) or "0"))
        return None if base is None or put is None else base + put


class SpecialKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Special:
        n = _raw(field, word)
        return Special(n, SPECIAL_REGISTERS.get(n, f"SR{n}"))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Special)
        return operand.name

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}>S[RM][\w.]*)"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        n = _special_numbers().get(given)
        if n is None and re.fullmatch(r"SR\d{1,3}", given):
            n = int(given[2:])
        return None if n is None or n > 255 else _put(field, n)


@cache
def _special_numbers() -> dict[str, int]:
    return {name: n for n, name in SPECIAL_REGISTERS.items()}


class NameKind(Kind):
    """A member of an enumeration."""

    def decode(self, field: OperandField, word: int, address: int) -> Name:
        assert field.enum is not None
        value = _raw(field, word)
        member = field.enum.member(value)
        return Name("" if member is None else member.name, value)

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Name) and field.enum is not None
        member = field.enum.member(operand.value)
        return "" if member is None else member.text

    def pattern(self, field: OperandField) -> str:
        assert field.enum is not None and field.bits is not None
        texts = [member.text for member in field.enum.members(field.bits.width)]
        return f"(?P<{field.role}>{alternation(texts)})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        raise AssertionError  # full_encode knows all values of a text

    def full_encode(
        self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]
    ) -> list[tuple[Bits, list[int]]] | None:
        assert field.enum is not None and field.bits is not None
        given = groups[field.role]
        return [(field.bits, [m.value for m in field.enum.members(field.bits.width) if m.text == given])]


class LiteralKind(Kind):
    """Text that is always there."""

    def decode(self, field: OperandField, word: int, address: int) -> None:
        return None

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        return field.literal

    def pattern(self, field: OperandField) -> str:
        return re.escape(field.literal)

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        return []


class SwapKind(Kind):
    """Two registers, of which either may be RZ, else the second follows the first: bits `none`. `wide`: pairs."""

    def decode(self, field: OperandField, word: int, address: int) -> Swap:
        n, none = _raw(field, word), self._none(field).get(word)
        second = min(n + (2 if _flag(field, word, "wide") else 1), RZ) if none == 0 else n
        return Swap(RZ if none & 2 else n, RZ if none & 1 else second)

    @staticmethod
    def _none(field: OperandField) -> Bits:
        found = field.attribute("none")
        assert found is not None and found.bits is not None
        return found.bits

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Swap)
        return f"{register_name(operand.compare)}, {register_name(operand.store)}"

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}>{REGISTER}), (?P<{field.role}_second>{REGISTER})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        first, second = parse_register(groups[field.role]), parse_register(groups[f"{field.role}_second"])
        if first is None or second is None or field.bits is None:
            return None
        none = 2 if first == RZ and second != RZ else 1 if second == RZ and first != RZ else 0
        return [(field.bits, second if none == 2 else first), (self._none(field), none)]


class SetKind(Kind):
    """Numbers in braces, a bit each."""

    def decode(self, field: OperandField, word: int, address: int) -> Set:
        raw = _raw(field, word)
        return Set(tuple(n for n in range(raw.bit_length()) if raw >> n & 1))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Set)
        return "{" + ",".join(str(n) for n in reversed(operand.members)) + "}"

    def pattern(self, field: OperandField) -> str:
        return rf"\{{(?P<{field.role}>[\d,]*)\}}"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        members = {int(n) for n in groups[field.role].split(",") if n}
        return _put(field, sum(1 << n for n in members if n < 32))


class SignsKind(Kind):
    """What each of the four threads of a quad does with two numbers, two letters each."""

    codes = ("PP", "NP", "PN", "ZP")

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        return Imm(_raw(field, word), _raw(field, word))

    def core(self, field: OperandField, operand: Operand, name: Naming) -> str:
        assert isinstance(operand, Imm)
        return "".join(self.codes[operand.bits >> shift & 3] for shift in (6, 4, 2, 0))

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>(?:{'|'.join(self.codes)}){{4}})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        raw = 0
        for place in range(0, 8, 2):
            raw = raw << 2 | self.codes.index(given[place : place + 2])
        return _put(field, raw)


KINDS: dict[str, Kind] = {
    "R": RegKind(),
    "P": PredKind(),
    "I": NumberKind(),
    "U": NumberKind(),
    "N": NumberKind("d"),
    "F": FloatKind(32),
    "D": FloatKind(64),
    "H": FloatKind(16),
    "C": ConstKind(),
    "CS": ConstKind(" "),
    "K": ByteConstKind(),
    "M": MemKind(),
    "A": MemKind("a"),
    "T": TargetKind(),
    "RX": IndirectKind(),
    "S": SpecialKind(),
    "X": NameKind(),
    "L": LiteralKind(),
    "V": SwapKind(),
    "B": SetKind(),
    "Q": SignsKind(),
}
"""Kinds by the letters of the table."""


def decode_operand(field: OperandField, word: int, address: int) -> Operand | None:
    """The operand of an instruction; None for fixed text. `word` has the scheduling bits from 64 up."""
    return KINDS[field.kind].decode(field, word, address)


def omitted(field: OperandField, word: int) -> bool:
    """Whether the text leaves the operand out, because its bits have their usual value."""
    usual = field.attribute("opt")
    if usual is None or field.bits is None or _flag(field, word, "not"):
        return False
    return field.bits.get(word) ^ field.number("xor", 0) == usual.value
