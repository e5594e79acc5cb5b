"""Phrases that messages of all rooms use."""

from __future__ import annotations

import re

_FORMS = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")


def counted(number: int, one: str, many: str = "") -> str:
    """A number with its noun: "1 draw", "2 draws". many: the plural, if it is not formed by adding an s."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def agreed(text: str, number: int) -> str:
    """A text whose verbs fit a number: "{lies|lie} left of it" is "lies left of it" for 1, else "lie left of it"."""
    return _FORMS.sub(lambda found: found[1 if number == 1 else 2], text)


__all__ = ["agreed", "counted"]
