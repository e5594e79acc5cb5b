"""A documented warning about the registers of a display controller."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A documented warning. severity: "warning" (visible effect) or "note"."""

    id: str
    severity: str
    text: str


__all__ = ["Problem"]
