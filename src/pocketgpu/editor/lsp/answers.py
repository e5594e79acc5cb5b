"""Answers about a place in a document, before they are put into the protocol's words."""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial

from pocketgpu.editor.lsp.document import Defined, Document
from pocketgpu.editor.lsp.languages.markdown import code, page
from pocketgpu.editor.lsp.languages.model import Entry, Kind, Token
from pocketgpu.late_dataclass import dataclass

Stop = Callable[[], bool]
"""Says when nobody waits for an answer."""
MOST_COMPLETIONS = 2000
_CLOSED = ("*/", "*)")
"""Ends of comments after which the line goes on."""
_MOST_SHOWN = 4
"""Places of a name that are shown."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What could be written at a place: words, names of the document, and where the word begins that is there now."""

    start: int
    entries: list[Entry]
    names: list[Defined]


def described(document: Document, line: int, column: int) -> tuple[Token, str] | None:
    """The token at a place with its description as Markdown; None if there is nothing to say."""
    found = document.at(line, column)
    if found is None:
        return None
    token, index = found
    language, tokens = document.language, document.tokens(line)
    text = language.hover(tokens, index)
    entry = language.words(token.kind).get(language.key(token)) or _same_word(document, token)
    if not text and entry is not None:
        text = entry.text()
    if token.kind is Kind.NUMBER:
        text = text or _number(token.text)
    text = page(text, _defined(document, line, token))
    return (token, text) if text else None


def _same_word(document: Document, token: Token) -> Entry | None:
    """A word that the lexer takes for another kind, such as a keyword within a statement."""
    if token.kind not in (Kind.WORD, Kind.MODIFIER, Kind.NAME):
        return None
    return document.language.words(Kind.MNEMONIC).get(token.text)


def _defined(document: Document, line: int, token: Token) -> str:
    """Where a name is defined or a register written, with the text of those lines."""
    if token.kind not in (Kind.NAME, Kind.REGISTER, Kind.LABEL):
        return ""
    shown = []
    for one in document.named(line, token.text)[:_MOST_SHOWN]:
        detail = f" {one.definition.detail}" if one.definition.detail else ""
        shown.append(f"{one.definition.role.value} in line {one.line + 1}{':' if detail else ''}{detail}")
    if not shown and token.kind is Kind.REGISTER:
        for place in document.definitions_of(line, token):
            shown.append(f"Written in line {place.line + 1}:\n\n{code(document.lines[place.line].strip())}")
    return page(*(one[:1].upper() + one[1:] for one in shown))


def _number(text: str) -> str:
    """A number in other ways to write it."""
    digits = text.lstrip("-@+. ").lower()
    try:
        number = int(digits, 16 if digits.startswith("0x") else 10)
    except ValueError:
        return ""
    if number >= 1 << 64:
        return ""
    floats = f", {struct.unpack('<f', struct.pack('<I', number))[0]:.9g} as float32" if number < 1 << 32 else ""
    return page(code(text), f"{number}, {number:#x}{floats}")


def offered(document: Document, line: int, column: int) -> Offer:
    """What could be written at a place."""
    language, text = document.language, document.lines[line][:column]
    remarks = [one for one in document.tokens(line) if one.kind is Kind.COMMENT and one.start < column]
    if any(column < one.end or not one.text.endswith(_CLOSED) for one in remarks):
        return Offer(column, [], [])
    tokens = [one for one in language.tokens(text) if one.kind is not Kind.COMMENT]
    heads = [i for i, one in enumerate(tokens) if one.kind in (Kind.MNEMONIC, Kind.DIRECTIVE)]
    last = tokens[-1] if tokens and tokens[-1].end == column and tokens[-1].kind is not Kind.OPERATOR else None
    start = column if last is None else last.start
    if not heads or (last is not None and tokens[heads[-1]] is last) or text[-1:] in (";", "{"):
        # A lone dot is no token yet.
        start -= text[:start].endswith(".")
        words = [*language.words(Kind.MNEMONIC).values(), *language.words(Kind.DIRECTIVE).values()]
        return Offer(start, words, [])
    head = tokens[heads[-1]]
    if head.kind is Kind.DIRECTIVE:
        after = [one for one in tokens[heads[-1] + 1 :] if one is not last and one.kind is not Kind.OPERATOR]
        known = [one for one in document.defined if one.scope == document.scopes[line]]
        names = known[:MOST_COMPLETIONS] if language.takes_names(head.text, len(after)) else []
        return Offer(start, language.after_directive(head.text, len(after)), names)
    if text.endswith(".") or (last is not None and last.kind is Kind.MODIFIER):
        return Offer(column - 1 if text.endswith(".") else start, language.modifiers(head.text), [])
    start -= text[:start].endswith("@")
    names = [one for one in document.defined if one.scope == document.scopes[line]]
    entries = [*language.operands(head.text), *language.words(Kind.REGISTER).values(), *_used(document, line)]
    unique = {one.name: one for one in entries}
    return Offer(start, [*unique.values()][:MOST_COMPLETIONS], names[:MOST_COMPLETIONS])


def _used(document: Document, line: int) -> list[Entry]:
    """Registers that stand in the scope of a line."""
    known = document.language.words(Kind.REGISTER)
    scope, found = document.scopes[line], set()
    for number, text in enumerate(document.lines):
        if document.scopes[number] == scope:
            found |= {one.text for one in document.known[text] if one.kind is Kind.REGISTER and one.text not in known}
    return [Entry(name, Kind.REGISTER, "register", partial(code, name)) for name in sorted(found)]
