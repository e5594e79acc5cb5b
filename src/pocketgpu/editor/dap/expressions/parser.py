"""Reads expressions: words and signs become a tree, by precedence."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from pocketgpu.editor.dap.expressions.nodes import (
    FUNCTIONS,
    UNARY,
    Binary,
    Both,
    Call,
    Expression,
    Literal,
    Loaded,
    Named,
    Not,
    Registers,
    Typed,
    Unary,
    Vector,
)
from pocketgpu.editor.dap.expressions.values import TYPES, Plain, truth
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.trace_memory import SPACES

MOST_LETTERS: Final = 1000
"""Of an expression."""
MEMORIES: Final = SPACES[:3]
"""Spaces whose words are written as `global[0x100000000]`."""
MOST_DEPTH: Final = 40
"""Parentheses and signs within each other."""
LEVELS: Final = (("==", "!=", "<=", ">=", "<", ">"), ("|",), ("^",), ("&",), ("<<", ">>"), ("+", "-"), ("*", "/", "%"))
"""Signs between two values, those that bind least first."""
_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:0[xX][0-9a-fA-F]{1,32}|(?:\d{1,38}(?:\.\d{0,40})?|\.\d{1,40})(?:[eE][+-]?\d{1,4})?)(?![\w.]))"
    r"|(?P<name>c\[0[xX][0-9a-fA-F]{1,4}\]\[0[xX][0-9a-fA-F]{1,8}\]"
    r"|[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)*(?:\[\d{1,3}\](?:\.[A-Za-z_]\w*)?)?)"
    r"|(?P<sign>&&|\|\||<<|>>|[=!<>]=|[-+*/%&|^~<>!(),\[\]]))"
)
_WORDS = {"&&": "and", "||": "or", "!": "not"}
_INFINITE = {"inf": float("inf"), "nan": float("nan"), "true": True, "false": False}


def _tokens(text: str) -> list[tuple[str, str, int]]:
    found, at = [], 0
    end = len(text.rstrip())
    while at < end:
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise UsageError(f"{text[at : at + 10].strip()!r} is no part of an expression", location=f"column {at + 1}")
        word = match[match.lastgroup]
        found.append((match.lastgroup, _WORDS.get(word, word), match.start(match.lastgroup)))
        at = match.end()
    return found


class _Parser:
    def __init__(self, text: str) -> None:
        if len(text) > MOST_LETTERS:
            raise UsageError(f"the expression has {len(text)} letters; {MOST_LETTERS} are the most")
        self.tokens, self.at, self.depth, self.text = _tokens(text), 0, 0, text

    def fail(self, wanted: str) -> UsageError:
        if self.at >= len(self.tokens):
            return UsageError(f"the expression ends, and {wanted} is missing")
        _, word, column = self.tokens[self.at]
        return UsageError(f"{word!r} is not {wanted}", location=f"column {column + 1}")

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *words: str) -> str:
        """The next word if it is one of these, else ""."""
        found = self.peek()
        if found and found in words:
            self.at += 1
            return found
        return ""

    def need(self, word: str) -> None:
        if not self.take(word):
            raise self.fail(f"{word!r}")

    def whole(self) -> Expression:
        found = self.either()
        if self.at < len(self.tokens):
            raise self.fail("the end of the expression")
        return found

    def either(self) -> Expression:
        parts = [self.all()]
        while self.take("or"):
            parts.append(self.all())
        return parts[0] if len(parts) == 1 else Both(False, parts)

    def all(self) -> Expression:
        parts = [self.negated()]
        while self.take("and"):
            parts.append(self.negated())
        return parts[0] if len(parts) == 1 else Both(True, parts)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise UsageError(f"the expression is nested more than {MOST_DEPTH} deep")

    def negated(self) -> Expression:
        if self.take("not"):
            self.deeper()
            found: Expression = Not(self.negated())
            self.depth -= 1
            return found
        return self.level(0)

    def level(self, number: int) -> Expression:
        if number == len(LEVELS):
            return self.signed()
        left = self.level(number + 1)
        while sign := self.take(*LEVELS[number]):
            left = Binary(sign, left, self.level(number + 1))
        return left

    def signed(self) -> Expression:
        if sign := self.take(*UNARY):
            self.deeper()
            inner = self.signed()
            self.depth -= 1
            if isinstance(inner, Literal) and sign == "-" and not inner.raw:
                return Literal(-inner.number)
            return Unary(sign, inner)
        found = self.primary()
        while self.take("as"):
            kind = self.peek()
            if kind not in TYPES:
                raise self.fail("a type: " + ", ".join(TYPES))
            self.at += 1
            found = Typed(found, kind)
        return found

    def primary(self) -> Expression:
        if self.at >= len(self.tokens):
            raise self.fail("a value")
        kind, word, _ = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            if word[:2].lower() == "0x":
                return Literal(int(word, 16), raw=True)
            return Literal(int(word) if word.isdigit() else float(word))
        if kind == "name":
            return self.named(word)
        for opening, closing in (("(", ")"), ("[", "]")):
            if self.take(opening):
                parts = self.list(closing)
                return parts[0] if len(parts) == 1 else Vector(tuple(parts))
        raise self.fail("a value")

    def named(self, word: str) -> Expression:
        if word in ("and", "or", "not", "as"):
            raise self.fail("a value")
        self.at += 1
        if word in _INFINITE:
            return Literal(_INFINITE[word])
        if word in FUNCTIONS and self.take("("):
            operands = self.list(")")
            wanted, _ = FUNCTIONS[word]
            if len(operands) != wanted:
                raise UsageError(f"{word} takes {wanted} values, not {len(operands)}")
            return Call(word, tuple(operands))
        if word in MEMORIES and self.take("["):
            self.deeper()
            place = self.list("]")
            self.depth -= 1
            return Loaded(word, place[0] if len(place) == 1 else Vector(tuple(place)))
        return Named(word)

    def list(self, closing: str) -> list[Expression]:
        self.deeper()
        parts = [self.either()]
        while self.take(","):
            parts.append(self.either())
        self.need(closing)
        self.depth -= 1
        return parts


@lru_cache(maxsize=256)
def parse(text: str) -> Expression:
    """The expression that a text is.

    :raises UsageError: the text is no expression; with the column.
    """
    return _Parser(text).whole()


class Log:
    """The text of a log point, with expressions in braces."""

    def __init__(self, parts: list[str | Expression]) -> None:
        self.parts = parts

    def text(self, registers: Registers) -> str:
        """The text with values; a reason in place of what has no value."""
        from pocketgpu.editor.dap.expressions.values import shown

        found = []
        for part in self.parts:
            if isinstance(part, str):
                found.append(part)
                continue
            try:
                found.append(shown(part.value(registers)))
            except (UsageError, ArithmeticError, ValueError) as error:
                found.append(f"<{error}>")
        return "".join(found)


def parse_log(text: str) -> Log:
    """The text of a log point.

    :raises UsageError: what is in braces is no expression.
    """
    if len(text) > MOST_LETTERS:
        raise UsageError(f"the text has {len(text)} letters; {MOST_LETTERS} are the most")
    parts: list[str | Expression] = []
    for n, piece in enumerate(re.split(r"\{([^{}]*)\}", text)):
        parts.append(parse(piece) if n % 2 else piece)
    return Log(parts)


def holds(expression: Expression, registers: Registers) -> bool:
    """Whether a condition is true; one without a value is not.

    :raises UsageError: it has no value.
    """
    found: Plain = expression.value(registers)
    return truth(found)


__all__ = ["Log", "holds", "parse", "parse_log"]
