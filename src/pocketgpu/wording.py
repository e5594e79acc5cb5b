"""Phrases that messages of all rooms use."""

from __future__ import annotations

import re

_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def counted(number: int | str, one: str, many: str = "", form: str = "") -> str:
    """A number with its noun: "1 draw", "2 draws", "2x1 blocks". many: the plural, if it is not formed by adding an s.
    form: how the number is written, such as "," for "2,000 draws"."""
    return f"{number:{form}} {one if str(number) == '1' else many or one + 's'}"


def agreed(text: str, number: int) -> str:
    """A text whose verbs fit a number: "{lies|lie} left of it" is "lies left of it" for 1, else "lie left of it"."""
    return _FORMS.sub(lambda found: found[1 if number == 1 else 2], text)


def one_of(many: str) -> str:
    """The singular of a plural: "draws" becomes "draw", "copies" "copy", "vertices" "vertex"."""
    for end, one in (("ices", "ex"), ("ies", "y"), ("ches", "ch"), ("ses", "s"), ("xes", "x"), ("s", "")):
        if many.endswith(end):
            return many.removesuffix(end) + one
    return many


__all__ = ["agreed", "counted", "one_of"]
