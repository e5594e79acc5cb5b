"""A document: its lines with their tokens, the names that they define, and where these are used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from pocketgpu.editor.lsp.languages.lexer import after_labels, parts_of
from pocketgpu.editor.lsp.languages.model import Definition, Kind, Language, Token
from pocketgpu.editor.lsp.languages.text import MOST_BYTES, lines_of
from pocketgpu.late_dataclass import dataclass

_NAMED = (Kind.NAME, Kind.LABEL)
_MOST_SEARCHED = 5000
"""Lines that are searched for what wrote a register."""


@dataclass(frozen=True, slots=True)
class Place:
    """A token with the number of its line, from 0."""

    line: int
    token: Token


@dataclass(frozen=True, slots=True)
class Defined:
    """A definition with its line and the scope in which it holds."""

    line: int
    scope: int
    definition: Definition


class Document:
    """A version of a text in a language. Tokens of lines that another version has too can be taken from it."""

    def __init__(
        self, source: str, language: Language, version: int = 0, known: Mapping[str, list[Token]] | None = None
    ) -> None:
        self.language, self.version = language, version
        self.too_large = len(source) > MOST_BYTES
        self.lines = [""] if self.too_large else lines_of(source)
        known = known or {}
        self.known: dict[str, list[Token]] = {}
        for line in self.lines:
            if line not in self.known:
                self.known[line] = known[line] if line in known else language.tokens(line)

    def tokens(self, line: int) -> list[Token]:
        """The tokens of a line; none for a line that is not there."""
        return self.known[self.lines[line]] if 0 <= line < len(self.lines) else []

    @cached_property
    def scopes(self) -> list[int]:
        """The scope of each line."""
        found, scope = [], 0
        for line in self.lines:
            scope += self.language.begins_scope(self.known[line])
            found.append(scope)
        return found

    @cached_property
    def defined(self) -> list[Defined]:
        """All definitions, in the order of the text."""
        return [
            Defined(number, self.scopes[number], one)
            for number, line in enumerate(self.lines)
            for one in self.language.definitions(self.known[line])
        ]

    @cached_property
    def _by_name(self) -> dict[tuple[int, str], list[Defined]]:
        found: dict[tuple[int, str], list[Defined]] = {}
        for one in self.defined:
            found.setdefault((one.scope, one.definition.name), []).append(one)
        return found

    def at(self, line: int, column: int) -> tuple[Token, int] | None:
        """The token at a place and its number in the line. Of two that touch there, a name comes first."""
        touching = [(one, i) for i, one in enumerate(self.tokens(line)) if one.start <= column <= one.end]
        inside = [(one, i) for one, i in touching if column < one.end]
        names = [pair for pair in touching if pair[0].kind not in (Kind.OPERATOR, Kind.MODIFIER)]
        return next(iter([pair for pair in inside if pair in names] or names or touching), None)

    def named(self, line: int, name: str) -> list[Defined]:
        """What a name stands for in a line."""
        if not 0 <= line < len(self.lines):
            return []
        return self._by_name.get((self.scopes[line], name), [])

    def definitions_of(self, line: int, token: Token) -> list[Place]:
        """Where a token's name is defined, or its register gets its value."""
        named = self.named(line, token.text)
        if named:
            return [Place(one.line, one.definition.token) for one in named]
        return self._writers(line, token.text) if token.kind is Kind.REGISTER else []

    def _writers(self, line: int, register: str) -> list[Place]:
        """The last line up to this one that writes a register; if there is none, the first one after it."""
        scope = self.scopes[line]
        above = range(line, max(line - _MOST_SEARCHED, -1), -1)
        below = range(line + 1, min(line + _MOST_SEARCHED, len(self.lines)))
        for number in (*above, *below):
            if self.scopes[number] != scope:
                continue
            tokens = self.tokens(number)
            if register in self.language.written(self.lines[number], tokens):
                own = [one for one in tokens if one.text == register]
                return [Place(number, (own or [one for one in tokens if one.kind is Kind.MNEMONIC])[0])]
        return []

    def uses(self, line: int, token: Token) -> Iterator[Place]:
        """All places where a token's name or register stands, in its scope."""
        kinds: tuple[Kind, ...] = _NAMED if token.kind in _NAMED else (token.kind,)
        if token.kind is Kind.REGISTER or self.named(line, token.text):
            kinds = (*_NAMED, Kind.REGISTER)
        scope = self.scopes[line]
        for number, text in enumerate(self.lines):
            if self.scopes[number] == scope and token.text in text:
                for one in self.known[text]:
                    if one.text == token.text and one.kind in kinds:
                        yield Place(number, one)

    def formatted(self) -> list[str]:
        """Its lines in the usual layout. Each line stays a line, so that they can be exchanged one by one."""
        found: list[tuple[str, str]] = []
        depth = 0
        for line in self.lines:
            labels, statement, comment = parts_of(self.known[line])
            begin = after_labels(line, labels)
            rest = line[begin : len(line) if comment is None else comment.start]
            text, moved = rest.strip(), begin + len(rest) - len(rest.lstrip())
            remark = "" if comment is None else comment.text.rstrip()
            heads = "".join(f"{one.text}:" for one in labels)
            if "".join(line[:begin].split()) != heads or (text and (not statement or statement[0].start != moved)):
                found.append((line.rstrip(), ""))  # something before the statement is no token
                continue
            head = "".join(f"{one.text}: " for one in labels)
            if text:
                column, depth = self.language.indent(statement, depth)
                shifted = [Token(one.kind, one.start - moved, one.end - moved, one.text) for one in statement]
                text = " " * column + self.language.body(text, shifted)
                if head:  # labels before the statement use its indentation
                    text = head + (text[len(head) :] if text[: len(head)].isspace() else text.lstrip())
            elif not head and remark and line[:1].isspace():
                text = " " * (4 + 4 * depth)
            found.append((text or head.rstrip(), remark))
        return _with_comments(found)


def _with_comments(rows: list[tuple[str, str]]) -> list[str]:
    """Lines with their comments, which begin in one column in lines that follow each other."""
    lines: list[str] = []
    at = 0
    while at < len(rows):
        end = at
        while end < len(rows) and rows[end][0].strip() and rows[end][1]:
            end += 1
        width = max((len(text) for text, _ in rows[at:end]), default=0)
        lines += [f"{text.ljust(width)}  {comment}" for text, comment in rows[at:end]]
        if end == at:
            text, comment = rows[at]
            lines.append(text + comment if comment else text.rstrip())
            end += 1
        at = end
    return lines
