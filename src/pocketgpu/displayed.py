"""How objects show themselves: a short line at a prompt; text, small tables and pictures in a notebook.

    class Buffer(Displayed):          # repr: <Buffer 64 bytes at 0x1000>
        def __str__(self) -> str:
            return f"{self.size} bytes at {self.address:#x}"

Names and messages may come from a guest's program or from a file that somebody sent: control characters are replaced
in lines, and everything is escaped in HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice

MOST_LETTERS = 100
"""Letters of a text that a line at a prompt has."""
MOST_LINES = 200
"""Lines of a text that a notebook shows; `print` shows all."""
MOST_ROWS = 20
"""Rows of a table that a notebook shows."""
_UNPRINTABLE = "\ufffd"


def plain(text: str) -> str:
    """A line without control characters, so that it neither ends early nor changes a terminal's colours."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() else _UNPRINTABLE for letter in text)


def line_of(one: object, text: str, name: str = "") -> str:
    """A short line about an object: its class (or `name`) and the first line of a text, which is cut after
    `MOST_LETTERS`."""
    name = name or type(one).__name__
    first = plain(next(iter(text.splitlines()), ""))
    cut = first if len(first) <= MOST_LETTERS else first[: MOST_LETTERS - 3] + "..."
    return f"<{name} {cut}>" if cut else f"<{name}>"


def text_html(text: str) -> str:
    """The first lines of a text for a notebook."""
    lines = text.splitlines()
    shown = [plain(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"... {len(lines) - MOST_LINES} of {len(lines)} lines are left out here; print shows all")
    from html import escape  # only notebooks need it

    return f"<pre>{escape(chr(10).join(shown))}</pre>"


def table_html(head: Sequence[str], rows: Iterable[Sequence[object]], count: int | None = None) -> str:
    """A small table for a notebook: the first `MOST_ROWS` rows. count: how many rows there are, if `rows` does not say
    it."""
    if count is None:
        rows = list(rows)
        count = len(rows)
    text = "<tr>" + "".join(f"<th>{_cell(name)}</th>" for name in head) + "</tr>" if head else ""
    for row in islice(rows, MOST_ROWS):
        text += "<tr>" + "".join(f"<td>{_cell(cell)}</td>" for cell in row) + "</tr>"
    more = f"<p>{count - MOST_ROWS} of {count} rows are left out here</p>" if count > MOST_ROWS else ""
    return f"<table>{text}</table>{more}"


def _cell(value: object) -> str:
    from html import escape

    return escape(plain(str(value)))


def title_html(text: str) -> str:
    """A line above a table or picture."""
    return f"<p>{_cell(text)}</p>"


def picture_html(png: bytes | None) -> str:
    """A picture for a notebook, inside of the text; "" without one. It has no other text: the title beside it says what
    it is."""
    from base64 import b64encode

    return "" if png is None else f'<img alt="" src="data:image/png;base64,{b64encode(png).decode()}">'


class Displayed:
    """A value whose text is `str(value)`. Data classes need `repr=False`, as theirs would show all that they hold."""

    __slots__ = ()

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def _repr_html_(self) -> str:
        return text_html(str(self))


__all__ = [
    "MOST_LETTERS",
    "MOST_LINES",
    "MOST_ROWS",
    "Displayed",
    "line_of",
    "picture_html",
    "plain",
    "table_html",
    "text_html",
    "title_html",
]
