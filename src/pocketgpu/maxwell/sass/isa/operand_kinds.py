"""Kinds of operands: how each is read from a word, written as text, recognised in text, and put into a word.

There is one class for each kind; the table names kinds by letters (`facts/maxwell/sass/table.py` lists them). A kind
does not depend on the opcode.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from pocketgpu.facts.maxwell.sass import SPECIAL_REGISTERS, Bits, OperandField
from pocketgpu.maxwell.sass.isa import float_text
from pocketgpu.maxwell.sass.isa.bundles import WORD
from pocketgpu.maxwell.sass.isa.kind import (
    INTEGER,
    PREDICATE,
    REGISTER,
    Groups,
    Kind,
    Naming,
    Put,
    alternation,
    base_of,
    fit,
    flag,
    parse_integer,
    parse_register,
    part_of,
    predicate_name,
    put_number,
    raw_of,
    register_name,
    sign_extended,
)
from pocketgpu.maxwell.sass.isa.operand import (
    PT,
    RZ,
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


class RegKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Reg:
        return Reg(
            raw_of(field, word),
            flag(field, word, "neg"),
            flag(field, word, "abs"),
            flag(field, word, "inv"),
            part_of(field, word),
            flag(field, word, "reuse"),
        )

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Reg)
        return register_name(operand.n)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{REGISTER})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        n = parse_register(groups[field.role])
        return None if n is None else put_number(field, n)


class PredKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Pred:
        return Pred(raw_of(field, word), flag(field, word, "not"))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Pred)
        return predicate_name(operand.n)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{PREDICATE})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        return put_number(field, PT if given == "PT" else int(given[1:]))


class NumberKind(Kind):
    """An integer, shown in hexadecimal, or in decimal for kind N."""

    signs_before = False

    def __init__(self, form: str = "#x") -> None:
        self.form = form

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        value = raw_of(field, word)
        return Imm(
            value & 0xFFFFFFFF,
            value,
            32,
            flag(field, word, "neg"),
            flag(field, word, "abs"),
            flag(field, word, "inv"),
            part_of(field, word),
        )

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
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
        return put_number(field, number)


class FloatKind(Kind):
    """The top bits of a float of `width` bits."""

    signs_before = False

    def __init__(self, width: int) -> None:
        self.width = width

    def _missing(self, field: OperandField) -> int:
        return self.width - (field.bits.width if field.bits is not None else self.width)

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        bits = raw_of(field, word) << self._missing(field)
        return Imm(
            bits,
            float_text.value(bits, self.width),
            self.width,
            flag(field, word, "neg"),
            flag(field, word, "abs"),
            flag(field, word, "inv"),
            part_of(field, word),
        )

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Imm)
        return float_text.text(operand.bits, self.width)

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>{float_text.PATTERN})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        missing = self._missing(field)
        bits = float_text.parse(groups[field.role], self.width)
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
            base_of(field, word),
            flag(field, word, "neg"),
            flag(field, word, "abs"),
            flag(field, word, "inv"),
            part_of(field, word),
        )

    scale = 4

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Const)
        bare = operand.register is None and operand.offset == 0 and field.attribute("rz") is not None
        address = "RZ" if bare else _address_text(operand.register, operand.offset)
        return f"c[{operand.bank:#x}]{self.gap}[{address}]"

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
        register, offset = base_of(field, word), raw_of(field, word)
        return Attr(register, offset) if self.before else Mem(register, offset)

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
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
        put = put_number(field, number)
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
        return Label(address + WORD + raw_of(field, word))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Label)
        return name(operand.target)

    def pattern(self, field: OperandField) -> str:
        return rf"(?:(?P<{field.role}>{INTEGER})|`\((?P<{field.role}_label>[^)]+)\))"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        label = groups.get(f"{field.role}_label")
        if label:
            if label not in labels:
                raise KeyError(label)
            return put_number(field, labels[label] - address - WORD)
        return put_number(field, parse_integer(groups[field.role]) - address - WORD)


class IndirectKind(Kind):
    """A register and an offset, with a space between."""

    def decode(self, field: OperandField, word: int, address: int) -> Indirect:
        base = field.attribute("base")
        assert base is not None and base.bits is not None
        return Indirect(int(base.bits.get(word)), raw_of(field, word))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Indirect)
        return register_name(operand.register) + (f" {operand.offset:#x}" if operand.offset else "")

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}_base>{REGISTER})(?: (?P<{field.role}>{INTEGER}))?"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        base = _put_base(field, groups)
        put = put_number(field, parse_integer(groups.get(field.role) or "0"))
        return None if base is None or put is None else base + put


class SpecialKind(Kind):
    def decode(self, field: OperandField, word: int, address: int) -> Special:
        n = raw_of(field, word)
        return Special(n, SPECIAL_REGISTERS.get(n, f"SR{n}"))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Special)
        return operand.name

    def pattern(self, field: OperandField) -> str:
        return rf"(?P<{field.role}>S[RM][\w.]*)"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        n = _special_numbers().get(given)
        if n is None and re.fullmatch(r"SR\d{1,3}", given):
            n = int(given[2:])
        return None if n is None or n > 255 else put_number(field, n)


@cache
def _special_numbers() -> dict[str, int]:
    return {name: n for n, name in SPECIAL_REGISTERS.items()}


class NameKind(Kind):
    """A member of an enumeration."""

    def decode(self, field: OperandField, word: int, address: int) -> Name:
        assert field.enum is not None
        value = raw_of(field, word)
        member = field.enum.member(value)
        return Name("" if member is None else member.name, value)

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
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
        n, none = raw_of(field, word), self._none(field).get(word)
        second = min(n + (2 if flag(field, word, "wide") else 1), RZ) if none == 0 else n
        return Swap(RZ if none & 2 else n, RZ if none & 1 else second)

    @staticmethod
    def _none(field: OperandField) -> Bits:
        found = field.attribute("none")
        assert found is not None and found.bits is not None
        return found.bits

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
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
        raw = raw_of(field, word)
        return Set(tuple(n for n in range(raw.bit_length()) if raw >> n & 1))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Set)
        return "{" + ",".join(str(n) for n in reversed(operand.members)) + "}"

    def pattern(self, field: OperandField) -> str:
        return rf"\{{(?P<{field.role}>[\d,]*)\}}"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        members = {int(n) for n in groups[field.role].split(",") if n}
        return put_number(field, sum(1 << n for n in members if n < 32))


class SignsKind(Kind):
    """What each of the four threads of a quad does with two numbers, two letters each."""

    codes = ("PP", "NP", "PN", "ZP")

    def decode(self, field: OperandField, word: int, address: int) -> Imm:
        return Imm(raw_of(field, word), raw_of(field, word))

    def core(self, field: OperandField, operand: Operand | None, name: Naming) -> str:
        assert isinstance(operand, Imm)
        return "".join(self.codes[operand.bits >> shift & 3] for shift in (6, 4, 2, 0))

    def pattern(self, field: OperandField) -> str:
        return f"(?P<{field.role}>(?:{'|'.join(self.codes)}){{4}})"

    def encode(self, field: OperandField, groups: Groups, address: int, labels: Mapping[str, int]) -> Put | None:
        given = groups[field.role]
        raw = 0
        for place in range(0, 8, 2):
            raw = raw << 2 | self.codes.index(given[place : place + 2])
        return put_number(field, raw)


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
    if usual is None or field.bits is None or flag(field, word, "not"):
        return False
    return field.bits.get(word) ^ field.number("xor", 0) == usual.value
