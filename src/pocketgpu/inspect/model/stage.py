"""A stage of the pipeline: how many entered it, how many passed, and what it did.

Draws, triangles and fragments are described in the same way: as a list of stages. For a draw, a stage counts vertices,
primitives or fragments. For one fragment, one entered, and one or none passed.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.references import Reference
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import agreed


@dataclass(frozen=True, slots=True, repr=False)
class Loss(Displayed):
    """How many a stage stopped for one reason. register: the register that causes it; "" if none does.

    The verbs of a reason fit the count: Loss(1, "{lies|lie} left of it").reason is "lies left of it".
    """

    count: int
    reason: str
    register: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", agreed(self.reason, self.count))

    def to_json(self) -> dict[str, Any]:
        return {"count": self.count, "reason": self.reason, "register": self.register}

    def __str__(self) -> str:
        return f"{self.count} {self.reason}" + (f" ({self.register})" if self.register else "")


@dataclass(repr=False)
class Stage(Displayed):
    """One stage.

    name: what it counts ("triangles") or what it is ("depth test"). came, passed: how many entered and passed. source:
    what `came` counts, if that is something else than `passed` ("vertices" before primitives); then `passed` may be
    larger. lost: why the others did not pass. text: what it did, as lines for people. values: the same as plain data,
    ready for JSON. references: what lines of the text are about.
    """

    name: str
    came: int = 1
    passed: int = 1
    lost: list[Loss] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    references: list[Reference] = field(default_factory=list)

    @property
    def stops_all(self) -> bool:
        """Whether something entered and nothing passed."""
        return self.came > 0 and self.passed == 0

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "name": self.name, "came": self.came, "passed": self.passed,
            "lost": [loss.to_json() for loss in self.lost], "text": self.text, "values": self.values,
            **({"source": self.source} if self.source else {}),
            **({"references": [one.to_json() for one in self.references]} if self.references else {}),
        }  # fmt: skip

    def __str__(self) -> str:
        if self.source:
            return f"{self.name}: {self.passed:,} (from {self.source}: {self.came:,})"
        return f"{self.name}: {self.passed:,} of {self.came:,}"


__all__ = ["Loss", "Stage"]
