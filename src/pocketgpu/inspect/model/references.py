"""References of answers: what a line of a text is about, so that it can be looked at."""

from __future__ import annotations

import re
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass

_NAME = re.compile(r"\b[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)*(?:\(\d+\))?")
"""A word that may be the name of a register, perhaps of an element of an array."""


@dataclass(frozen=True, slots=True, repr=False)
class Reference(Displayed):
    """What a line of a stage's text is about: a register, or a texel.

    line: number of the line in the stage's text. register: its name. texture: its name as `TextureFacts` has it. part:
    the level, layer or slice, as `Texture.parts` has it. x, y: the texel in its picture.
    """

    line: int = 0
    register: str = ""
    texture: str = ""
    part: str = ""
    x: int = 0
    y: int = 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        if self.register:
            return {"line": self.line, "register": self.register}
        return {"line": self.line, "texture": self.texture, "part": self.part, "x": self.x, "y": self.y}

    def __str__(self) -> str:
        return self.register or f"{self.part} ({self.x}, {self.y})"


@dataclass(frozen=True, slots=True, repr=False)
class Link(Displayed):
    """A reference in the text of an answer. line: number of the line in that text. at: the event that it is about."""

    line: int
    at: Address
    reference: Reference

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return self.reference.to_json() | {"line": self.line, "at": str(self.at)}

    def __str__(self) -> str:
        return f"{self.line}: {self.reference} at {self.at}"


@dataclass(frozen=True, slots=True, repr=False)
class RegisterWord(Displayed):
    """The word that gave a register its value. event: whose word it is; line: its number among the words of that event.
    address: where it is in memory; None if it was not in memory. value: the register after it."""

    register: str
    event: Address
    line: int
    address: int | None
    value: int

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        address = None if self.address is None else f"{self.address:#010x}"
        return {
            "register": self.register, "event": str(self.event), "line": self.line, "address": address,
            "value": f"{self.value:#010x}",
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.register} = {self.value:#010x}, word {self.line} of {self.event}"


def registers_in(text: str) -> list[str]:
    """The names of registers in the text of a cause, each once."""
    from pocketgpu.facts.lookup import register_named
    from pocketgpu.facts.maxwell import CLASSES

    names = dict.fromkeys(_NAME.findall(text))
    return [
        name
        for name in names
        if register_named(name) is not None
        or any(block.get(name.partition("(")[0]) is not None for block in CLASSES.values())
    ]


__all__ = ["Link", "Reference", "RegisterWord", "registers_in"]
