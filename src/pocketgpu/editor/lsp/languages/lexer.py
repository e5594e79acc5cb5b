"""Tokens of a line by two lists of patterns: those up to the mnemonic or directive, and those after it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pocketgpu.editor.lsp.languages.model import Kind, Token
from pocketgpu.editor.lsp.languages.text import MOST_COLUMNS

Rules = Sequence[tuple[Kind, str]]

_HEADS = frozenset({Kind.MNEMONIC, Kind.DIRECTIVE})


class Lexer:
    """Patterns are tried in their order at each place; what none takes is skipped, character by character.

    head: patterns for the start of a statement. tail: those after its mnemonic. restarts: operators after which another
    statement begins.
    """

    def __init__(self, head: Rules, tail: Rules, restarts: str = "") -> None:
        self._head, self._tail, self._restarts = _joined(head), _joined(tail), restarts

    def tokens(self, line: str) -> list[Token]:
        """The tokens of a line; a line that is too long has none."""
        found: list[Token] = []
        if len(line) > MOST_COLUMNS:
            return found
        pattern, at = self._head, 0
        while match := pattern.search(line, at):
            kind = Kind[str(match.lastgroup)]
            at = match.end()
            found.append(Token(kind, match.start(), at, match[0]))
            if kind in _HEADS:
                pattern = self._tail
            elif kind is Kind.OPERATOR and match[0] in self._restarts:
                pattern = self._head
        return found


def _joined(rules: Rules) -> re.Pattern[str]:
    groups: dict[Kind, list[str]] = {}
    parts: list[str] = []
    for kind, pattern in rules:
        groups.setdefault(kind, []).append(pattern)
    # A group can have a name once, so that patterns of a kind are tried together, at the place of the first.
    for kind, patterns in groups.items():
        parts.append(f"(?P<{kind.name}>{'|'.join(f'(?:{one})' for one in patterns)})")
    return re.compile("|".join(parts))


def spaced(text: str) -> str:
    """A text with one blank between its words and after its commas, and none at its ends."""
    return re.sub(r"\s*,\s*", ", ", " ".join(text.split())).strip()


def parts_of(tokens: Sequence[Token]) -> tuple[list[Token], list[Token], Token | None]:
    """The labels of a line, the tokens of its statement, and the comment at its end."""
    comment = tokens[-1] if tokens and tokens[-1].kind is Kind.COMMENT else None
    rest = [*tokens[: len(tokens) - (comment is not None)]]
    labels = []
    while rest and rest[0].kind is Kind.LABEL:
        labels.append(rest.pop(0))
    return labels, rest, comment


def after_labels(line: str, labels: Sequence[Token]) -> int:
    """The column after the labels of a line and their colon."""
    if not labels:
        return 0
    colon = re.compile(r"\s*:").match(line, labels[-1].end)
    return colon.end() if colon is not None else labels[-1].end
