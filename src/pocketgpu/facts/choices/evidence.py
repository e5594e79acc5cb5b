"""What speaks for the values of choices: statements of sources, and what was observed.

`evidence.tsv` holds statements and observations that people wrote down, `pictures.tsv` what `tools/evidence.py` counted
in recordings, `sources.tsv` who they come from. All evidence tables have the same columns:

    choice, value   the value that this speaks for
    kind            one of Kind
    who             a name of sources.tsv
    what            what was said or seen
    where           a page, a program, a recording, or a console and its software
    date            of the observation or of the page, as precise as it is known: 2017, 2017-09, 2017-09-03; or empty

`parse()` reads such a table from a file, for example the answers that a console gave.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final

from pocketgpu.late_dataclass import dataclass

COLUMNS: Final = ("choice", "value", "kind", "who", "what", "where", "date")
"""The columns of a table of evidence."""
MOST_BYTES: Final = 1 << 20
"""The largest file that `parse()` reads."""
MOST_LETTERS: Final = 500
"""The longest cell that `parse()` takes."""
_DATE: Final = re.compile(r"\d{4}(-\d\d){0,2}")
_TABLES: Final = ("evidence.tsv", "pictures.tsv")


class Kind(StrEnum):
    """How something is known, the strongest first."""

    MEASURED = "measured"
    """Somebody ran a test on a console and tells the result."""
    PROGRAM = "program"
    """A program that works on consoles only makes sense with this value."""
    DOCUMENTED = "documented"
    """A document or a header says so."""
    PICTURE = "picture"
    """A picture of an independent renderer agrees best with this value."""
    EMULATOR = "emulator"
    """An emulator does so."""
    GUESS = "guess"
    """An analogy, or the plain reading of a name."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who says something.

    family: sources of one family share their origin, and count once. independent: how many sources this one stands
    for. newer: the source that replaced this one: where that says something, this one does not count.
    """

    name: str
    family: str
    independent: int
    newer: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """One statement or observation in favour of a value of a choice."""

    choice: str
    value: str
    kind: Kind
    who: Source
    what: str
    where: str
    date: str

    def __str__(self) -> str:
        """As text, without choice and value: "measured, Citra's tests (2017-06-27): freezes [https://...]"."""
        date = f" ({self.date})" if self.date else ""
        what = f": {self.what}" if self.what else ""
        where = f" [{self.where}]" if self.where else ""
        return f"{self.kind}, {self.who.name}{date}{what}{where}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "choice": self.choice, "value": self.value, "kind": str(self.kind), "who": self.who.name,
            "source": self.who.title, "what": self.what, "where": self.where, "date": self.date,
        }  # fmt: skip


@cache
def sources() -> Mapping[str, Source]:
    """All sources by their names."""
    found = {}
    for cells in table_rows("sources.tsv"):
        name, family, independent, newer, title, url = cells
        found[name] = Source(name, family or name, int(independent or "1"), newer, title, url)
    return found


def of_choice(name: str) -> tuple[Evidence, ...]:
    """What speaks for the values of a choice, the strongest first."""
    return _all().get(name, ())


def parse(path: str | os.PathLike[str]) -> tuple[Evidence, ...]:
    """The rows of a table of evidence in a file.

    :raises OSError: the file cannot be read.
    :raises ValueError: the file is no such table; the message names the line and what is wrong.
    """
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text in UTF-8: byte {error.start}") from error
    return read(text.removeprefix("\N{BYTE ORDER MARK}"))


def read(text: str) -> tuple[Evidence, ...]:
    """The rows of a table of evidence.

    :raises ValueError: the text is no such table; the message names the line and what is wrong.
    """
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line and line[0] != "#"]
    if not numbered or tuple(numbered[0][1].split("\t")) != COLUMNS:
        raise ValueError(f"its first line must have the columns {', '.join(COLUMNS)}, with tabs between them")
    found = []
    for number, line in numbered[1:]:
        try:
            found.append(_evidence(line))
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
    return tuple(found)


def write(rows: tuple[Evidence, ...]) -> str:
    """The text of a table of evidence, for `read()`."""
    lines = ["\t".join(COLUMNS)]
    for row in rows:
        cells = (row.choice, row.value, str(row.kind), row.who.name, row.what, row.where, row.date)
        lines.append("\t".join(re.sub(r"\s+", " ", cell) for cell in cells))
    return "\n".join(lines) + "\n"


def _evidence(line: str) -> Evidence:
    """One row. Raises ValueError for what a table must not hold."""
    from pocketgpu.facts.choices import check

    cells = line.split("\t")
    if len(cells) != len(COLUMNS):
        raise ValueError(f"it has {len(cells)} cells instead of {len(COLUMNS)}")
    if not all(cell.isprintable() and len(cell) <= MOST_LETTERS for cell in cells):
        raise ValueError(f"a cell has control characters, or more than {MOST_LETTERS} letters")
    choice, value, kind, who, what, where, date = cells
    check(choice, value)
    if kind not in {*Kind}:
        raise ValueError(f"there is no kind {kind!r}; kinds are {', '.join(Kind)}")
    source = sources().get(who)
    if source is None:
        raise ValueError(f"there is no source {who!r}; sources are {', '.join(sources())}")
    if date and not _DATE.fullmatch(date):
        raise ValueError(f"{date!r} is no date such as 2026-11-29")
    return Evidence(choice, value, Kind(kind), source, what, where, date)


@cache
def _all() -> Mapping[str, tuple[Evidence, ...]]:
    """The package's evidence by choice."""
    order = {kind: number for number, kind in enumerate(Kind)}
    found: dict[str, list[Evidence]] = {}
    for table in _TABLES:
        for row in read(_read(table)):
            found.setdefault(row.choice, []).append(row)
    return {name: tuple(sorted(rows, key=lambda row: order[row.kind])) for name, rows in found.items()}


def table_rows(name: str) -> Iterator[list[str]]:
    """The cells of the rows of a table of this folder, without its head."""
    lines = [line for line in _read(name).split("\n") if line and line[0] != "#"]
    yield from (line.split("\t") for line in lines[1:])


def _read(name: str) -> str:
    # Not importlib.resources: importing that costs more than reading a table.
    with open(os.path.join(os.path.dirname(__file__), name), encoding="utf-8") as file:
        return file.read()


__all__ = ["COLUMNS", "Evidence", "Kind", "Source", "of_choice", "parse", "read", "sources", "table_rows", "write"]


def __dir__() -> list[str]:
    return [*__all__]
