"""The memory of a warp while it is recorded: read at its beginning, and compared after whatever can change it.

Global memory is kept where it was asked for; shared memory of the block, local memory of the lane and constant banks
always. Stores of the warp are found where they went to. What other warps change meanwhile is found when the warp's next
turn begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE
from pocketgpu.errors import UsageError
from pocketgpu.inspect.stepping.company import Range
from pocketgpu.inspect.stepping.memory_words import BANK_SHIFT, WORD, MemoryWord
from pocketgpu.inspect.stepping.trace_memory import Bytes, Piece, TraceMemory
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sass.thread_memory import access
from pocketgpu.maxwell.sass.thread_memory.work import BANK_SIZE, BANKS, LANES, LAUNCH, SCRATCH, VECTOR

CHUNK: Final = 16
"""Bytes that are compared at a place of a store: an access has no more, and lies within such a piece."""
MOST_KEPT: Final = 64 << 20
"""Bytes of global memory that are kept."""
_GLOBAL = ("ST", "ATOM", "RED")
"""Operations that can store to global memory at addresses in scratch."""
_SHARED = ("ST", "STS", "ATOMS", "ATOM", "RED")
_LOCAL = ("ST", "STL")
_SURFACES = "SU"
"""How operations on surfaces begin, which store where no address says."""


@dataclass(eq=False)
class _Live:
    """A piece and the place of its bytes in the arena, as words or bytes."""

    piece: Piece
    view: NDArray[Any]

    def now(self) -> Bytes:
        return np.ascontiguousarray(self.view).view(np.uint8)


class WarpMemory:
    """Where the memory of one lane of a warp is in the arena, and its record.

    :param memory: of the machine. words: its arena. where: launch record, slot (arena offsets), warp, lane.
    """

    def __init__(self, memory: GpuMemory, words: NDArray[np.uint32], where: tuple[int, int, int, int]) -> None:
        self.memory, self.words, self.bytes = memory, words, words.view(np.uint8)
        self.launch, self.slot, self.warp, self.lane = where
        self.record: TraceMemory | None = None
        self._global: list[_Live] = []
        self._others: dict[str, list[_Live]] = {}
        self._version = 0
        self._undo: list[tuple[int, int]] = []

    def _of_launch(self, word: int) -> int:
        return int(self.words[(self.launch + word) // 4])

    # -- places -------------------------------------------------------------------------------------------------------
    def _shared(self) -> NDArray[Any]:
        start = self.slot + self._of_launch(LAUNCH.SHARED_AT)
        return self.bytes[start : start + self._of_launch(LAUNCH.SHARED_SIZE)]

    def _local(self) -> NDArray[Any]:
        start = self.slot + self._of_launch(LAUNCH.LOCAL_AT) + self.warp * self._of_launch(LAUNCH.LOCAL_STRIDE)
        count = -(-self._of_launch(LAUNCH.LOCAL_SIZE) // WORD)
        return self.words[start // 4 : start // 4 + count * LANES].reshape(count, LANES)[:, self.lane]

    def _bank(self, bank: int) -> NDArray[Any]:
        start = self._of_launch(LAUNCH.CONSTANTS) + bank * BANK_SIZE
        return self.bytes[start : start + BANK_SIZE]

    def _place(self, word: MemoryWord, lane: int) -> int | None:
        """The index of a word in the arena, as a lane sees it; None if it is not mapped."""
        space, address = word
        if address % WORD:
            return None
        if space == "global":
            offset = self.memory.offset_of(address, WORD)
            return None if offset is None else offset // 4
        if space == "constant":
            fits = address >> BANK_SHIFT < BANKS
            return (self._of_launch(LAUNCH.CONSTANTS) + address) // 4 if fits else None
        size = self._of_launch(LAUNCH.SHARED_SIZE if space == "shared" else LAUNCH.LOCAL_SIZE)
        if address + WORD > size:
            return None
        if space == "shared":
            return (self.slot + self._of_launch(LAUNCH.SHARED_AT) + address) // 4
        local = self.slot + self._of_launch(LAUNCH.LOCAL_AT) + self.warp * self._of_launch(LAUNCH.LOCAL_STRIDE)
        return local // 4 + address // WORD * LANES + lane

    # -- what-if ------------------------------------------------------------------------------------------------------
    def force(self, word: MemoryWord, value: int, tick: int, lane: int) -> None:
        """Give a word of memory, as a lane sees it, another value, right before tick `tick`.

        :raises UsageError: nothing is there.
        """
        place = self._place(word, lane)
        if place is None:
            raise UsageError(f"no word of {word.space} memory is at {word.address:#x}")
        if word.space == "constant":  # the machine may keep the banks for later launches
            self._undo.append((place, int(self.words[place])))
        self.words[place] = value
        if word.space == "global":
            self.memory.page_versions[place * 4 >> PAGE_SHIFT] = self.memory.version
        if self.record is None or (word.space == "local" and lane != self.lane):
            return
        for live in (*self._global, *self._others.get(word.space, ())):
            at = word.address - live.piece.address
            if live.piece.space == word.space and 0 <= at <= len(live.piece.data) - WORD:
                self.record.change(tick, live.piece, at, value.to_bytes(WORD, "little"))

    def restore(self) -> None:
        """Undo what later launches would see otherwise."""
        for place, value in reversed(self._undo):
            self.words[place] = value
        self._undo.clear()

    # -- recording ----------------------------------------------------------------------------------------------------
    def keep(self, named: Sequence[tuple[int, int, str]], asked: Sequence[Range]) -> TraceMemory:
        """Begin to record what is mapped of some global memory, up to MOST_KEPT bytes.

        named: (address, bytes, title), of which as much is kept as the others leave room for.
        """
        room = MOST_KEPT - sum(size for _, size in asked)
        parts = _apart([], named, room)
        parts = _apart(parts, [(address, size, "") for address, size in asked], MOST_KEPT)
        record = self.record = TraceMemory(tuple((address, size) for address, size, _ in parts))
        self._version = self.memory.version
        for address, size, title in parts:
            for start, offset, length in self.memory.reached(address, size):
                view = self.bytes[offset : offset + length]
                self._global.append(_Live(record.add("global", start, view.copy(), title), view))
        banks = [(bank, view) for bank in range(BANKS) if (view := self._bank(bank)).any() or bank == 0]
        others = [
            ("shared", 0, self._shared(), "shared memory"), ("local", 0, self._local(), "local memory"),
            *(("constant", bank << BANK_SHIFT, view, f"constant bank {bank}") for bank, view in banks),
        ]  # fmt: skip
        for space, address, view, title in others:
            if len(view):
                live = _Live(record.add(space, address, np.empty(0, np.uint8), title), view)
                live.piece.data = live.now().copy()
                self._others.setdefault(space, []).append(live)
        return record

    def turn(self, tick: int) -> None:
        """A turn of the warp begins at a tick: others may have run."""
        self._compare_pages(tick)
        self._compare("shared", tick)

    def after(self, op: str, tick: int) -> None:
        """The warp has run an instruction; what it changed is there from `tick` on."""
        if op.startswith(_SURFACES):
            self._compare_pages(tick)
        if op in _LOCAL:
            self._compare("local", tick)
        if op in _SHARED:
            self._compare("shared", tick)
        if op in _GLOBAL:
            self._compare_places(tick)

    def _compare(self, space: str, tick: int) -> None:
        for live in self._others.get(space, ()):
            self._take(live.piece, 0, live.now(), tick)

    def _compare_pages(self, tick: int) -> None:
        """Compare the pages that were written since the launch began."""
        for live in self._global:
            offset = self._offset(live.view)
            first, last = offset >> PAGE_SHIFT, (offset + len(live.view) - 1) >> PAGE_SHIFT
            written = np.flatnonzero(self.memory.page_versions[first : last + 1] >= self._version) + first
            for page in written.tolist():
                start = max((page << PAGE_SHIFT) - offset, 0)
                end = min((page << PAGE_SHIFT) + PAGE_SIZE - offset, len(live.view))
                self._take(live.piece, start, live.view[start:end], tick)

    def _compare_places(self, tick: int) -> None:
        """Compare where the lanes have stored to."""
        first = (self.slot + SCRATCH) // 4
        low, high = (
            self.words[first + vector * VECTOR // 4 :][:LANES].astype(np.int64) for vector in (access.LOW, access.HIGH)
        )
        addresses = np.unique((low | high << 32) & -CHUNK)
        for live in self._global:
            size = len(live.view)
            inside = addresses[(addresses > live.piece.address - CHUNK) & (addresses < live.piece.end)]
            if not len(inside):
                continue
            starts = np.clip(inside - live.piece.address, 0, max(size - CHUNK, 0))
            for start in self._different(live, starts):
                self._take(live.piece, start, live.view[start : start + CHUNK], tick)

    @staticmethod
    def _different(live: _Live, starts: NDArray[np.int64]) -> list[int]:
        """The pieces that are no longer as they are in the record."""
        if len(live.view) < CHUNK:
            return [0]
        places = starts[:, None] + np.arange(CHUNK)
        found: list[int] = starts[(live.view[places] != live.piece.data[places]).any(1)].tolist()
        return found

    def _take(self, piece: Piece, start: int, now: Bytes, tick: int) -> None:
        """Note what differs in a part of a piece."""
        assert self.record is not None
        differing = np.flatnonzero(piece.data[start : start + len(now)] != now)
        if len(differing):
            first, last = int(differing[0]), int(differing[-1]) + 1
            self.record.change(tick, piece, start + first, now[first:last].tobytes())

    def _offset(self, view: NDArray[Any]) -> int:
        """The arena offset of a part of it."""
        start: int = view.__array_interface__["data"][0]
        return start - int(self.bytes.__array_interface__["data"][0])


def _apart(
    known: list[tuple[int, int, str]], ranges: Sequence[tuple[int, int, str]], room: int
) -> list[tuple[int, int, str]]:
    """Ranges with those that are known, without what is in earlier ones, up to some bytes of them."""
    found = [*known]
    for start, size, title in ranges:
        parts = [(start, start + size)]
        for other, length, _ in found:
            parts = [
                one for first, last in parts
                for one in ((first, min(last, other)), (max(first, other + length), last)) if one[0] < one[1]
            ]  # fmt: skip
        for first, last in parts:
            kept = min(last - first, max(room, 0))
            room -= kept
            if kept:
                found.append((first, kept, title))
    return found


__all__ = ["MOST_KEPT", "WarpMemory"]
