"""Texts that words are looked for by: "TEXENV0 previous", "0x20040648", "SET_DEPTH_FUNC=less", "f1/d3 draw".

A text has terms between spaces, and a row must match all of them. A term matches a row if it is

* a part of the name or id of its register, of the name of a field of it, or of a field's value that has a name;
* a part of the digits of the word, the value or the address; with 0x the whole number;
* FIELD=VALUE or REGISTER.FIELD=VALUE, where the value is a number or a part of its name;
* the name of an effect or of a kind of word (docs/formats/decode.md);
* the address of a frame or draw that the row is in.

A query is made once for a stream, from tables of the registers that occur in it. Rows are then matched many at a time.
"""

from __future__ import annotations

import re
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.facts.dialect.registers import Field
from pocketgpu.inspect.decode import select
from pocketgpu.inspect.decode.consoles import CONSOLES
from pocketgpu.inspect.decode.names import named
from pocketgpu.inspect.decode.rows import CHANGED, DATA, EFFECTS, IMMEDIATE, ISSUED, PARAMETER, WHAT, Rows
from pocketgpu.inspect.stream.layout import CODES, StreamLayout, codes_of, parts_of
from pocketgpu.late_dataclass import dataclass

Mask = NDArray[np.bool_]
MOST_TEXT: Final = 200
MOST_TERMS: Final = 8
"""Most letters and terms of a text."""
_HEX: Final = re.compile(r"(0x)?([0-9a-f]{1,16})", re.IGNORECASE)
_PLACE: Final = re.compile(r"f\d{1,9}(/d\d{1,9})?(\.\.(f\d{1,9}(/d\d{1,9})?|d\d{1,9}))?", re.IGNORECASE)
_WORD_DIGITS: Final = 8
_WRITES: Final = (PARAMETER, IMMEDIATE, ISSUED)


@dataclass(frozen=True)
class _FieldTest:
    """Registers of a code match if a field has one of some raw values."""

    code: int
    lo: int
    mask: int
    values: NDArray[np.uint32]


class _Term:
    """One term of a text. registers: for each code whether its name matches. tests: of fields, by code."""

    def __init__(self, text: str, layout: StreamLayout) -> None:
        self._digits = CONSOLES[layout.stream.console].address_digits
        self._registers = np.zeros(CODES, np.bool_)
        self._tests: dict[int, list[_FieldTest]] = {}
        self._rows: tuple[int, int] | None = None
        self._effects = sum(bit for name, bit in EFFECTS.items() if name == text and bit != CHANGED)
        self._what = [number for number, name in enumerate(WHAT) if name.replace("_", " ") == text or name == text]
        number = _HEX.fullmatch(text)
        self._number = None if number is None else int(number[2], 16)
        self._whole, self._length = bool(number and number[1]), len(number[2]) if number else 0
        if _PLACE.fullmatch(text):
            self._rows = layout.of_keys(*select.parse_range(text))
        name, equals, value = text.partition("=")
        for code in layout.codes.tolist():
            if equals:
                self._compare(code, name, value)
            else:
                self._look(code, text, layout)
        self._tested = np.zeros(CODES, np.bool_)
        self._tested[list(self._tests)] = True

    def _look(self, code: int, text: str, layout: StreamLayout) -> None:
        """Look for a text in what is known of a register."""
        if text in layout.name_of(code).lower():
            self._registers[code] = True
            return
        fields = _fields(code)
        if any(text in one.name.lower() for one in fields):
            self._registers[code] = True
            return
        for one in fields:
            self._test(code, one, [raw for raw, name in (one.enum or {}).items() if text in name.lower()])

    def _compare(self, code: int, name: str, value: str) -> None:
        """FIELD=VALUE, or REGISTER.FIELD=VALUE. The value is a number, or the name of one."""
        register, dot, field = name.rpartition(".")
        block, id, command = parts_of(code)
        own = named(block, id, command).name.lower()
        if dot and register not in own:
            return
        for one in _fields(code):
            if one.name.lower() == field:
                self._test(code, one, _numbers(one, value))

    def _test(self, code: int, one: Field, values: list[int]) -> None:
        if values:
            test = _FieldTest(code, one.lo, (1 << one.width) - 1, np.array(sorted(values), np.uint32))
            self._tests.setdefault(code, []).append(test)

    def matches(self, rows: Rows, codes: NDArray[np.int32], numbers: NDArray[np.int64]) -> Mask:
        """Which of some rows match. codes, numbers: theirs."""
        found: Mask = self._registers[codes]
        if self._effects:
            found |= (rows["effect"] & np.uint16(self._effects)) != 0
        for what in self._what:
            found |= rows["what"] == what
        if self._rows is not None:
            found |= (numbers >= self._rows[0]) & (numbers < self._rows[1])
        if self._number is not None:
            found |= self._has_digits(rows, codes)
        if self._tests:
            self._test_fields(rows, codes, found)
        return found

    def _has_digits(self, rows: Rows, codes: NDArray[np.int32]) -> Mask:
        assert self._number is not None
        number = self._number
        written = np.isin(rows["what"], _WRITES)
        if self._whole:
            found: Mask = rows["address"] == np.uint64(number)
            if number >> 32 == 0:
                found |= rows["word"] == np.uint32(number)
                found |= (rows["new"] == np.uint32(number)) & written
            return found
        found = _digits_in(rows["address"], number, self._length, self._digits)
        found |= _digits_in(rows["word"], number, self._length, _WORD_DIGITS)
        found |= _digits_in(rows["new"], number, self._length, _WORD_DIGITS) & written
        return found

    def _test_fields(self, rows: Rows, codes: NDArray[np.int32], found: Mask) -> None:
        """Add the rows whose fields match."""
        written = np.isin(rows["what"], _WRITES) & ((rows["effect"] & np.uint16(DATA)) == 0)
        at = np.flatnonzero(self._tested[codes] & written & ~found)
        at = at[np.argsort(codes[at], kind="stable")]
        if not len(at):
            return
        own = codes[at]
        begins = np.flatnonzero(np.diff(own, prepend=-1))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(at)], strict=True):
            some = at[begin:end]
            values = rows["new"][some]
            for test in self._tests[int(own[begin])]:
                found[some] |= np.isin(values >> np.uint32(test.lo) & np.uint32(test.mask), test.values)


def _fields(code: int) -> list[Field]:
    register = named(*parts_of(code)).register
    return [] if register is None else [one for one in register.fields if not one.view]


def _numbers(field: Field, value: str) -> list[int]:
    """The raw values that a text stands for."""
    found = [raw for raw, name in (field.enum or {}).items() if value and value in name.lower()]
    if re.fullmatch(r"0x[0-9a-f]{1,8}|\d{1,10}", value) and (number := int(value, 0)) < 1 << field.width:
        found.append(number)
    if field.type == "bool" and value in ("yes", "no", "true", "false"):
        found.append(int(value in ("yes", "true")))
    return found


def _digits_in(column: NDArray[np.unsignedinteger], number: int, length: int, digits: int) -> Mask:
    """Whether hexadecimal digits are a part of those of each number."""
    found = np.zeros(len(column), np.bool_)
    if length > digits:
        return found
    values = np.ascontiguousarray(column)
    kind = values.dtype.type
    mask = kind((1 << 4 * length) - 1)
    for shift in range(digits - length + 1):
        found |= (values >> kind(4 * shift)) & mask == kind(number)
    return found


class Query:
    """What a text asks for, in one stream.

    :raises UsageError: the text is too long.
    """

    def __init__(self, text: str, layout: StreamLayout) -> None:
        terms = text.lower().split()
        if len(text) > MOST_TEXT or len(terms) > MOST_TERMS:
            raise UsageError(
                f"the text has more than {MOST_TERMS} words or {MOST_TEXT} letters", location="text",
                hint="Look for less at once.",
            )  # fmt: skip
        self._terms = [_Term(one, layout) for one in terms]

    def matches(self, rows: Rows, numbers: NDArray[np.int64]) -> Mask:
        """Which of some rows match. numbers: theirs."""
        codes = codes_of(rows)
        found = np.ones(len(rows), np.bool_)
        for term in self._terms:
            found &= term.matches(rows, codes, numbers)
        return found


__all__ = ["Query"]
