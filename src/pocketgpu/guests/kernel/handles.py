"""The table of a process's handles: numbers that name kernel objects."""

from __future__ import annotations

from typing import Final

from pocketgpu.guests.kernel.objects import KernelObject

GREATEST: Final = (1 << 30) - 1
"""Programs use the bits above for something else."""


class Handles:
    """Handles of one process. first: the number of the first one. limit: how many there can be."""

    def __init__(self, first: int = 0x10, limit: int = 4096) -> None:
        self._objects: dict[int, KernelObject] = {}
        self._first, self._next, self.limit = first, first, limit

    def __repr__(self) -> str:
        return f"<Handles: {len(self._objects)}>"

    def __len__(self) -> int:
        return len(self._objects)

    def add(self, one: KernelObject) -> int | None:
        """A new handle of an object; None if the table is full."""
        if len(self._objects) >= self.limit:
            return None
        while self._next in self._objects or self._next > GREATEST:
            self._next = self._first if self._next > GREATEST else self._next + 1
        number, self._next = self._next, self._next + 1
        self._objects[number] = one
        one.references += 1
        return number

    def get(self, number: int) -> KernelObject | None:
        """The object of a handle."""
        return self._objects.get(number)

    def numbers(self) -> list[int]:
        """All handles, the oldest first."""
        return list(self._objects)

    def objects(self) -> list[KernelObject]:
        """The objects of all handles, each once."""
        return list(dict.fromkeys(self._objects.values()))

    def close(self, number: int) -> bool:
        """Give a handle back; whether there was one. The object ends with its last reference."""
        one = self._objects.pop(number, None)
        if one is None:
            return False
        one.references -= 1
        if one.references == 0:
            one.closed()
        return True
