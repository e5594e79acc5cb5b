"""Text of macros of the Switch's GPU, as `maxwell/mme/assembler.py` reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, partial

from pocketgpu.editor.lsp.languages.assembled import Assembled, Known
from pocketgpu.editor.lsp.languages.lexer import Lexer, spaced
from pocketgpu.editor.lsp.languages.markdown import code, directives, listed, page, plain, shown
from pocketgpu.editor.lsp.languages.model import Definition, Entry, Kind, Role, Token, Words, first_of
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.mme import isa
from pocketgpu.maxwell.mme.assembler import problems
from pocketgpu.maxwell.mme.isa import FUNCTIONS, OPERATIONS, REGISTERS, RESULTS
from pocketgpu.maxwell.mme.text import BRANCHES, DIRECTIVES, KEYWORDS

_SOURCE = "Source: the disassembler of envytools, with which simulators of this GPU agree."
_MNEMONICS = tuple(dict.fromkeys(result.form.split()[0] for result in RESULTS))
_INNER = ("drop", "send", "maddr", "parm", "annul")
_COMMENT = (Kind.COMMENT, r"(?:;|#|//).*")
_METHOD = re.compile(r"@?([A-Za-z_]\w*)(?:\[(\d+)\])?")
_WORDS = "|".join(sorted({"insert", "extract", "read"} | set(isa.FUNCTION), key=len, reverse=True))

_LEXER = Lexer(
    [
        _COMMENT,
        (Kind.LABEL, r"[A-Za-z_]\w*(?=\s*:(?!\s*0x|\s*\d))"),
        (Kind.DIRECTIVE, r"\.\w+"),
        (Kind.WORD, r"exit\b(?=\s*[A-Za-z.])"),
        (Kind.MNEMONIC, r"[A-Za-z_]\w*"),
    ],
    [
        _COMMENT,
        (Kind.METHOD, r"@[A-Za-z_]\w*(?:\[\d+\])?"),
        (Kind.REGISTER, r"\br[0-7]\b"),
        (Kind.MODIFIER, rf"\b(?:{'|'.join(_INNER)})\b"),
        (Kind.WORD, rf"\b(?:{_WORDS})(?=\s*\()"),
        (Kind.NUMBER, r"\b(?:0[xX][0-9a-fA-F]+|\d+)\b|\.[+-](?:0x[0-9a-fA-F]+|\d+)"),
        (Kind.NAME, r"[A-Za-z_]\w*"),
        (Kind.OPERATOR, r"[-+,():]"),
    ],
)


@cache
def _mnemonics() -> dict[str, Entry]:
    found = {}
    for name in _MNEMONICS:
        forms = [result for result in RESULTS if result.form.split()[0] == name]
        found[name] = Entry(name, Kind.MNEMONIC, forms[0].doc, partial(_about, forms))
    for name, meaning in KEYWORDS.items():
        form = f"{name} L" if name == "bra" else f"{name} rA, L" if name in BRANCHES else name
        found[name] = Entry(name, Kind.MNEMONIC, meaning, partial(shown, form, meaning, _SOURCE))
    return found


def _about(forms: Sequence[isa.Result]) -> str:
    own = [(one.form.format(rd="rD", e="E"), one.doc) for one in forms]
    expressions = [(form, operation.doc) for operation in OPERATIONS for form in operation.forms[:1]]
    plain_forms = [(form.replace("{", "").replace("}", ""), doc) for form, doc in expressions]
    return page(code("\n".join(form for form, _ in own)), listed(own), "E is one of", listed(plain_forms), _SOURCE)


@cache
def _expressions() -> dict[str, Entry]:
    found = {}
    for function in FUNCTIONS:
        found[function.name] = plain(function.name, Kind.WORD, function.doc)
    for operation in OPERATIONS:
        for form in operation.forms:
            name = form.partition("(")[0]
            if name.isidentifier() and name not in found:
                same = [(one, each.doc) for each in OPERATIONS for one in each.forms if one.startswith(name + "(")]
                found[name] = Entry(name, Kind.WORD, operation.doc, partial(_about_expression, same))
    return found


def _about_expression(forms: Sequence[tuple[str, str]]) -> str:
    own = [(form.replace("{", "").replace("}", ""), doc) for form, doc in forms]
    return page(code("\n".join(form for form, _ in own)), listed(own), _SOURCE)


@cache
def _methods() -> dict[str, Entry]:
    return {
        f"@{name}": Entry(f"@{name}", Kind.METHOD, f"word {words.start:#x}", partial(_about_method, name))
        for name, words in B197.places
    }


def _about_method(name: str) -> str:
    method = B197.get(name)
    if method is None:
        return ""
    fields = [(f"{one.lo + one.width - 1}:{one.lo} {one.name}", one.doc) for one in method.fields]
    where = f"word {method.word:#x}, byte {method.byte:#x} of class {method.block.name}"
    source = f"Source: {method.source}." if method.source else ""
    return page(code(method.label), method.doc, where, listed(fields), source)


@cache
def _registers() -> Words:
    return {f"r{n}": plain(f"r{n}", Kind.REGISTER, "reads 0" if n == 0 else "register") for n in range(REGISTERS)}


@cache
def _in_expressions() -> Words:
    return _expressions() | {name: entry for name, entry in _mnemonics().items() if name in (*_INNER, "exit")}


class Mme(Assembled):
    """Macros of the Switch's GPU."""

    name, title = "pocketgpu-mme", "macro of the Switch's GPU"
    suffixes = (".mme",)

    def __init__(self) -> None:
        known: Known = {
            Kind.MNEMONIC: _mnemonics,
            Kind.DIRECTIVE: partial(directives, DIRECTIVES),
            Kind.REGISTER: _registers,
            Kind.METHOD: _methods,
            Kind.WORD: _in_expressions,
            Kind.MODIFIER: _in_expressions,
        }
        super().__init__(_LEXER, problems, known)

    def key(self, token: Token) -> str:
        if token.kind is Kind.METHOD and (found := _METHOD.fullmatch(token.text)):
            return f"@{found[1]}"
        return token.text

    def definitions(self, tokens: Sequence[Token]) -> Iterator[Definition]:
        for token in tokens:
            if token.kind is Kind.LABEL:
                yield Definition(token.text, Role.LABEL, token)

    def written(self, line: str, tokens: Sequence[Token]) -> frozenset[str]:
        head = first_of(Kind.MNEMONIC, tokens)
        if head is None or tokens[head].text not in _MNEMONICS or head + 1 >= len(tokens):
            return frozenset()
        first, rest = tokens[head + 1], tokens[head + 2 :]
        # "send r1" reads r1, "send r1, r2" writes it.
        writes = tokens[head].text == "parm" or (bool(rest) and rest[0].text == ",")
        return frozenset([first.text] if first.kind is Kind.REGISTER and writes else [])

    def after_directive(self, directive: str, count: int) -> list[Entry]:
        return []

    def operands(self, mnemonic: str) -> list[Entry]:
        inner = [plain(name, Kind.MODIFIER, KEYWORDS.get(name, "")) for name in _INNER]
        return [*_expressions().values(), *_methods().values(), *inner]

    def body(self, text: str, tokens: Sequence[Token]) -> str:
        return spaced(text)


__all__ = ["Mme"]
