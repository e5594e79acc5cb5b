"""A text as clients see it: its lines, and columns in the units that a client counts.

Lines end with \n, \r\n or \r and nothing else, as the protocol says. The assemblers also take other separators for ends
of lines; they get a text in which those are blanks.
"""

from __future__ import annotations

import re
from typing import Final

MOST_BYTES: Final = 4 << 20
"""A longer text is not read."""
MOST_COLUMNS: Final = 2000
"""A longer line is not read."""
_ENDS = re.compile(r"\r\n|\n|\r")
_OTHER_ENDS = re.compile("[\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")


def lines_of(source: str) -> list[str]:
    """The lines of a text without their ends."""
    return _ENDS.split(source)


def for_assembler(lines: list[str]) -> str:
    """The same lines for the assemblers; those that are too long are empty."""
    text = "\n".join(line if len(line) <= MOST_COLUMNS else "" for line in lines)
    return _OTHER_ENDS.sub(" ", text)


def units_of(line: str, column: int, encoding: str) -> int:
    """The client's number of a column."""
    head = line[:column]
    if encoding == "utf-32" or head.isascii():
        return len(head)
    if encoding == "utf-8":
        return len(head.encode("utf-8", "surrogatepass"))
    return len(head) + sum(letter > "\uffff" for letter in head)


def column_of(line: str, units: int, encoding: str) -> int:
    """The column of a client's number; one past the end is the end, and one inside of a character its start."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    passed = 0
    for column, letter in enumerate(line):
        width = len(letter.encode("utf-8", "surrogatepass")) if encoding == "utf-8" else 1 + (letter > "\uffff")
        if passed + width > units:
            return column
        passed += width
    return len(line)
