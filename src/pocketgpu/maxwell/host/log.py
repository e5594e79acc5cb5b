"""A list of what a machine has done, whose records can be made when they are first read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import Any, overload


class Later(ABC):
    """Records that are made later. `count`: how many."""

    count: int

    @abstractmethod
    def records(self) -> Sequence[Any]:
        """Make them."""


class Log(MutableSequence[Any]):
    """A list of records."""

    def __init__(self, records: Iterable[Any] = ()) -> None:
        self._parts: list[Any] = list(records)
        self._count = len(self._parts)

    def later(self, records: Later) -> None:
        """Append records that are made when they are read."""
        self._parts.append(records)
        self._count += records.count

    def _list(self) -> list[Any]:
        """All of them."""
        if self._count != len(self._parts) or any(isinstance(part, Later) for part in self._parts):
            found: list[Any] = []
            for part in self._parts:
                found.extend(part.records() if isinstance(part, Later) else (part,))
            self._parts = found
        return self._parts

    def append(self, value: Any) -> None:
        """Append a record."""
        self._parts.append(value)
        self._count += 1

    def insert(self, index: int, value: Any) -> None:
        """Insert a record."""
        self._list().insert(index, value)
        self._count += 1

    def clear(self) -> None:
        """Remove all records."""
        self._parts, self._count = [], 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list())

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> list[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        return self._list()[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self._list()[index] = value
        self._count = len(self._parts)

    def __delitem__(self, index: int | slice) -> None:
        del self._list()[index]
        self._count = len(self._parts)

    def __eq__(self, other: object) -> bool:
        return self._list() == (other._list() if isinstance(other, Log) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Log({self._list()!r})"
