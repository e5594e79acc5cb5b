"""Phrases that messages of all rooms use."""

from __future__ import annotations


def counted(number: int, one: str, many: str = "", form: str = "") -> str:
    """A number with its noun: "1 draw", "2 draws". many: the plural, if it is not formed by adding an s. form: how the
    number is written, such as "," for "2,000 draws"."""
    return f"{number:{form}} {one if number == 1 else many or one + 's'}"


def one_of(many: str) -> str:
    """The singular of a plural: "draws" becomes "draw", "copies" "copy", "vertices" "vertex"."""
    for end, one in (("ices", "ex"), ("ies", "y"), ("ches", "ch"), ("ses", "s"), ("xes", "x"), ("s", "")):
        if many.endswith(end):
            return many.removesuffix(end) + one
    return many


__all__ = ["counted", "one_of"]
