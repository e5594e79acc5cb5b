"""What the server knows of a language: its tokens, its words, how it reads a text and how it lays out a line.

A `Language` describes one kind of text. The rest of the server is the same for all of them and asks for no name.
Lines and columns count from 0 here, columns in characters; `text.py` has the columns that clients count.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum

from pocketgpu.late_dataclass import dataclass


class Kind(Enum):
    """What a token is. The values are the names of LSP's semantic tokens."""

    COMMENT = "comment"
    LABEL = "function"
    DIRECTIVE = "macro"
    MNEMONIC = "keyword"
    MODIFIER = "modifier"
    REGISTER = "parameter"
    NAME = "variable"
    WORD = "enumMember"
    METHOD = "property"
    NUMBER = "number"
    SCHEDULE = "decorator"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a line."""

    kind: Kind
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What an assembler says about a place. `line` and `column` as it counts them, from 1; 0: not known."""

    message: str
    line: int
    column: int
    hint: str | None = None
    warning: bool = False


class Role(Enum):
    """What a name stands for."""

    KERNEL = "kernel"
    ENTRY = "entry"
    PROCEDURE = "procedure"
    LABEL = "label"
    ALIAS = "alias"
    PARAMETER = "parameter"
    CONSTANT = "constant"
    UNIFORM = "uniform"
    INPUT = "input"
    OUTPUT = "output"


@dataclass(frozen=True, slots=True)
class Definition:
    """A name with the token that defines it."""

    name: str
    role: Role
    token: Token
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Entry:
    """A word that a language knows. `text`: makes its description, as Markdown."""

    name: str
    kind: Kind
    detail: str
    text: Callable[[], str]


Words = Mapping[str, Entry]


def first_of(kind: Kind, tokens: Sequence[Token]) -> int | None:
    """The index of the first token of a kind."""
    return next((index for index, token in enumerate(tokens) if token.kind is kind), None)


class Language(ABC):
    """One kind of assembly text."""

    name: str
    """Its identifier in the protocol."""
    title: str
    suffixes: tuple[str, ...]

    @abstractmethod
    def tokens(self, line: str) -> list[Token]:
        """The tokens of a line, in their order."""

    @abstractmethod
    def problems(self, text: str, most: int, stop: Callable[[], bool]) -> Iterable[Problem]:
        """What the assembler says about a text: up to `most` problems. stop: says when nobody waits for them."""

    @abstractmethod
    def words(self, kind: Kind) -> Words:
        """The words of a kind that do not depend on the text."""

    @abstractmethod
    def definitions(self, tokens: Sequence[Token]) -> Iterator[Definition]:
        """The names that a line defines."""

    @abstractmethod
    def written(self, line: str, tokens: Sequence[Token]) -> frozenset[str]:
        """The names of registers that a line writes."""

    @abstractmethod
    def after_directive(self, directive: str, count: int) -> list[Entry]:
        """What can be the next word of a directive that has `count` words after it already."""

    def takes_names(self, directive: str, count: int) -> bool:
        """Whether the next word of a directive can be a name of the text."""
        return False

    def modifiers(self, mnemonic: str) -> list[Entry]:
        """What can follow a mnemonic after a dot."""
        return []

    def operands(self, mnemonic: str) -> list[Entry]:
        """Words that can be operands of an instruction."""
        return []

    def hover(self, tokens: Sequence[Token], index: int) -> str:
        """A description of a token that needs its neighbours; "" if it needs none."""
        return ""

    def key(self, token: Token) -> str:
        """The text under which a token is looked up: without what differs between uses."""
        return token.text

    def begins_scope(self, tokens: Sequence[Token]) -> bool:
        """Whether names of a line and of those after it are apart from names before."""
        return False

    @abstractmethod
    def body(self, text: str, tokens: Sequence[Token]) -> str:
        """A statement with its blanks in order, without labels and comment. Columns of tokens are those in `text`."""

    def indent(self, tokens: Sequence[Token], depth: int) -> tuple[int, int]:
        """Blanks before the statement of a line, and the depth of the lines after it."""
        return 4, depth
