"""Text of shaders of the 3DS, as `pica/shader/assembler.py` reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial

from pocketgpu.editor.lsp.languages.assembled import Assembled, Known
from pocketgpu.editor.lsp.languages.lexer import Lexer, spaced
from pocketgpu.editor.lsp.languages.markdown import code, directives, page, plain
from pocketgpu.editor.lsp.languages.model import Definition, Entry, Kind, Problem, Role, Token, first_of
from pocketgpu.facts.shader_isa import COMPARE_NAMES, F1C, F2, F3, F4, OPCODES, SOURCE, Opcode
from pocketgpu.pica.shader.assembler import problems
from pocketgpu.pica.shader.directives import (
    BOOLEANS,
    CLOSERS,
    DIRECTIVES,
    GEOMETRY_MODES,
    MIDDLES,
    OPENERS,
    SEMANTIC_NAMES,
)
from pocketgpu.pica.shader.instructions import FLAGS
from pocketgpu.pica.shader.names import IDENTIFIER
from pocketgpu.pica.shader.symbols import REGISTERS

_SPECIAL = {
    "a0": "address registers a0.x and a0.y, which MOVA writes and an index reads; alone it is a0.x",
    "a1": "the second address register, a0.y, which MOVA writes and an index reads",
    "a01": "both address registers, for MOVA",
    "a2": "counter of the loop, for an index",
    "aL": "counter of the loop, for an index",
    "lcnt": "counter of the loop, for an index",
    "cmp": "condition registers cmp.x and cmp.y, which CMP writes",
}
_BLOCKS = {
    "else": "what runs if the condition of ifu or ifc is not true",
    "endif": "ends the block of ifu or ifc",
    "endloop": "ends the block of loop",
    "for": "runs what follows, up to .end, x + 1 times; lcnt begins at y and grows by z; the same as loop",
}
_UNIFORMS = (".fvec", ".ivec", ".bool")
_INSIDE = (".word", ".desc")
"""Directives that stand among instructions."""
_COMMENT = (Kind.COMMENT, r"(?:;|//).*")
_OWN = r"(?<![\w$])(?:[vrocbi]\d+|a01|a[012L]|lcnt|cmp)(?![\w$])"

_LEXER = Lexer(
    [
        _COMMENT,
        (Kind.LABEL, rf"{IDENTIFIER}(?=\s*:)"),
        (Kind.DIRECTIVE, r"\.\w+"),
        (Kind.MNEMONIC, r"[A-Za-z_]\w*"),
    ],
    [
        _COMMENT,
        (Kind.MODIFIER, r"(?<=[\w\]$])\.[A-Za-z]\w*"),
        (Kind.REGISTER, _OWN),
        (Kind.NUMBER, r"@\s*\w+|-?\b(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\b"),
        (Kind.NAME, IDENTIFIER),
        (Kind.OPERATOR, r"&&?|\|\|?|[-!,+\[\]()]"),
    ],
)


_AFTER = {
    (".out", 0): "o", (".out", 2): "o", (".constf", 0): "c", (".in", 1): "v", (".setf", 0): "c", (".seti", 0): "i",
    (".setb", 0): "b", (".gsh", 1): "c", (".gsh", 2): "c",
}  # fmt: skip
"""Files of registers by directive and the number of words before them."""
_NAMES_AFTER = frozenset({(".entry", 0), (".alias", 1), (".out", 2), (".setf", 0), (".seti", 0), (".setb", 0)})


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
    if op.name == "MOVA":
        return f"{name} a0, src1"
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
    for letter, (count, what) in REGISTERS.items():
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
        elif directive in (".constf", ".consti", ".constfa") and named.kind in (Kind.REGISTER, Kind.NAME):
            numbers = ", ".join(one.text for one in rest if one.kind is Kind.NUMBER)
            yield Definition(named.text, Role.CONSTANT, named, numbers)
        elif directive in _UNIFORMS:
            for before, one, after in zip(tokens[head:], tokens[head + 1 :], [*rest, None], strict=False):
                if one.kind is Kind.NAME and (before.text == "," or before is tokens[head]):
                    size = "array" if after is not None and after.text == "[" else ""
                    yield Definition(one.text, Role.UNIFORM, one, f"{directive} {size}".rstrip())
        elif directive == ".in":
            yield Definition(named.text, Role.INPUT, named, " ".join(one.text for one in rest[:1]))
        elif directive == ".out" and named.kind is Kind.NAME:
            yield Definition(named.text, Role.OUTPUT, named, " ".join(one.text for one in rest[:1]))

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
        words = {
            (".out", 1): (sorted(SEMANTIC_NAMES), "semantic of an output"),
            (".gsh", 0): (sorted(GEOMETRY_MODES), "how a geometry program gets its vertices"),
            (".setb", 1): (sorted(BOOLEANS), "value of a boolean uniform"),
        }.get((directive, count))
        if words is not None:
            return [plain(name, Kind.WORD, words[1]) for name in words[0]]
        letter = _AFTER.get((directive, count))
        every = directive == ".alias" and count == 1
        known = (one for one in _registers().values() if one.name not in _SPECIAL)
        return [one for one in known if every or one.name[0] == letter]

    def takes_names(self, directive: str, count: int) -> bool:
        return (directive, count) in _NAMES_AFTER

    def operands(self, mnemonic: str) -> list[Entry]:
        compared = mnemonic == "cmp"
        names = dict.fromkeys(one.lower() for one in COMPARE_NAMES) if compared else {}
        flags = tuple(FLAGS) if mnemonic == "setemit" else ()
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
        if head.text in MIDDLES:
            return 4 + 4 * max(depth - 1, 0), depth
        if head.text in CLOSERS and (depth or head.kind is Kind.MNEMONIC):
            depth = max(depth - 1, 0)
            return 4 + 4 * depth, depth
        if head.kind is Kind.DIRECTIVE:
            return (4 + 4 * depth if head.text in _INSIDE else 0), depth
        # A jump with addresses has no block.
        opens = head.text in OPENERS and not any(one.text == "," for one in tokens)
        return 4 + 4 * depth, depth + opens


__all__ = ["Pica"]
