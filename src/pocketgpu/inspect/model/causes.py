"""Why a frame looks wrong: what was found in it, the likeliest cause first.

    f1: 1 cause found
    1. f1/d3: the scissor keeps 0, 0 to -1, -1 of a target of 240x400: nothing  [scissor.empty]
       pocketgpu why CAPTURE f1/d3
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any, ClassVar

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.answer import Answer
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

MOST_SHOWN = 3
"""Causes that the conclusion names; the details have all."""


@dataclass(frozen=True, repr=False)
class Cause(Displayed):
    """One cause. at: the address that proves it. text: what is wrong there. rule: the rule of `pocketgpu check` that
    found it. weight: how likely it is that it spoils the picture, 1 to 100. more: a command that shows more."""

    at: str
    text: str
    rule: str
    weight: int
    more: str

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {"at": self.at, "text": self.text, "rule": self.rule, "weight": self.weight, "more": self.more}

    def __str__(self) -> str:
        return f"{self.at}: {self.text}  [{self.rule}]"


@dataclass(repr=False)
class FrameCauses(Answer):
    """The answer to "why does this frame look wrong?". causes: the likeliest first. draws: how many draws it has."""

    schema: ClassVar[str] = "pocketgpu.causes/1"

    address: Address
    causes: list[Cause] = field(default_factory=list)
    draws: int = 0

    @property
    def because(self) -> str:
        """The likeliest cause; or that none was found."""
        if self.causes:
            return str(self.causes[0])
        return f"nothing found that spoils the picture; {counted(self.draws, 'draw')}"

    @property
    def conclusion(self) -> list[str]:
        """The likeliest causes, a line each."""
        if not self.causes:
            return [f"{self.address}: {self.because}"]
        return [f"{n}. {cause}" for n, cause in enumerate(self.causes[:MOST_SHOWN], 1)]

    def details(self) -> Iterator[str]:
        """Further causes, and the commands that show more."""
        for n, cause in enumerate(self.causes, 1):
            if n > MOST_SHOWN:
                yield f"{n}. {cause}"
            yield f"   {n}: {cause.more}"
        if not self.causes:
            yield "Ask about a pixel (f1/px200,120), a draw (f1/d17), or see 'pocketgpu check CAPTURE' for notes."

    def to_json(self) -> dict[str, Any]:
        return self.head() | {"draws": self.draws, "causes": [cause.to_json() for cause in self.causes]}


__all__ = ["Cause", "FrameCauses"]
