"""What a request is for the server: how its parameters become a question, and whether its answer may take long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol

from pocketgpu.inspect.model.inspection import Inspection
from pocketgpu.late_dataclass import dataclass
from pocketgpu.view.questions.parameters import Parameters

Json = Mapping[str, Any]
FORMS: Final = ("rgba", "png")
"""How pixels are sent."""


@dataclass(frozen=True)
class Pixels:
    """The bytes of a picture, and a tag that is the same if the bytes are."""

    data: bytes
    type: str
    tag: str
    width: int
    height: int


@dataclass(frozen=True)
class Download:
    """A file for the browser to keep. name: what it is called; letters that file systems refuse are replaced."""

    data: bytes
    type: str
    name: str


Found = Json | Pixels | Download
"""What a question may find."""


class Question(Protocol):
    """What the machine's thread does for a request."""

    def __call__(self, run: Inspection) -> Found: ...


@dataclass(frozen=True)
class Asked:
    """A kind of request.

    :param read: makes a question of the parameters, or raises `UsageError`.
    :param slow: its answer may take long: those that are quick come first.
    """

    read: Callable[[Parameters], Question]
    slow: bool = False


__all__ = ["FORMS", "Asked", "Download", "Found", "Json", "Pixels", "Question"]
