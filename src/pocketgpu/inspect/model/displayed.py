"""How answers show themselves: a short line at a prompt, their whole text in a notebook."""

from __future__ import annotations

from html import escape

MOST_LETTERS = 100
"""Letters of a text that a line at a prompt has."""


class Displayed:
    """A value whose text is `str(value)`. Data classes need `repr=False`, as theirs would show all that they hold."""

    __slots__ = ()

    def __repr__(self) -> str:
        line = str(self).partition("\n")[0]
        return f"<{type(self).__name__} {line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 3] + '...'}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


__all__ = ["Displayed"]
