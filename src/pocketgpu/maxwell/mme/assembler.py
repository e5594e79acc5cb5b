"""Text to the instruction words of a macro. `text.py` describes the text."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Mapping

from pocketgpu.collected import Collected, Enough
from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.mme import isa, text
from pocketgpu.maxwell.mme.isa import FIELDS, METHOD_ADDRESS, METHOD_STEP, NOP, RESULTS

_COMMENT = re.compile(r";|#|//")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*)\s*:(?!\s*0x|\s*\d)\s*")
_BRANCH = re.compile(rf"(bra|bz|bnz)(?:\s+(annul))?(?:\s+({text.REGISTER})\s*,)?\s+(\S+)")
_MAX_LINES = 1 << 16


class MacroSyntaxError(UsageError):
    """A line that cannot be assembled; `line` and `column` count from 1, column 0 is not known."""

    def __init__(self, message: str, line: int, column: int = 0) -> None:
        super().__init__(message, location=f"line {line}, column {column}" if column else f"line {line}")
        self.line = line
        self.column = column


class _Wrong(ValueError):
    """A part of a statement that cannot be read; `part` is its text."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


def assemble(source: str) -> list[int]:
    """The 32-bit words of a macro.

    :raises MacroSyntaxError: a line that cannot be read, an unknown label or method, a number that does not fit.
    """
    return _words(source, Collected(MacroSyntaxError))


def problems(source: str, most: int = 100, stop: Callable[[], bool] | None = None) -> list[MacroSyntaxError]:
    """What is wrong with a text, in the order of its lines: up to `most` errors. stop: says when nobody waits."""
    errors = Collected(MacroSyntaxError, most, stop)
    with contextlib.suppress(MacroSyntaxError, Enough), errors:
        _words(source, errors)
    return sorted(errors.found, key=lambda error: (error.line, error.column))


def _words(source: str, errors: Collected[MacroSyntaxError]) -> list[int]:
    statements: list[tuple[int, int, str]] = []
    labels: dict[str, int] = {}
    lines = source.splitlines()
    if len(lines) > _MAX_LINES:
        raise MacroSyntaxError(f"more than {_MAX_LINES} lines", _MAX_LINES + 1)
    for number, line in enumerate(lines, 1):
        with errors:
            whole = _COMMENT.split(line, maxsplit=1)[0].rstrip()
            rest = whole.lstrip()
            while match := _LABEL.match(rest):
                if match[1] in labels:
                    column = len(whole) - len(rest) + match.start(1) + 1
                    raise MacroSyntaxError(f"label {match[1]!r} stands twice", number, column)
                labels[match[1]] = len(statements)
                rest = rest[match.end() :].lstrip()
            if rest:
                statements.append((number, len(whole) - len(rest) + 1, rest))
    words = []
    for at, (number, column, statement) in enumerate(statements):
        with errors:
            try:
                words.append(encode(statement, at, labels))
            except ValueError as error:
                part = max(statement.find(error.part), 0) if isinstance(error, _Wrong) else 0
                raise MacroSyntaxError(str(error), number, column + part) from None
    return words


def encode(statement: str, at: int = 0, labels: Mapping[str, int] | None = None) -> int:
    """The word of one statement, which is at word `at` of the macro. Raises ValueError if it cannot be read."""
    if statement.startswith(".word"):
        value = _number(statement.removeprefix(".word").strip())
        if not 0 <= value <= 0xFFFFFFFF:
            raise ValueError(f"{value:#x} is no 32-bit word")
        return value
    exits = re.match(r"exit\b\s*", statement)
    body = statement[exits.end() :] if exits else statement
    if not body:
        body = "nop"  # a lone "exit"
    flag = FIELDS["exit"].mask if exits else 0
    if body == "nop":
        return NOP | flag
    if branch := _BRANCH.fullmatch(body):
        return flag | _branch(branch, at, labels or {})
    if short := re.fullmatch(rf"parm\s+({text.REGISTER})", body):
        return flag | _fields({"op": 1, "result": 0, "rd": int(short[1][1])})
    for result, pattern in text.statement_patterns():
        if match := pattern.fullmatch(body):
            register = match["rd"]
            parts = {"result": result.code, "rd": int(register[1]) if register else 0}
            return flag | _fields(parts) | _expression(match["e"].strip())
    known = ", ".join(sorted({result.form.split()[0] for result in RESULTS} | set(text.BRANCHES) | {"nop", ".word"}))
    raise ValueError(f"{statement!r} is no instruction. One begins with exit, {known}")


def _branch(statement: re.Match[str], at: int, labels: Mapping[str, int]) -> int:
    kind, annul, register, target = statement.groups()
    if (kind == "bra") != (register is None):
        raise ValueError(f"{kind} takes {'no' if kind == 'bra' else 'a'} register")
    if match := re.fullmatch(r"\.([+-](?:0x[0-9a-fA-F]+|\d+))?", target):
        distance = int(match[1], 0) if match[1] else 0
    elif target in labels:
        distance = labels[target] - at
    else:
        raise _Wrong(f"there is no label {target!r}", target)
    parts = {"op": isa.BRANCH, "ra": int(register[1]) if register else 0, "not_zero": text.BRANCHES[kind]}
    return _fields(parts | {"annul": int(annul is not None), "immediate": distance})


def _expression(expression: str) -> int:
    for operation, _, pattern in text.expression_patterns():
        match = pattern.fullmatch(expression)
        if match is None:
            continue
        parts = {"op": operation.code}
        for name, part in match.groupdict().items():
            if name in isa.REGISTER_FIELDS:
                parts[name] = int(part[1])
            else:
                parts[name] = isa.FUNCTION[part].code if name == "function" else _number(part)
        return _fields(parts)
    raise _Wrong(f"{expression!r} is no expression", expression)


def _fields(parts: Mapping[str, int]) -> int:
    word = 0
    for name, value in parts.items():
        field = FIELDS[name]
        # A signed field also takes unsigned numbers, because methods with a step use all of its bits.
        lowest = -(1 << (field.width - 1)) if field.type == "sint" else 0
        if not lowest <= value < 1 << field.width:
            raise ValueError(f"{value:#x} does not fit the {field.width} bits of {name}")
        word |= (value << field.lo) & field.mask
    return word


def _number(text: str) -> int:
    """A number, a method's word, or a method with a step. Raises ValueError if it cannot be read."""
    text = re.sub(r"\s", "", text)
    plain, colon, step = text.partition(":")
    negative, digits = plain.startswith("-"), plain.lstrip("+-")
    if digits.startswith("@"):
        method = B197.get(digits[1:])
        if method is None:
            raise _Wrong(f"the 3D class has no method {digits[1:]!r}", digits)
        value = method.word
    else:
        value = int(digits, 16 if digits[:2].lower() == "0x" else 10)
    if not colon:
        return -value if negative else value
    more = _number(step)
    if negative or value > METHOD_ADDRESS.mask or not 0 <= more < 1 << METHOD_STEP.width:
        raise ValueError(
            f"{text!r} is no method with a step: they have {METHOD_ADDRESS.width} and {METHOD_STEP.width} bits"
        )
    return value | more << METHOD_STEP.lo


__all__ = ["assemble", "problems"]


def __dir__() -> list[str]:
    return [*__all__]
