"""Text to the instruction words of a macro. `text.py` describes the text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pocketgpu.errors import UsageError
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.mme import isa, text
from pocketgpu.maxwell.mme.isa import FIELDS, METHOD_ADDRESS, METHOD_STEP, NOP, RESULTS

_COMMENT = re.compile(r";|#|//")
_LABEL = re.compile(r"\s*([A-Za-z_]\w*)\s*:(?!\s*0x|\s*\d)\s*")
_BRANCH = re.compile(rf"(bra|bz|bnz)(?:\s+(annul))?(?:\s+({text.REGISTER})\s*,)?\s+(\S+)")
_MAX_LINES = 1 << 16


class MacroSyntaxError(UsageError):
    """A line that cannot be assembled; `line` counts from 1."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message, location=f"line {line}")
        self.line = line


def assemble(source: str) -> list[int]:
    """The 32-bit words of a macro.

    :raises MacroSyntaxError: a line that cannot be read, an unknown label or method, a number that does not fit.
    """
    statements: list[tuple[int, str]] = []
    labels: dict[str, int] = {}
    lines = source.splitlines()
    if len(lines) > _MAX_LINES:
        raise MacroSyntaxError(f"more than {_MAX_LINES} lines", _MAX_LINES + 1)
    for number, line in enumerate(lines, 1):
        rest = _COMMENT.split(line, maxsplit=1)[0].strip()
        while match := _LABEL.match(rest):
            if match[1] in labels:
                raise MacroSyntaxError(f"label {match[1]!r} stands twice", number)
            labels[match[1]] = len(statements)
            rest = rest[match.end() :].strip()
        if rest:
            statements.append((number, rest))
    words = []
    for at, (number, statement) in enumerate(statements):
        try:
            words.append(encode(statement, at, labels))
        except ValueError as error:
            raise MacroSyntaxError(str(error), number) from None
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
        raise ValueError(f"there is no label {target!r}")
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
    raise ValueError(f"{expression!r} is no expression")


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
            raise ValueError(f"the 3D class has no method {digits[1:]!r}")
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


__all__ = ["assemble"]


def __dir__() -> list[str]:
    return [*__all__]
