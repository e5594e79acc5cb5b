"""A documented warning about the registers of a display controller."""

from __future__ import annotations

from pocketgpu.displayed import Displayed
from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Problem(Displayed):
    """A documented warning. severity: "warning" (visible effect) or "note"."""

    id: str
    severity: str
    text: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}  [{self.id}]"


__all__ = ["Problem"]
