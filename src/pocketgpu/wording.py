"""Phrases that messages of all rooms use."""

from __future__ import annotations

import re

_FORMS = r"\{([^{}|]*)\|([^{}|]*)\}"


def counted(number: int | str, one: str, many: str = "", form: str = "") -> str:
    """A number with its noun: "1 draw", "2 draws", "2x1 blocks". many: the plural, if it is not formed by adding an s.
    form: how the number is written, such as "," for "2,000 draws"."""
    return f"{number:{form}} {one if str(number) == '1' else many or one + 's'}"


def agreed(text: str, number: int) -> str:
    """A text whose verbs fit a number: "{lies|lie} left of it" is "lies left of it" for 1, else "lie left of it"."""
    return re.sub(_FORMS, lambda found: found[1 if number == 1 else 2], text)


def one_of(many: str) -> str:
    """The singular of a plural: "draws" becomes "draw", "copies" "copy", "vertices" "vertex"."""
    for end, one in (("ices", "ex"), ("ies", "y"), ("ches", "ch"), ("ses", "s"), ("xes", "x"), ("s", "")):
        if many.endswith(end):
            return many.removesuffix(end) + one
    return many


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


__all__ = ["agreed", "counted", "one_of", "there_are"]
