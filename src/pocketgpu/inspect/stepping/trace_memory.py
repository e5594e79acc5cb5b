"""Memory of a trace at any tick: what it was at the beginning, and every change, in order.

    memory.read("global", 0x100000000, 16, tick)

A change of tick n is there from tick n + 1 on, or from tick n if it came right before the instruction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.memory_words import name_of
from pocketgpu.late_dataclass import dataclass

SPACES: Final = ("global", "shared", "local", "constant")
"""Spaces of memory, each with addresses of its own."""
MOST_CHANGED: Final = 64 << 20
"""Bytes of this computer's memory that changes may take."""
_RECORD: Final = 320
"""What a change takes besides its contents, roughly."""

MOST_TOUCHED: Final = 1 << 18
"""Accesses of all lanes that are kept."""

Bytes = NDArray[np.uint8]


class Touched(NamedTuple):
    """An access of some lane of the warp, at a tick. kind, space, address, size: as of `Access`."""

    tick: int
    lane: int
    kind: str
    space: str
    address: int
    size: int


@dataclass(eq=False)
class Piece:
    """Bytes that follow each other. title: what they are, such as "argument 0 (data)"; "" if nothing says it."""

    space: str
    address: int
    data: Bytes
    title: str = ""

    @property
    def end(self) -> int:
        return self.address + len(self.data)


@dataclass(eq=False, slots=True)
class _Changed:
    tick: int
    piece: Piece
    at: int
    old: bytes
    new: bytes


class TraceMemory:
    """Pieces of memory with their changes. asked: the ranges of global memory that were to be kept: what is in them and
    in no piece is not mapped. name: of the word at an address of a space. touched: accesses of all lanes of the warp,
    in order, the first MOST_TOUCHED."""

    def __init__(
        self, asked: tuple[tuple[int, int], ...] = (), name: Callable[[str, int], str] = name_of
    ) -> None:
        self.pieces: list[Piece] = []
        self.asked, self.name = asked, name
        self.touched: list[Touched] = []
        self._changes: list[_Changed] = []
        self._applied = self._bytes = 0
        self.until: int | None = None
        """The tick from which on changes were too many to be kept; None: all are there."""

    # -- recording ----------------------------------------------------------------------------------------------------
    def add(self, space: str, address: int, data: Bytes, title: str = "") -> Piece:
        """Add bytes as they are at the beginning."""
        piece = Piece(space, address, data, title)
        self.pieces.append(piece)
        return piece

    def change(self, tick: int, piece: Piece, at: int, new: bytes) -> None:
        """Bytes of a piece, from offset `at` on, are others from a tick on. Changes come in order."""
        if self.until is not None:
            return
        if self._bytes > MOST_CHANGED:
            self.until = tick
            return
        part = piece.data[at : at + len(new)]
        self._changes.append(_Changed(tick, piece, at, part.tobytes(), new))
        self._bytes += _RECORD + 2 * len(new)
        part[:] = np.frombuffer(new, np.uint8)
        self._applied = len(self._changes)

    # -- reading ------------------------------------------------------------------------------------------------------
    def _go(self, tick: int) -> None:
        """Apply changes, or take them back, up to a tick."""
        if self.until is not None and tick >= self.until:
            raise UsageError(
                "more of memory was changed before this place than is kept", hint="Look at an earlier step.",
            )  # fmt: skip
        changes = self._changes
        while self._applied < len(changes) and changes[self._applied].tick <= tick:
            self._put(changes[self._applied], back=False)
            self._applied += 1
        while self._applied and changes[self._applied - 1].tick > tick:
            self._applied -= 1
            self._put(changes[self._applied], back=True)

    @staticmethod
    def _put(one: _Changed, back: bool) -> None:
        found = one.old if back else one.new
        one.piece.data[one.at : one.at + len(found)] = np.frombuffer(found, np.uint8)

    def _near(self, space: str, address: int, size: int) -> Iterator[Piece]:
        """Pieces of a space that are not all before an address, in order."""
        end = address + size
        found = [one for one in self.pieces if one.space == space and one.end > address and one.address < end]
        yield from sorted(found, key=lambda one: one.address)

    def read(self, space: str, address: int, size: int, tick: int) -> tuple[bytes, int]:
        """The bytes from an address on, up to the first that cannot be read; and how many after those cannot be read.

        :raises UsageError: too much was changed before the tick.
        """
        self._go(tick)
        found, at, end = bytearray(), address, address + size
        for piece in self._near(space, address, size):
            if piece.address > at:
                return bytes(found), piece.address - at
            found += piece.data[at - piece.address : end - piece.address].tobytes()
            at = address + len(found)
        return bytes(found), end - at

    def has(self, space: str, address: int, size: int) -> bool:
        """Whether bytes are in pieces, or known not to be mapped."""
        if space != "global":
            return True
        at, end = address, address + size
        for start, length in sorted(self.asked):
            if start <= at < start + length:
                at = start + length
        return at >= end


__all__ = ["MOST_CHANGED", "SPACES", "Bytes", "Piece", "Touched", "TraceMemory"]
