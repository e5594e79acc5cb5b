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
class Buffer:
    """An answer of bytes. type: their media type. tag: it is the same if the bytes are."""

    data: bytes
    type: str
    tag: str


@dataclass(frozen=True)
class Pixels(Buffer):
    """The bytes of a picture."""

    width: int
    height: int


class Question(Protocol):
    """What the machine's thread does for a request."""

    def __call__(self, run: Inspection) -> Json | Buffer: ...


@dataclass(frozen=True)
class Asked:
    """A kind of request.

    :param read: makes a question of the parameters, or raises `UsageError`.
    :param slow: its answer may take long: those that are quick come first.
    """

    read: Callable[[Parameters], Question]
    slow: bool = False


__all__ = ["FORMS", "Asked", "Buffer", "Json", "Pixels", "Question"]
