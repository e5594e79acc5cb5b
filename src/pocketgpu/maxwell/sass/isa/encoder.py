"""Text of one instruction to its word. Each row of the table becomes a pattern; what it finds goes into fields.

A row accepts exactly what the disassembler writes for words of that row. Only spaces, the case of hexadecimal digits
and the base of numbers may differ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from pocketgpu.facts.maxwell.sass import FORMS, GUARD, Bits, Form, Modifier
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.sass.isa.decoder import SassError, find_form
from pocketgpu.maxwell.sass.isa.kind import alternation
from pocketgpu.maxwell.sass.isa.operand import PT
from pocketgpu.maxwell.sass.isa.operand_kinds import KINDS

WORD_MASK = (1 << 64) - 1
_GUARDED = re.compile(r"@(!?)(P[T0-6])\s+")
_COMMA = re.compile(r"\s*,\s*(?![^\[{]*[\]}])")
_NONE: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Encoded:
    """A word and the scheduling bits that its text asks for (operand reuse, texture phase), with a mask of those."""

    word: int
    control: int
    control_mask: int
    form: Form


@cache
def _forms_of(op: str) -> tuple[Form, ...]:
    return tuple(form for form in FORMS.values() if form.op == op)


@cache
def mnemonics() -> frozenset[str]:
    """All mnemonics of the table."""
    return frozenset(form.op for form in FORMS.values())


def _modifier_pattern(index: int, modifier: Modifier) -> str:
    texts = ["." + text if text else "" for _, _, text in modifier.choices]
    return f"(?P<modifier_{index}>{alternation(list(dict.fromkeys(texts)))})"


def _parts(form: Form) -> list[str]:
    """Patterns for the text after the mnemonic: all modifiers in one, then each operand with a comma before it."""
    parts = ["".join(_modifier_pattern(index, modifier) for index, modifier in enumerate(form.modifiers))]
    for field in form.operands:
        one = f"(?:, {KINDS[field.kind].full_pattern(field)})"
        parts.append(one + "?" if field.attribute("opt") else one)
    return parts


@cache
def _pattern(form: Form) -> re.Pattern[str]:
    """The pattern for the text after the mnemonic, which has a comma before each operand."""
    return re.compile("".join(_parts(form)))


Fields = list[tuple[Bits, Sequence[int]]]
"""Fields, each with all values that its text can stand for."""


def _fields(form: Form, found: re.Match[str], address: int, labels: Mapping[str, int]) -> Fields | None:
    groups = {name: text or "" for name, text in found.groupdict().items()}
    fields: Fields = []
    for index, modifier in enumerate(form.modifiers):
        if modifier.bits is not None:
            given = groups[f"modifier_{index}"].removeprefix(".")
            fields.append((modifier.bits, [value for value, _, text in modifier.choices if text == given]))
    for field in form.operands:
        if field.attribute("opt") and found.group(_main_group(form, field.role)) is None:
            assert field.bits is not None
            fields.append((field.bits, [field.number("opt", 0) ^ field.number("xor", 0)]))
            fields += [(one.bits, [0]) for one in field.attributes if one.bits is not None]
            continue
        encoded = KINDS[field.kind].full_encode(field, groups, address, labels)
        if encoded is None:
            return None
        fields += encoded
    return fields


def _main_group(form: Form, role: str) -> str:
    return role if role in _pattern(form).groupindex else f"{role}_base"


def _settle(fields: Fields, known: int, word: int) -> int | None:
    """A word that agrees with `word` in the bits `known` and holds one of the values of each field."""
    if not fields:
        return word
    (bits, values), rest = fields[0], fields[1:]
    mask = bits.mask
    for value in values:
        put = bits.put(value)
        if (put ^ word) & known & mask == 0 and (done := _settle(rest, known | mask, word | put)) is not None:
            return done
    return None


def _encode(form: Form, tail: str, guard: int, address: int, labels: Mapping[str, int]) -> Encoded | None:
    found = _pattern(form).fullmatch(tail)
    if found is None or (not form.guarded and guard != PT):
        return None
    fields = _fields(form, found, address, labels)
    if fields is None:
        return None
    if form.guarded:
        fields.append((GUARD, [guard]))
    fields.sort(key=lambda field: len(field[1]))
    known = form.mask
    settled = _settle(fields, known, form.value & form.mask)
    if settled is None:
        return None
    meaningful = form.meaningful & WORD_MASK
    word = settled & WORD_MASK | form.value & ~meaningful & WORD_MASK
    if find_form(word) is not form:
        return None
    return Encoded(word, settled >> 64, (form.meaningful | sum(b.mask for b, _ in fields)) >> 64, form)


def encode(text: str, address: int = 0, labels: Mapping[str, int] = _NONE) -> Encoded:
    """Word of the text of one instruction, without what ends the line.

    address: where it will stand, for branches. labels: addresses of names.

    :raises SassError: no row of the table fits; KeyError names a label that is not there.
    """
    body = text.strip()
    guard = PT
    if guarded := _GUARDED.match(body):
        guard = (7 if guarded[2] == "PT" else int(guarded[2][1:])) | (8 if guarded[1] else 0)
        body = body[guarded.end() :]
    mnemonic = re.match(r"[A-Z0-9_]+", body)
    if mnemonic is None or mnemonic[0] not in mnemonics():
        name = body.split(" ")[0] if body else ""
        raise SassError(f"{name!r} is no instruction", hint="'pocketgpu shader isa' lists all of them.")
    tail = _with_commas(body[mnemonic.end() :])
    for form in _forms_of(mnemonic[0]):
        encoded = _encode(form, tail, guard, address, labels)
        if encoded is not None:
            return encoded
    raise SassError(
        f"no form of {mnemonic[0]} is written {text.strip()!r}",
        hint=f"'pocketgpu shader isa {mnemonic[0]}' shows them.",
    )


def wrong_place(text: str) -> int:
    """Where an instruction that no row fits is wrong: the offset of its first operand that no row takes after those
    before it, or of the modifiers; 0 if nothing narrower is known."""
    guarded = _GUARDED.match(text)
    mnemonic = re.compile(r"[A-Z0-9_]+").match(text, guarded.end() if guarded else 0)
    if mnemonic is None or mnemonic[0] not in mnemonics():
        return guarded.end() if guarded else 0
    cut = re.compile(r"[^\s\[]*").match(text, mnemonic.end())
    assert cut is not None
    operands = [""] if cut.end() == len(text) else _COMMA.split(text[cut.end() :])
    tail = _with_commas(text[mnemonic.end() :])
    ends = [len(cut[0])]
    for one in operands:
        ends.append(ends[-1] + len(", " + re.sub(r"\s+", " ", one).strip()))
    fitting = -1
    for form in _forms_of(mnemonic[0]):
        parts = _parts(form)
        for count in range(len(parts)):
            found = re.compile("".join(parts[: count + 1])).match(tail)
            if found is not None and found.end() in ends:
                fitting = max(fitting, ends.index(found.end()))
    if fitting < 0:
        return mnemonic.end()
    if fitting >= len(operands):
        return 0
    at = cut.end()
    for one in _COMMA.finditer(text, at):
        if not fitting:
            break
        fitting -= 1
        at = one.end()
    return at + len(text[at:]) - len(text[at:].lstrip())


def _with_commas(tail: str) -> str:
    """Modifiers and operands with one comma and space before each operand."""
    cut = re.match(r"[^\s\[]*", tail)
    assert cut is not None
    modifiers, operands = cut[0], tail[cut.end() :].strip()
    if not operands:
        return modifiers
    return modifiers + ", " + ", ".join(re.sub(r"\s+", " ", one).strip() for one in _COMMA.split(operands))
