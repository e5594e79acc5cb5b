"""Tables of plain text that fit any terminal: numbers and names are never cut.

    frame   draws   triangles        frame   draws
    f0          2           3        f0          2
                                         triangles 3

Columns that do not fit beside the first ones go to lines of their own, below their row. Text is wrapped between words.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

GAP = 3
"""Spaces between columns."""
INDENT = 4
"""Spaces before what goes below a row."""
_NARROW = 24
"""A column of text gets no narrower than this, unless its words are all shorter."""


def cell_len(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len as measured  # slow to import, and most tables are plain

    return measured(text)


def lay_out(
    columns: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], footer: Sequence[str], width: int
) -> Iterator[tuple[str, bool]]:
    """The lines of a table, and for each whether it is a part of the heading or of the footer.

    columns: (title, is a number) pairs; numbers are flush right. footer: a last row, or nothing. width: of the
    terminal; only a word that is longer makes a longer line.
    """
    numbers = [is_number for _, is_number in columns]
    titles, cells = [title for title, _ in columns], [list(row) for row in rows]
    every = [titles, *cells, *([list(footer)] if footer else [])]
    widths = _widths(every, numbers, width)
    yield from ((line, True) for line in _row(titles[: len(widths)], widths, numbers))
    for row in cells:
        yield from ((line, False) for line in _with_rest(row, titles, widths, numbers, width))
    if footer:
        yield from ((line, True) for line in _with_rest(footer, titles, widths, numbers, width))


def _widths(every: Sequence[Sequence[str]], numbers: Sequence[bool], width: int) -> list[int]:
    """The widths of the columns that fit beside each other, from the first on; the first one always does."""
    natural = [max(map(cell_len, column)) for column in zip(*every, strict=True)]
    least = [
        whole if is_number else min(whole, max(_NARROW, _longest_word(column)))
        for whole, is_number, column in zip(natural, numbers, zip(*every, strict=True), strict=True)
    ]
    count = len(least)
    while count > 1 and sum(least[:count]) + GAP * (count - 1) > width:
        count -= 1
    widths, left = least[:count], width - sum(least[:count]) - GAP * (count - 1)
    for index in range(count):
        more = min(max(left, 0), natural[index] - widths[index])
        widths[index] += more
        left -= more
    return widths


def _longest_word(column: Iterable[str]) -> int:
    return max((cell_len(word) for cell in column for word in cell.split()), default=0)


def _wrapped(text: str, width: int) -> list[str]:
    """Lines of at most `width` characters; longer words stay whole."""
    if cell_len(text) <= width:
        return [text]
    return textwrap.wrap(text, max(width, 1), break_long_words=False, break_on_hyphens=False)


def _row(row: Sequence[str], widths: Sequence[int], numbers: Sequence[bool]) -> Iterator[str]:
    """The lines of what stands beside each other."""
    columns = zip(row, widths, numbers, strict=False)
    wrapped = [[cell] if is_number else _wrapped(cell, width) for cell, width, is_number in columns]
    for line in range(max(map(len, wrapped))):
        parts = [cell[line] if line < len(cell) else "" for cell in wrapped]
        aligned = (_aligned(*one) for one in zip(parts, widths, numbers, strict=False))
        yield (" " * GAP).join(aligned).rstrip()


def _aligned(text: str, width: int, is_number: bool) -> str:
    """Text in a column; a word that is wider than its column stays whole."""
    if is_number:
        return text.rjust(width)
    return text + " " * (width - cell_len(text))


def _with_rest(
    row: Sequence[str], titles: Sequence[str], widths: Sequence[int], numbers: Sequence[bool], width: int
) -> Iterator[str]:
    """The lines of a row, then those of its columns that do not fit."""
    count = len(widths)
    yield from _row(row[:count], widths, numbers)
    pieces = [f"{title} {cell}".strip() for title, cell in zip(titles[count:], row[count:], strict=True) if cell]
    line = ""
    for piece in pieces:
        longer = f"{line}{' ' * GAP}{piece}" if line else piece
        if line and cell_len(longer) > width - INDENT:
            yield from _below(line, width)
            line = piece
        else:
            line = longer
    if line:
        yield from _below(line, width)


def _below(text: str, width: int) -> Iterator[str]:
    return (" " * INDENT + line for line in _wrapped(text, width - INDENT))


__all__ = ["GAP", "INDENT", "lay_out"]
