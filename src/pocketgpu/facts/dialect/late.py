"""Sequences that are made at their first use.

A start reads the names and places of thousands of registers and methods, and asks few of them for their fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Late(Sequence[T], Generic[T]):
    """The tuple that a function returns; it is called once, when somebody looks."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], tuple[T, ...]]) -> None:
        self._make = make
        self._made: tuple[T, ...] | None = None

    @property
    def _items(self) -> tuple[T, ...]:
        if self._made is None:
            self._made = self._make()
        return self._made

    def __repr__(self) -> str:
        return repr(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @overload
    def __getitem__(self, key: int) -> T: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[T, ...]: ...
    def __getitem__(self, key: int | slice) -> T | tuple[T, ...]:
        return self._items[key]

    def __reduce__(self) -> tuple[type, tuple[tuple[T, ...]]]:
        """A copy or a pickle is the tuple."""
        return tuple, (self._items,)

    def __eq__(self, other: object) -> bool:
        return self._items == (other._items if isinstance(other, Late) else other)

    def __hash__(self) -> int:
        return hash(self._items)
