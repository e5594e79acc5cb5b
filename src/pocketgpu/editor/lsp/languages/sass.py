"""Text of kernels of the Switch, as `maxwell/sass/isa/assembler.py` reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial

from pocketgpu.editor.lsp.languages.assembled import Assembled, Known
from pocketgpu.editor.lsp.languages.lexer import Lexer
from pocketgpu.editor.lsp.languages.markdown import code, directives, listed, page, plain
from pocketgpu.editor.lsp.languages.model import Definition, Entry, Kind, Role, Token, first_of
from pocketgpu.facts.maxwell.sass import CONTROL, CONTROL_BITS, ENUMS, FORMS, SPECIAL_REGISTERS, Form
from pocketgpu.facts.maxwell.sass.operations import OPERATIONS, SOURCE_OF_CYCLES, SOURCE_OF_MEANINGS
from pocketgpu.maxwell.sass.isa import reference
from pocketgpu.maxwell.sass.isa.assembler import assemble, problems
from pocketgpu.maxwell.sass.isa.bundles import Control
from pocketgpu.maxwell.sass.isa.decoder import SassError, decode_program
from pocketgpu.maxwell.sass.isa.directives import DIRECTIVES
from pocketgpu.maxwell.sass.isa.header import TYPES
from pocketgpu.maxwell.sass.isa.operand import PT
from pocketgpu.maxwell.sass.program.make_steps import step_of
from pocketgpu.maxwell.sass.program.registers import PREDICATE_BIT, writes

_MOST_FORMS = 24
_COMMENT = (Kind.COMMENT, r"//.*|/\*.*?\*/|\(\*.*?\*\)")
_SCHEDULE = (Kind.SCHEDULE, r"\[B[-0-5]{6}:[^\]]*\]")
_COMMA = re.compile(r"\s*,\s*(?![^\[{]*[\]}])")

_LEXER = Lexer(
    [
        _COMMENT,
        _SCHEDULE,
        (Kind.LABEL, r"[.$\w]+(?=:)"),
        (Kind.DIRECTIVE, r"\.[A-Za-z]\w*"),
        (Kind.REGISTER, r"(?<=@)P[0-6T]\b|(?<=@!)P[0-6T]\b"),
        (Kind.MNEMONIC, r"[A-Za-z_]\w*"),
        (Kind.OPERATOR, r"[@!{};]"),
    ],
    [
        _COMMENT,
        _SCHEDULE,
        (Kind.MODIFIER, r"(?<=\w)\.[A-Za-z]\w*"),
        (Kind.REGISTER, r"\b(?:R(?:\d+|Z)|P[0-6T]|CC|PR)\b"),
        (Kind.WORD, r"\bS[RM]_\w+(?:\.[A-Za-z]\w*)*"),
        (Kind.NUMBER, r"\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\b"),
        (Kind.NAME, r"[.$A-Za-z_][.$\w]*"),
        (Kind.OPERATOR, r"[-!~,+\[\]{}()`|;]"),
    ],
    restarts=";{",
)


@cache
def _forms(op: str) -> tuple[Form, ...]:
    return tuple(form for form in FORMS.values() if form.op == op)


@cache
def _mnemonics() -> dict[str, Entry]:
    return {
        name: Entry(name, Kind.MNEMONIC, one.meaning, partial(_about, name))
        for name, one in sorted(OPERATIONS.items())
    }


def _about(op: str) -> str:
    forms = _forms(op)
    shown = [reference.syntax(form) for form in forms[:_MOST_FORMS]]
    if len(forms) > _MOST_FORMS:
        shown.append(f"... {len(forms) - _MOST_FORMS} more")
    operation = OPERATIONS[op]
    enums = {name: enum for form in forms for name, _, enum in reference.fields(form) if enum}
    parts = [code("\n".join(shown)), operation.meaning]
    parts.append(listed((f"{name}", reference.members(enum)) for name, enum in enums.items()))
    if operation.group is not None:
        group = operation.group
        cycles = f"{group.cycles} cycles" + (f", then about {group.barrier} until its barrier" if group.barrier else "")
        parts.append(f"Latency: {cycles}; {group.meaning}. Units are busy for {group.each} of them.")
        parts.append(f"Sources: {SOURCE_OF_MEANINGS}; {SOURCE_OF_CYCLES}.")
    else:
        parts.append(f"Source: {SOURCE_OF_MEANINGS}.")
    return page(*parts)


def _spaced(text: str) -> str:
    """A statement without its guard. Sets in braces and what is in brackets stay as they are."""
    text, end = text.strip(), ""
    while text[-1:] == ";" or (text[-1:] == "}" and text.count("{") < text.count("}")):
        text, end = text[:-1].rstrip(), f" {text[-1]}{end}"
    return _COMMA.sub(", ", " ".join(text.split())) + end


@cache
def _fixed() -> dict[str, Entry]:
    found = {
        "RZ": "reads 0 and keeps nothing", "PT": "is always true", "CC": "condition code", "PR": "all predicates",
    } | {f"P{n}": "predicate" for n in range(PT)}  # fmt: skip
    return {name: plain(name, Kind.REGISTER, meaning) for name, meaning in found.items()}


@cache
def _special() -> dict[str, Entry]:
    return {name: plain(name, Kind.WORD, f"special register {n:#04x}") for n, name in SPECIAL_REGISTERS.items()}


@cache
def _modifiers(op: str) -> dict[str, set[str]]:
    """What can stand after dots in an instruction, with the enumerations that have it."""
    found: dict[str, set[str]] = {}
    for form in _forms(op):
        for one in form.modifiers:
            for _, _, text in one.choices:
                for part in _named_parts(text):
                    found.setdefault(part, set()).add(one.enum.name if one.enum is not None else one.name)
        for field in form.operands:
            for attribute in field.attributes:
                if attribute.enum is not None:
                    for member in ENUMS[attribute.enum].listed:
                        for part in _named_parts(member.text if member is not None else ""):
                            found.setdefault(part, set()).add(attribute.enum)
                elif attribute.name in ("cc", "reuse"):
                    name = attribute.name
                    found.setdefault(name.upper() if name == "cc" else name, set()).add(name)
    return found


def _named_parts(text: str) -> list[str]:
    """The words between the dots of a modifier; none for a value without a meaning."""
    return [] if not text or text.startswith(("INVALID", "?")) else text.split(".")


@lru_cache(1 << 14)
def _written(text: str) -> frozenset[str]:
    try:
        done = assemble(text)
        mask = writes(step_of(decode_program(done.code), 0))
    except (SassError, KeyError):
        return frozenset()
    found = {f"R{n}" for n in range(PREDICATE_BIT - 1) if mask >> n & 1}
    return frozenset(found | {f"P{n}" for n in range(PT) if mask >> (PREDICATE_BIT + n) & 1})


def _about_schedule(text: str) -> str:
    try:
        raw = int.from_bytes(assemble(f"{text} NOP").code[:8], "little") & ((1 << CONTROL_BITS) - 1)
    except SassError:
        return ""
    control = Control.of(raw)
    waits = ", ".join(str(n) for n in range(6) if control.wait_mask >> n & 1)
    shown = {
        "wait": waits, "read_barrier": control.read_barrier, "write_barrier": control.write_barrier,
        "yield": control.yield_, "stall": control.stall, "reuse": control.reuse,
    }  # fmt: skip
    rows = [(f"{name} {'none' if value in (None, '') else value}", CONTROL[name].doc) for name, value in shown.items()]
    return page(code(text), listed(rows))


class Sass(Assembled):
    """Kernels of the Switch."""

    name, title = "pocketgpu-sass", "Switch kernel"
    suffixes = (".sass",)

    def __init__(self) -> None:
        known: Known = {
            Kind.MNEMONIC: _mnemonics,
            Kind.DIRECTIVE: partial(directives, DIRECTIVES),
            Kind.WORD: _special,
            Kind.REGISTER: _fixed,
        }
        super().__init__(_LEXER, problems, known)

    def definitions(self, tokens: Sequence[Token]) -> Iterator[Definition]:
        for token in tokens:
            if token.kind is Kind.LABEL:
                yield Definition(token.text, Role.LABEL, token)
        head = first_of(Kind.DIRECTIVE, tokens)
        if head is None or head + 1 >= len(tokens):
            return
        directive, named, rest = tokens[head].text, tokens[head + 1], tokens[head + 2 :]
        if directive == ".kernel" or (directive == ".section" and named.text.startswith(".text.")):
            yield Definition(named.text.removeprefix(".text."), Role.KERNEL, named)
        elif directive == ".param":
            kind = " ".join(one.text for one in rest if one.kind is not Kind.COMMENT)
            yield Definition(named.text, Role.PARAMETER, named, kind)

    def begins_scope(self, tokens: Sequence[Token]) -> bool:
        return any(one.role is Role.KERNEL for one in self.definitions(tokens))

    def written(self, line: str, tokens: Sequence[Token]) -> frozenset[str]:
        heads = [one for one in tokens if one.kind is Kind.MNEMONIC]
        return _written(line[heads[0].start : tokens[-1].end].split(";")[0].rstrip(" }")) if heads else frozenset()

    def after_directive(self, directive: str, count: int) -> list[Entry]:
        if directive == ".param" and count == 1:
            return [plain(name, Kind.WORD, f"{size} bytes") for name, size in TYPES.items()]
        return []

    def modifiers(self, mnemonic: str) -> list[Entry]:
        return [plain(f".{name}", Kind.MODIFIER, ", ".join(sorted(of))) for name, of in _modifiers(mnemonic).items()]

    def operands(self, mnemonic: str) -> list[Entry]:
        kinds = {field.kind for form in _forms(mnemonic) for field in form.operands}
        special = [*_special().values()] if "S" in kinds else []
        return [*_fixed().values(), *special]

    def hover(self, tokens: Sequence[Token], index: int) -> str:
        token = tokens[index]
        if token.kind is Kind.SCHEDULE:
            return _about_schedule(token.text)
        if token.kind is Kind.MODIFIER:
            heads = [one for one in tokens[:index] if one.kind is Kind.MNEMONIC]
            names = _modifiers(heads[-1].text).get(token.text[1:], set()) if heads else set()
            enums = [(name, reference.members(name)) for name in sorted(names) if name in ENUMS]
            return page(code(token.text), listed(enums)) if names else ""
        return ""

    def body(self, text: str, tokens: Sequence[Token]) -> str:
        rest, start = [*tokens], ""
        while rest and rest[0].kind in (Kind.COMMENT, Kind.SCHEDULE):
            start += rest.pop(0).text + " "
        if not rest:
            return text
        # What is between tokens is no token, and other comments and fields are where nobody writes them.
        before = tokens[len(tokens) - len(rest) - 1].end if start else 0
        strange = text[before : rest[0].start].strip()
        if strange or any(one.kind in (Kind.COMMENT, Kind.SCHEDULE) for one in rest):
            return text
        if rest[0].kind is Kind.DIRECTIVE:
            return start + " ".join(text[rest[0].start :].split())
        head = next((one.start for one in rest if one.kind is Kind.MNEMONIC), rest[0].start)
        guard = "".join(text[rest[0].start : head].split())
        operands = _spaced(text[head:])
        return f"{start}{guard:>7} {operands}" if guard else f"{start}{'':8}{operands}"

    def indent(self, tokens: Sequence[Token], depth: int) -> tuple[int, int]:
        if tokens[0].kind is Kind.DIRECTIVE:
            return (8 if tokens[0].text == ".word" else 0), depth
        return (8 if tokens[0].kind in (Kind.COMMENT, Kind.SCHEDULE) else 0), depth


__all__ = ["Sass"]
