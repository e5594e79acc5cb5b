"""Verdicts as a table of evidence, which can be sent in: what a console has, with the file that shows it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Final

from pocketgpu.errors import UsageError
from pocketgpu.probe.judging import Verdict

COLUMNS: Final = ("choice", "value", "kind", "who", "what", "where", "date")
"""The columns of every table of evidence."""
_KIND: Final = "measured"
_WHO: Final = "console"
"""The source: a console's own answers."""
_LONGEST: Final = 500


def table(verdicts: Iterable[Verdict], day: date) -> str:
    """One row for each choice whose value an answer tells; others are left out. day: for an answer without one.

    :raises UsageError: an answer is of our own machine, which is no source.
    """
    rows = ["\t".join(COLUMNS)]
    for one in verdicts:
        if one.ours:
            raise UsageError(
                "these answers are pocketgpu's own, not a console's: they are no evidence", location=one.file,
                hint="Run the probe on a console, and judge the folder that comes back; leave out --evidence here.",
            )  # fmt: skip
        if one.tells and len(one.agree) == 1:
            what = "a person saw it on the screen" if one.by_eye else "the probe's answer is the same byte by byte"
            where = f"{one.console}; answer {one.digest}"
            cells = one.choice, one.agree[0], _KIND, _WHO, what, where, (one.day or day).isoformat()
            rows.append("\t".join(_cell(cell) for cell in cells))
    return "\n".join(rows) + "\n"


def _cell(text: str) -> str:
    """Text of an answer, which may hold anything, as a cell: printable and on one line."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_LONGEST]


__all__ = ["COLUMNS", "table"]
