"""Phrases that several answers use."""

from __future__ import annotations

from pocketgpu.wording import agreed, counted


def there_are(number: int, one: str, names: str, many: str = "") -> str:
    """What a place has, for the hint after a number that is too high: "It has 2 draws, f0/d0 to f0/d1."

    names: the address of the first, such as "f0/d0".
    """
    if number == 0:
        return f"It has no {many or one + 's'}."
    if number == 1:
        return f"It has one {one}, {names}."
    stem = names.rstrip("0123456789")
    return f"It has {counted(number, one, many)}, {stem}0 to {stem}{number - 1}."


__all__ = ["agreed", "counted", "there_are"]
