"""What the documents warn of in the registers of a display controller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that the documents warn of. severity: "warning" (the picture suffers) or "note"."""

    id: str
    severity: str
    text: str


__all__ = ["Problem"]
