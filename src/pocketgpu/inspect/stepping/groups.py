"""Registers by what they are for, as debuggers show them."""

from __future__ import annotations

from pocketgpu.late_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RegisterGroup:
    """Registers of one kind, in order. given: they have values before the first step, so reading them is no mistake."""

    name: str
    registers: tuple[str, ...]
    given: bool = False


__all__ = ["RegisterGroup"]
