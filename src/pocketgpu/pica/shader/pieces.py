"""What the assembler keeps of a text while it reads it: pieces with columns, operands, words to be, open blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from pocketgpu.errors import UsageError
from pocketgpu.facts.shader_isa import UNIFORMS, Format
from pocketgpu.late_dataclass import dataclass


class ShaderError(UsageError):
    """A line of shader text that cannot be assembled.

    `line`: its number, from 1 (0: the program as a whole). `column`: where in the line, from 1 (0: not known). `file`:
    the name of the text, "" if it has none. `warning`: it can be assembled, but a console may not run it; only
    `problems` says so. `follows`: it only results from a mistake that is reported where it was made. `elsewhere`: it is
    none if another text, which is assembled with this one, has what is missing.
    """

    def __init__(
        self, message: str, line: int, *, column: int = 0, hint: str | None = None, warning: bool = False,
        file: str = "", follows: bool = False, elsewhere: bool = False,
    ) -> None:  # fmt: skip
        place = f"line {line}, column {column}" if column else f"line {line}"
        parts = [part for part in (file, place if line else "") if part]
        super().__init__(message, location=", ".join(parts) or None, hint=hint)
        self.line = line
        self.column = column
        self.file = file
        self.warning = warning
        self.follows = follows
        self.elsewhere = elsewhere


class Piece(str):
    """A part of a line of text that knows its column, from 1."""

    __slots__ = ("column",)
    column: int

    @staticmethod
    def of(text: str, column: int) -> Piece:
        """Without the blanks around it."""
        found = Piece(text.strip())
        found.column = column + len(text) - len(text.lstrip())
        return found

    def part(self, start: int, end: int | None = None) -> Piece:
        """A part of it, without the blanks around that."""
        return Piece.of(self[start:end], self.column + start)


def split_pieces(text: str, column: int, separator: str = ",") -> list[Piece]:
    """The parts between separators; column: that of the text."""
    found = []
    for part in text.split(separator):
        found.append(Piece.of(part, column))
        column += len(part) + len(separator)
    return found


@dataclass(slots=True)
class Operand:
    number: int
    negate: int = 0
    selector: int = 0x1B
    index: int = 0

    @property
    def wide(self) -> bool:
        return self.number >= UNIFORMS or self.index != 0


@dataclass(slots=True)
class NewWord:
    """One word to assemble: `fields` known already, `targets` to be filled when all labels are known.

    begins: the column of its statement. text: the number of the text that it comes from. padding: the assembler put it
    there.
    """

    line: int
    column: int = 0
    format: Format | None = None
    word: int = 0
    targets: list[tuple[str, Callable[[], int]]] = field(default_factory=list)
    descriptor: int | None = None
    care: int = 0
    number: int | None = None
    flow: bool = False
    begins: int = 0
    text: int = 0
    padding: bool = False


@dataclass(slots=True)
class OpenBlock:
    """A block whose end is to come. broken: there was a mistake in the line that opened it."""

    kind: str
    line: int
    column: int
    start: int
    item: NewWord | None = None
    middle: int = -1
    name: str = ""
    broken: bool = False


class Reading:
    """Where a reader of texts stands: the text, the line and the column that an error is about."""

    def __init__(self) -> None:
        self.file = ""
        self.line = 0
        self.column = 0
        self.warnings: list[ShaderError] = []

    def at(self, text: str, offset: int = 0) -> None:
        """What follows is about a piece of the line; a text without a column changes nothing."""
        if isinstance(text, Piece):
            self.column = text.column + offset

    def error(
        self, message: str, *, hint: str | None = None, follows: bool = False, elsewhere: bool = False
    ) -> ShaderError:
        return ShaderError(
            message, self.line, column=self.column, hint=hint, file=self.file, follows=follows, elsewhere=elsewhere
        )

    def warn(self, message: str, *, hint: str | None = None) -> None:
        self.warnings.append(
            ShaderError(message, self.line, column=self.column, hint=hint, file=self.file, warning=True)
        )
