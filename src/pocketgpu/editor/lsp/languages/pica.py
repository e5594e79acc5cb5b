"""Text of shaders of the 3DS, as `pica/shader/assembler.py` reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from pocketgpu.editor.lsp.languages.assembled import Assembled, Known
from pocketgpu.editor.lsp.languages.lexer import Lexer, spaced
from pocketgpu.editor.lsp.languages.markdown import code, directives, page, plain
from pocketgpu.editor.lsp.languages.model import Definition, Entry, Kind, Problem, Role, Token, first_of
from pocketgpu.facts.pica import FLOAT_UNIFORMS
from pocketgpu.facts.shader_isa import (
    COMPARE_NAMES,
    F1C,
    F2,
    F3,
    F4,
    OPCODES,
    SEMANTICS,
    SOURCE,
    TEMPORARIES,
    UNIFORMS,
    Opcode,
)
from pocketgpu.pica.shader.assembler import problems
from pocketgpu.pica.shader.directives import DIRECTIVES, OF_PICASSO

_FILES = {
    "v": (TEMPORARIES, "input"), "r": (UNIFORMS - TEMPORARIES, "temporary"), "o": (TEMPORARIES, "output"),
    "c": (FLOAT_UNIFORMS, "float uniform"), "b": (16, "boolean uniform"), "i": (4, "integer uniform"),
}  # fmt: skip
"""Registers by the letter of their file: how many there are, and what they are."""
_SPECIAL = {
    "a0": "address registers a0.x and a0.y, which MOVA writes and an index reads",
    "aL": "counter of the loop, for an index",
    "cmp": "condition registers cmp.x and cmp.y, which CMP writes",
}
_BLOCKS = {
    "else": "what runs if the condition of ifu or ifc is not true",
    "endif": "ends the block of ifu or ifc",
    "endloop": "ends the block of loop",
}
_OPENS = frozenset({"ifu", "ifc", "loop"})
_CLOSES = frozenset({"endif", "endloop"})
_COMMENT = (Kind.COMMENT, r"(?:;|//).*")

_PICASSO = re.compile(rf"^[ \t]*({'|'.join(re.escape(name) for name in sorted(OF_PICASSO, key=len)[::-1])})\b", re.M)
_IS_PICASSO = "this is a text of picasso, whose language is larger than the one here: its errors are not looked for"

_LEXER = Lexer(
    [
        _COMMENT,
        (Kind.LABEL, r"[A-Za-z_]\w*(?=\s*:)"),
        (Kind.DIRECTIVE, r"\.\w+"),
        (Kind.MNEMONIC, r"[A-Za-z_]\w*"),
    ],
    [
        _COMMENT,
        (Kind.MODIFIER, r"(?<=[\w\]])\.[A-Za-z]\w*"),
        (Kind.REGISTER, r"\b(?:[vrocbi]\d+|a0|aL|cmp)\b"),
        (Kind.NUMBER, r"@\s*\w+|-?\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\b"),
        (Kind.NAME, r"[A-Za-z_]\w*"),
        (Kind.OPERATOR, r"&&|\|\||[-!,+\[\]]"),
    ],
)


@cache
def _mnemonics() -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for number in sorted(OPCODES, reverse=True):
        op = OPCODES[number]
        name = op.name.lower()
        found[name] = Entry(name, Kind.MNEMONIC, op.doc, partial(_about, op, number))
    for name, meaning in _BLOCKS.items():
        found[name] = plain(name, Kind.MNEMONIC, meaning)
    return found


def _form(op: Opcode) -> str:
    """How an instruction is written."""
    name = op.name.lower()
    sources = [f"src{i}" for i in range(1, op.sources + 1)]
    if op.format is F1C:
        return f"{name} src1, X, Y, src2"
    if op.format is F4:
        return f"{name} vertex, prim inv"
    if op.format is F3:
        return f"{name} {'i0' if name == 'loop' else '!b0, label' if name == 'jmpu' else 'b0'}"
    if op.format is F2:
        return {"call": "call name", "jmpc": "jmpc condition, label", "callc": "callc condition, name"}.get(
            name, f"{name} condition"
        )
    return f"{name} {', '.join((['dst'] if sources else []) + sources)}".rstrip()


def _about(op: Opcode, number: int) -> str:
    parts = [code(_form(op)), op.doc]
    if op.sources:
        wide = f"`{op.format.wide}` can be a float uniform and can be indexed; the others are inputs or temporaries."
        parts.append(wide)
    if op.format is F1C:
        parts.append("X and Y: " + ", ".join(f"`{one.lower()}`" for one in dict.fromkeys(COMPARE_NAMES)))
    fields = ", ".join(f"{name} {lo + width - 1}:{lo}" for name, (lo, width) in op.format.fields.items())
    parts.append(f"Opcode {number:#04x}, format {op.format.name}" + (f": {fields}" if fields else "") + ".")
    parts.append(f"Source: {SOURCE}.")
    return page(*parts)


@cache
def _registers() -> dict[str, Entry]:
    found = {}
    for letter, (count, what) in _FILES.items():
        for number in range(count):
            name = f"{letter}{number}"
            found[name] = plain(name, Kind.REGISTER, f"{what}, one of {letter}0 to {letter}{count - 1}")
    return found | {name: plain(name, Kind.REGISTER, what) for name, what in _SPECIAL.items()}


class Pica(Assembled):
    """Shaders of the 3DS."""

    name, title = "pocketgpu-pica", "3DS shader"
    suffixes = (".pica",)

    def __init__(self) -> None:
        known: Known = {
            Kind.MNEMONIC: _mnemonics,
            Kind.DIRECTIVE: partial(directives, DIRECTIVES),
            Kind.REGISTER: _registers,
        }
        super().__init__(_LEXER, problems, known)

    def problems(self, text: str, most: int, stop: Callable[[], bool]) -> Iterable[Problem]:
        if (other := _PICASSO.search(text)) is not None:
            line, start = text.count("\n", 0, other.start(1)) + 1, text.rfind("\n", 0, other.start(1)) + 1
            return [Problem(_IS_PICASSO, line, other.start(1) - start + 1, warning=True)]
        return [Problem(one.message, one.line, one.column, one.hint, one.warning) for one in problems(text, most, stop)]

    def definitions(self, tokens: Sequence[Token]) -> Iterator[Definition]:
        for token in tokens:
            if token.kind is Kind.LABEL:
                yield Definition(token.text, Role.ENTRY if token.text == "main" else Role.LABEL, token)
        head = first_of(Kind.DIRECTIVE, tokens)
        if head is None or head + 1 >= len(tokens):
            return
        directive, named, rest = tokens[head].text, tokens[head + 1], tokens[head + 2 :]
        if directive == ".proc":
            yield Definition(named.text, Role.PROCEDURE, named)
        elif directive == ".alias":
            register = " ".join(one.text for one in rest if one.kind is Kind.REGISTER)
            yield Definition(named.text, Role.ALIAS, named, register)
        elif directive == ".constf" and named.kind is Kind.REGISTER:
            numbers = ", ".join(one.text for one in rest if one.kind is Kind.NUMBER)
            yield Definition(named.text, Role.CONSTANT, named, numbers)

    def written(self, line: str, tokens: Sequence[Token]) -> frozenset[str]:
        head = first_of(Kind.MNEMONIC, tokens)
        if head is None or head + 1 >= len(tokens):
            return frozenset()
        op = next((one for one in OPCODES.values() if one.name.lower() == tokens[head].text), None)
        if op is None or "dst" not in op.format.fields or not op.sources:
            return frozenset()
        first = tokens[head + 1]
        return frozenset([first.text] if first.kind in (Kind.REGISTER, Kind.NAME) else [])

    def after_directive(self, directive: str, count: int) -> list[Entry]:
        if directive == ".out" and count == 1:
            names = sorted({name.partition(".")[0] for name in SEMANTICS if name} | {"texcoord0w"})
            return [plain(name, Kind.WORD, "semantic of an output") for name in names]
        letter = {(".out", 0): "o", (".constf", 0): "c"}.get((directive, count))
        every = directive == ".alias" and count == 1
        return [one for one in _registers().values() if every or one.name[0] == letter]

    def operands(self, mnemonic: str) -> list[Entry]:
        compared = mnemonic == "cmp"
        names = dict.fromkeys(one.lower() for one in COMPARE_NAMES) if compared else {}
        flags = ("prim", "inv") if mnemonic == "setemit" else ()
        return [plain(name, Kind.WORD, "comparison") for name in names] + [
            plain(name, Kind.WORD, "flag") for name in flags
        ]

    def hover(self, tokens: Sequence[Token], index: int) -> str:
        token = tokens[index]
        if token.kind is Kind.NAME and token.text.upper() in COMPARE_NAMES:
            return page(code(token.text), "comparison of cmp")
        return ""

    def body(self, text: str, tokens: Sequence[Token]) -> str:
        return spaced(text)

    def indent(self, tokens: Sequence[Token], depth: int) -> tuple[int, int]:
        head = tokens[0]
        if head.kind is Kind.DIRECTIVE:
            inside = head.text in (".word", ".desc")
            return (4 + 4 * depth if inside else 0), depth
        if head.text in _CLOSES:
            depth = max(depth - 1, 0)
            return 4 + 4 * depth, depth
        if head.text == "else":
            return 4 + 4 * max(depth - 1, 0), depth
        # A jump with addresses has no block.
        opens = head.text in _OPENS and not any(one.text == "," for one in tokens)
        return 4 + 4 * depth, depth + opens


__all__ = ["Pica"]
