"""The map of an engine: areas in pieces, brought up to date before the engine runs.

Unicorn takes 0.4 ms to unmap a MiB, and a kernel that changes one page of a large area unmaps the area and maps it
again in parts. So areas are cut at multiples of PIECE, changes wait for the next run, and what is there again by then
is left alone, unless it is code: other instructions may be there, and Unicorn has translated the ones before.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Final, NamedTuple

from pocketgpu.guests.kernel.memory import Area, Permission
from pocketgpu.guests.processors.engine import Engine

PIECE: Final = 8 << 20
"""Bytes: at most 48 pieces of the largest heap, which is 1 ms; 4 MiB take six times as long."""


class _Piece(NamedTuple):
    """A part of an area. host: the address of its bytes. rights: as Unicorn counts them."""

    base: int
    size: int
    host: int
    rights: int


class Pieces:
    """What is mapped, and what will be."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._of_area: dict[int, list[_Piece]] = {}
        self._stale: dict[_Piece, None] = {}
        self._fresh: dict[_Piece, memoryview] = {}

    def __repr__(self) -> str:
        return f"<Pieces: {sum(len(one) for one in self._of_area.values())} of {len(self._of_area)} areas>"

    def map(self, area: Area, rights: int) -> None:
        """An area is new."""
        found = self._of_area[area.base] = list(_cut(area, rights))
        for one in found:
            if one in self._stale and not area.permission & Permission.EXECUTE:
                del self._stale[one]
            else:
                self._fresh[one] = area.view[one.base - area.base :][: one.size]

    def unmap(self, base: int) -> None:
        """The area at an address is gone."""
        for one in self._of_area.pop(base):
            if one in self._fresh:
                del self._fresh[one]
            else:
                self._stale[one] = None

    def bring_up_to_date(self) -> None:
        """Tell the engine what has changed."""
        if self._stale or self._fresh:
            for one in self._stale:
                self._engine.unmap(one.base, one.size)
            for one, view in self._fresh.items():
                self._engine.map(one.base, view, one.rights)
            self._stale, self._fresh = {}, {}


def _cut(area: Area, rights: int) -> Iterator[_Piece]:
    host = ctypes.addressof(ctypes.c_char.from_buffer(area.view)) - area.base
    at = area.base
    while at < area.end:
        end = min((at // PIECE + 1) * PIECE, area.end)
        yield _Piece(at, end - at, host + at, rights)
        at = end
