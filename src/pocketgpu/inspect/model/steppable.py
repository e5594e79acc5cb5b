"""What can be stepped through at an address: the programs of a draw or launch, and which of their runs.

    for one in run.programs_at("f1/d17"):
        print(one)                       # vertex program: f1/d17/v0..23
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from pocketgpu.displayed import Displayed
from pocketgpu.inspect.model.address import Address
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, repr=False)
class Part(Displayed):
    """A part of an address that is still to choose. letter: as addresses have it, "v" or "px". name: for people.
    limits: how many there are, for each number of the part; None where that is not known before the program runs."""

    letter: str
    name: str
    limits: tuple[int | None, ...]

    def to_json(self) -> dict[str, Any]:
        return {"letter": self.letter, "name": self.name, "limits": list(self.limits)}

    def __str__(self) -> str:
        return self.letter + ",".join("n" if limit is None else f"0..{limit - 1}" for limit in self.limits)


@dataclass(frozen=True, repr=False)
class Steppable(Displayed):
    """A program whose runs can be stepped through (`Inspection.trace`).

    program: its name. address: of the draw or launch; with no `parts`, of the one run. parts: what is to be added to
    the address.
    """

    program: str
    address: Address
    parts: tuple[Part, ...] = field(default_factory=tuple)

    def to_json(self) -> dict[str, Any]:
        return {
            "program": self.program, "address": str(self.address), "parts": [one.to_json() for one in self.parts],
        }  # fmt: skip

    def __str__(self) -> str:
        return f"{self.program}: {'/'.join(map(str, (self.address, *self.parts)))}"


__all__ = ["Part", "Steppable"]
