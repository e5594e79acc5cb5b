"""What languages with a lexer, an assembler and tables of words have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from pocketgpu.editor.lsp.languages.lexer import Lexer
from pocketgpu.editor.lsp.languages.model import Kind, Language, Problem, Token, Words


class Mistake(Protocol):
    """An error of an assembler."""

    message: str
    line: int
    column: int
    hint: str | None


Known = Mapping[Kind, Callable[[], Words]]
Check = Callable[[str, int, Callable[[], bool]], Iterable[Mistake]]


class Assembled(Language):
    """A language of one of our assemblers.

    :param lexer: its tokens.
    :param check: all mistakes of a text (text, most, stop), by the assembler.
    :param known: makes the words of each kind that do not depend on the text.
    """

    def __init__(self, lexer: Lexer, check: Check, known: Known) -> None:
        self._lexer, self._check, self._known = lexer, check, known

    def tokens(self, line: str) -> list[Token]:
        return self._lexer.tokens(line)

    def problems(self, text: str, most: int, stop: Callable[[], bool]) -> Iterable[Problem]:
        return [Problem(one.message, one.line, one.column, one.hint) for one in self._check(text, most, stop)]

    def words(self, kind: Kind) -> Words:
        make = self._known.get(kind)
        return {} if make is None else make()


__all__ = ["Assembled", "Check", "Known", "Mistake"]
