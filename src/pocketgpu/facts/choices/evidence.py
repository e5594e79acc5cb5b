"""What speaks for the values of choices: statements of sources, and what was observed.

`evidence.tsv` holds statements and observations that people wrote down, `pictures.tsv` what `tools/evidence.py` counted
in recordings, `sources.tsv` who they come from. All evidence tables have the same columns:

    choice, value   the value that this speaks for
    kind            one of Kind
    who             a name of sources.tsv
    what            what was said or seen
    where           a page, a program, a recording, or a console and its software
    date            of the observation or of the page, as precise as it is known: 2017, 2017-09, 2017-09-03; or empty

What a source can know ties it to kinds of evidence: an analogy can only guess, and what a header names is documented.

`parse()` reads a table from outside. Such a table holds answers of consoles and nothing else: who says what in public
is in the package's own tables, where others can check it. `where` begins with the console, up to the first semicolon.
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
_CONSOLE: Final = "console"
"""The source of a console's own answers."""
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
    for. newer: the source that replaced this one: where that says something, this one does not count. kinds: the kinds
    of evidence that it can give; a guess can come from any source.
    """

    name: str
    family: str
    independent: int
    newer: str
    kinds: frozenset[Kind]
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

    @property
    def origin(self) -> str:
        """What counts once: the family of the source, or the console that answered."""
        if self.who.name != _CONSOLE:
            return self.who.family
        return f"{_CONSOLE}: {self.console}"

    @property
    def console(self) -> str:
        """The console whose answer this is; "" if it is none."""
        return self.where.partition(";")[0].strip() if self.who.name == _CONSOLE else ""

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
        name, family, independent, newer, kinds, title, url = cells
        can = frozenset({Kind.GUESS, *(Kind(kind) for kind in kinds.split())})
        found[name] = Source(name, family or name, int(independent or "1"), newer, can, title, url)
    return found


def of_choice(name: str) -> tuple[Evidence, ...]:
    """What speaks for the values of a choice, the strongest first."""
    return _all().get(name, ())


def parse(path: str | os.PathLike[str]) -> tuple[Evidence, ...]:
    """The rows of a table of evidence in a file: what consoles answered.

    :raises OSError: the file cannot be read.
    :raises ValueError: the file is no such table, or a row is no answer of a console; the message names the line and
        what is wrong.
    """
    with open(path, "rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ValueError(f"it has more than {MOST_BYTES:,} bytes")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not text in UTF-8: byte {error.start}") from error
    return _rows(text.removeprefix("\N{BYTE ORDER MARK}"), outside=True)


def read(text: str) -> tuple[Evidence, ...]:
    """The rows of a table of evidence of the package.

    :raises ValueError: the text is no such table; the message names the line and what is wrong.
    """
    return _rows(text, outside=False)


def _rows(text: str, *, outside: bool) -> tuple[Evidence, ...]:
    numbered = [(number, line) for number, line in enumerate(text.splitlines(), 1) if line and line[0] != "#"]
    if not numbered or tuple(numbered[0][1].split("\t")) != COLUMNS:
        raise ValueError(f"its first line must have the columns {', '.join(COLUMNS)}, with tabs between them")
    found = []
    for number, line in numbered[1:]:
        try:
            found.append(_evidence(line, outside))
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


def _evidence(line: str, outside: bool) -> Evidence:
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
    if outside and (who != _CONSOLE or kind != Kind.MEASURED or not where.partition(";")[0].strip()):
        raise ValueError(
            f"{who!r} is the source, of the kind {kind!r}; evidence from outside is what was {str(Kind.MEASURED)!r} by "
            f"a {_CONSOLE!r}, with the console in the column 'where'"
        )
    if source is None:
        raise ValueError(f"there is no source {who!r}; sources.tsv has all of them")
    if kind not in source.kinds:
        raise ValueError(f"{who!r} cannot give the kind {kind!r}; its kinds are {', '.join(sorted(source.kinds))}")
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
