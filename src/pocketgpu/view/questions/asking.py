"""The kinds of requests: how parameters become a question, and whether its answer may take long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Protocol

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.late_dataclass import dataclass
from pocketgpu.view.questions.desk import MAIN, Desk
from pocketgpu.view.questions.parameters import Parameters

Json = Mapping[str, Any]
FORMS: Final = ("rgba", "png")
"""How pixels are sent."""


@dataclass(frozen=True)
class Buffer:
    """An answer of bytes. type: their media type. tag: a digest of them, with which browsers ask whether they have the
    same already; "": they are not to keep them."""

    data: bytes
    type: str
    tag: str


@dataclass(frozen=True)
class Pixels(Buffer):
    """The bytes of a picture."""

    width: int
    height: int


@dataclass(frozen=True)
class Download:
    """A file for the browser to save. name: letters in it that file systems refuse are replaced."""

    data: bytes
    type: str
    name: str


Found = Json | Buffer | Download
"""What a question may find."""


class Question(Protocol):
    """A question about one side of the desk, for the machine's thread."""

    def __call__(self, run: Inspection) -> Found: ...


class DeskQuestion(Protocol):
    """A question about all sides, or one that puts something on the desk, for the machine's thread."""

    def __call__(self, desk: Desk) -> Found: ...


Slow = bool | Callable[[Parameters], bool]


@dataclass(frozen=True)
class Asked:
    """A kind of request about a side: that of the parameter `side`, or the main one.

    :param read: makes a question of the parameters, or raises `UsageError`.
    :param slow: whether its answer may take long, which may depend on the parameters; then quick ones come first.
    """

    read: Callable[[Parameters], Question]
    slow: Slow = False
    acts: ClassVar[bool] = False

    def question(self, given: Parameters) -> DeskQuestion:
        """What to do for a request.

        :raises UsageError: its parameters are bad.
        """
        name, question = given.text("side", MAIN), self.read(given)
        return lambda desk: question(desk.side(name))

    def is_slow(self, given: Parameters) -> bool:
        """Whether the answer to a request may take long."""
        return self.slow if isinstance(self.slow, bool) else self.slow(given)


@dataclass(frozen=True)
class AskedOfDesk:
    """A kind of request about the desk. read, slow: as of `Asked`. acts: it changes something, so it is done even if
    the page has been closed meanwhile."""

    read: Callable[[Parameters], DeskQuestion]
    slow: Slow = False
    acts: bool = False

    def question(self, given: Parameters) -> DeskQuestion:
        """What to do for a request.

        :raises UsageError: its parameters are bad.
        """
        return self.read(given)

    def is_slow(self, given: Parameters) -> bool:
        """Whether the answer to a request may take long."""
        return self.slow if isinstance(self.slow, bool) else self.slow(given)


AnyAsked = Asked | AskedOfDesk


__all__ = [
    "FORMS", "AnyAsked", "Asked", "AskedOfDesk", "Buffer", "DeskQuestion", "Download", "Found", "Json", "Pixels",
    "Question",
]  # fmt: skip
