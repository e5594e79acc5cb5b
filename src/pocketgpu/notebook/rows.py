"""Tables of rows of one type: a notebook shows them, and pandas, polars and plotly take them as they are.

    table = tables.costs(run, 0)
    table.sorted("fragments")[:5]        # the dearest draws, as a table again
    pandas.DataFrame(table)              # or polars.DataFrame(table)
    go.Bar(x=table.columns["draw"], y=table.columns["fragments"])

Rows are dataclasses of texts and numbers, so nothing has to be converted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import Field, fields
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar, overload

from pocketgpu.displayed import MOST_ROWS, Displayed, plain, table_html, title_html
from pocketgpu.errors import UsageError


class Row(Displayed):
    """Base class of rows: dataclasses of texts and numbers, whose fields are the columns of a table."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(one.name for one in fields(cls))

    def cells(self) -> list[str]:
        """Its values as people read them."""
        return [_shown(getattr(self, name)) for name in self.names()]

    def __str__(self) -> str:
        return ", ".join(f"{name} {cell}" for name, cell in zip(self.names(), self.cells(), strict=True) if cell)


R = TypeVar("R", bound=Row)


class Table(Displayed, Sequence[R], Generic[R]):
    """Rows of one type. kind: their class. title: what they are about. left: what was left out, as a sentence; "" if
    nothing was."""

    def __init__(self, kind: type[R], rows: Iterable[R], title: str, left: str = "") -> None:
        self.kind, self.title, self.left = kind, title, left
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> Table[R]: ...
    def __getitem__(self, index: int | slice) -> R | Table[R]:
        if isinstance(index, slice):
            return self._of(self._rows[index])
        return self._rows[index]

    def __iter__(self) -> Iterator[R]:
        return iter(self._rows)

    def _of(self, rows: Iterable[R]) -> Table[R]:
        return Table(self.kind, rows, self.title, self.left)

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The values by the name of their column."""
        return {name: [getattr(row, name) for row in self._rows] for name in self.kind.names()}

    def sorted(self, column: str, descending: bool = True) -> Table[R]:
        """The same rows, ordered by a column, the greatest first. Values that are not there come last.

        :raises UsageError: there is no such column.
        """
        if column not in self.kind.names():
            raise UsageError(f"there is no column {column!r}", hint=f"There are: {', '.join(self.kind.names())}.")
        there = [row for row in self._rows if getattr(row, column) is not None]
        missing = [row for row in self._rows if getattr(row, column) is None]
        return self._of([*sorted(there, key=lambda row: getattr(row, column), reverse=descending), *missing])

    def __str__(self) -> str:
        """The title and the first rows, in columns."""
        lines = [list(self.kind.names()), *(row.cells() for row in islice(self._rows, MOST_ROWS))]
        lines = [[plain(cell) for cell in line] for line in lines]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
        more = len(self._rows) - MOST_ROWS
        notes = [f"{more} of {len(self._rows)} rows are left out here"] if more > 0 else []
        return "\n".join([self.title, *(line.rstrip() for line in text), *notes, *([self.left] if self.left else [])])

    def _repr_html_(self) -> str:
        table = table_html(self.kind.names(), (row.cells() for row in self._rows), len(self._rows))
        return title_html(self.title) + table + (title_html(self.left) if self.left else "")


def _shown(value: Any) -> str:
    """A value of a row for people: numbers in groups of three digits, nothing for None."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


__all__ = ["Row", "Table"]


def __dir__() -> list[str]:
    return [*__all__]
