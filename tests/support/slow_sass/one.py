"""One instruction of one thread: fields, operands, and what it changes. `execute` runs one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pocketgpu.facts.maxwell.sass import Form

from .. import slow_numbers as num
from ..slow_numbers import DOUBLE, SINGLE, Format, Number

M32 = 0xFFFFFFFF
RZ, PT = 255, 7


@dataclass
class Thread:
    """Registers, predicates (P0 to PT), the condition code by letters c, v, s, z, and the number of the lane."""

    registers: list[int]
    predicates: list[bool]
    code: dict[str, bool]
    lane: int = 0


@dataclass
class Change:
    """What an instruction wrote: registers and predicates by number, and the condition code or None."""

    registers: dict[int, int] = field(default_factory=dict)
    predicates: dict[int, bool] = field(default_factory=dict)
    code: dict[str, bool] | None = None


def signed(v: int, width: int = 32) -> int:
    v &= (1 << width) - 1
    return v - (1 << width) if v >> (width - 1) else v


class One:
    """One instruction for one thread: its fields as numbers, and its operands."""

    def __init__(self, form: Form, word: int, thread: Thread, constant: Callable[[int, int], int]) -> None:
        self.form, self.word, self.thread, self.constant = form, word, thread, constant
        self.change = Change()

    def raw(self, name: str, default: int = 0) -> int:
        """A field of the word, flags stored inverted turned around; `default` if the form has none."""
        bits = self.form.fields.get(name)
        return default if bits is None else int(bits.get(self.word))

    def always(self, text: str) -> bool:
        """Whether the form has a piece of text, such as PO, in its name."""
        return any(m.bits is None and m.name == text for m in self.form.modifiers)

    def has(self, role: str) -> bool:
        return any(o.role == role for o in self.form.operands)

    def register(self, n: int) -> int:
        return 0 if n == RZ else self.thread.registers[n]

    def plain(self, role: str, words: int = 1) -> int:
        """An operand without its signs; two words for 64 bits."""
        operand = next((o for o in self.form.operands if o.role == role), None)
        if operand is None:
            return 0
        assert operand.bits is not None
        raw = int(operand.bits.get(self.word))
        kind, width = operand.kind, operand.bits.width
        if kind == "R":
            high = self.register(raw + 1) if words == 2 and raw != RZ else 0
            return self.register(raw) | high << 32
        if kind in ("C", "CS"):
            bank, offset = self.word >> 34 & 31, (self.word >> 20 & 0x3FFF) * 4
            high = self.constant(bank, offset + 4) if words == 2 else 0
            return self.constant(bank, offset) | high << 32
        if kind in "FDH":
            total = {"F": 32, "D": 64, "H": 16}[kind]
            return raw << (total - width)
        if kind == "I":
            return signed(raw, width) & (M32 if words == 1 else (1 << 64) - 1)
        return raw

    def predicate(self, role: str) -> bool:
        return self.thread.predicates[self.raw(role)] != bool(self.raw(f"{role}.not"))

    # -- floats ---------------------------------------------------------------------------------------------------
    def float(self, role: str, format: Format = SINGLE, ftz: bool = False) -> Number:
        """An operand as a number, its signs applied."""
        bits = self.plain(role, 2 if format is DOUBLE else 1)
        if ftz:
            bits = num.flushed(bits, format)
        n = num.decode(bits, format)
        n = abs(n) if self.raw(f"{role}.abs") else n
        return -n if self.raw(f"{role}.neg") else n

    def give_float(self, n: Number, rounding: int = 0, ftz: bool = False, format: Format = SINGLE) -> None:
        """The result of a float operation, with what .SAT and the condition code want of it."""
        bits = num.encode(n, format, rounding)
        if ftz:
            bits = num.flushed(bits, format)
        if self.raw("sat"):
            bits = num.saturated(bits, format)
        self.give_bits(bits, format)

    def give_bits(self, bits: int, format: Format) -> None:
        if format is DOUBLE:
            self.give_pair(bits)
        else:
            self.give(bits)
        n = num.decode(bits, format)
        below = n.is_nan or (n.kind == "inf" and n.negative) or n.value < 0
        self.give_code(s=below, z=n.is_nan or n.is_zero)

    # -- results --------------------------------------------------------------------------------------------------
    def give(self, v: int, role: str = "d") -> None:
        n = self.raw(role)
        if n != RZ:
            self.change.registers[n] = v & M32

    def give_pair(self, v: int) -> None:
        n = self.raw("d")
        if n != RZ:
            self.change.registers[n] = v & M32
            self.change.registers[n + 1] = v >> 32 & M32

    def give_predicate(self, role: str, v: bool) -> None:
        n = self.raw(role, PT)
        if n != PT:
            self.change.predicates[n] = bool(v)

    def give_code(self, c: bool = False, v: bool = False, s: bool = False, z: bool = False) -> None:
        if self.raw("d.cc"):
            self.change.code = {"c": bool(c), "v": bool(v), "s": bool(s), "z": bool(z)}

    def give_integer(self, v: int, c: bool = False, overflow: bool = False, chained: bool = False) -> None:
        """A word and its condition code; chained: the zero flag goes on from the word below."""
        v &= M32
        self.give(v)
        self.give_code(c, overflow, bool(v >> 31), v == 0 and (not chained or self.thread.code["z"]))

    def carry(self) -> int:
        return int(self.thread.code["c"])

    def joined(self, a: bool, b: bool) -> bool:
        """`bool`: and, or, xor."""
        how = self.raw("bool")
        return (a and b) if how == 0 else (a or b) if how == 1 else a != b

    def give_comparison(self, holds: bool) -> None:
        """Both results of a comparison that writes predicates."""
        other = self.predicate("s")
        self.give_predicate("p", self.joined(holds, other))
        self.give_predicate("q", self.joined(not holds, other))

    def give_set(self, holds: bool) -> None:
        """All ones or 1.0 where a comparison and a predicate hold."""
        holds = self.joined(holds, self.predicate("s"))
        ones = 0x3F800000 if self.raw("bf") else M32
        self.give(ones if holds else 0)
        self.give_code(s=holds and not self.raw("bf"), z=not holds)


Semantics = Callable[[One], None]
SEMANTICS: dict[str, Semantics] = {}


def of(*names: str) -> Callable[[Semantics], Semantics]:
    def enter(f: Semantics) -> Semantics:
        SEMANTICS.update(dict.fromkeys(names, f))
        return f

    return enter


def execute(form: Form, word: int, thread: Thread, constant: Callable[[int, int], int]) -> Change:
    """What an instruction changes; its guard is not looked at."""
    one = One(form, word, thread, constant)
    SEMANTICS[form.op](one)
    return one.change


def constant_of(words: Any, first: int) -> Callable[[int, int], int]:
    """Constants: words of bank 0 from byte `first` on; all else is 0."""

    def read(bank: int, offset: int) -> int:
        index = (offset - first) // 4
        return int(words[index]) if bank == 0 and 0 <= index < len(words) else 0

    return read
