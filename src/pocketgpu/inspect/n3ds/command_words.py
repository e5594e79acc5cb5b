"""Which words of a command list belong to which draw.

A list consists of entries: a parameter, a header, further parameters, padding to eight bytes. The words of a draw are
those of all entries after the previous draw, up to and including the entry that triggers it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pocketgpu.facts.list_entry import header_of, length_of
from pocketgpu.facts.pica import LIST_ALIGNMENT, PICA
from pocketgpu.inspect.model.event import Range, Words
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.memory.guest import GuestMemory

_DATA = frozenset(PICA[f"FIXEDATTRIB_DATA{i}"].offset for i in range(3))
_JUMPS = {PICA[f"CMDBUF_JUMP{n}"].offset: n for n in range(2)}
MOST_PIECES = 1024


@dataclass(frozen=True, eq=False)
class Piece:
    """A contiguous part of a list: physical address (None: not in guest memory), arena offset, words."""

    address: int | None
    offset: int
    words: NDArray[np.uint32]


class ListWords:
    """The words of one list, in the order in which they are read."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self.pieces = list(pieces)
        self._ends = np.cumsum([len(piece.words) for piece in self.pieces]).tolist()

    def words(self, first: int, end: int) -> Words:
        """Words first .. end-1, counted through all pieces."""
        spans, values, start = [], [], 0
        for piece, stop in zip(self.pieces, self._ends, strict=True):
            low, high = max(first, start), min(end, stop)
            if low < high:
                values.append(piece.words[low - start : high - start])
                if piece.address is not None:
                    spans.append(Range(piece.address + 4 * (low - start), 4 * (high - low)))
            start = stop
        return Words(tuple(spans), np.concatenate(values) if values else np.zeros(0, np.uint32))

    @property
    def size(self) -> int:
        """How many words there are."""
        return int(self._ends[-1]) if self._ends else 0

    def entry_end(self, offset: int, after: int = 0, immediate: bool = False) -> int:
        """The index of the word after the entry at an arena offset. immediate: skip the attribute data after it, too.

        after: the index to search from, as a piece that is read several times has the same offset each time. Returns
        `after` if no piece has the offset.
        """
        start = 0
        for piece, stop in zip(self.pieces, self._ends, strict=True):
            place = start + (offset - piece.offset) // 4
            if start <= place < stop and place >= after - 1:
                words, at = piece.words, place - start
                at = _entry_end(words, at)
                while immediate and at + 1 < len(words) and header_of(int(words[at + 1])).id in _DATA:
                    at = _entry_end(words, at)
                return start + min(at, len(words))
            start = stop
        return after


def registers_of(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """The id of the register that each word is written to; -1 for headers and padding. `words` begins with an entry."""
    found = np.full(len(words), -1)
    at = 0
    while at + 1 < len(words):
        end, header = _entry_end(words, at), header_of(int(words[at + 1]))
        extra = min(header.extra, len(words) - at - 2)
        found[at] = header.id
        found[at + 2 : at + 2 + extra] = header.id + header.step * np.arange(1, extra + 1)
        at = end
    return found


def _entry_end(words: NDArray[np.uint32], at: int) -> int:
    """The index of the word after the entry at `at`."""
    if at + 1 >= len(words):
        return len(words)
    return at + length_of(int(words[at + 1]))


def pieces_of(memory: GuestMemory, offset: int, size: int, jumps: int) -> list[Piece]:
    """Copies of the words that a list at an arena range executes, with its jumps. jumps: how many it took."""
    place = memory.address_of(offset)

    def copy(at: int, length: int) -> NDArray[np.uint32]:
        return memory.arena[at : at + length].view(np.uint32).copy()

    if not jumps:
        return [Piece(place, offset, copy(offset, size & ~3))]
    found: list[Piece] = []
    registers = np.zeros(0x10000, np.uint32)
    while len(found) < MOST_PIECES and jumps >= 0:
        words = copy(offset, size & ~3)
        end, target = _until_jump(words, registers)
        found.append(Piece(place, offset, words[:end]))
        if target is None:
            break
        address, size = target
        extent = memory.extent_of(address)
        if extent is None or extent[1] < size:
            break
        offset, place, jumps = extent[0], address, jumps - 1
    return found


def _until_jump(words: NDArray[np.uint32], registers: NDArray[np.uint32]) -> tuple[int, tuple[int, int] | None]:
    """(words read, (address, size) of the jump target); None instead of the target without a jump."""
    at, plain = 0, words.tolist()
    while at + 1 < len(plain):
        header = header_of(plain[at + 1])
        end = _entry_end(words, at)
        for i in range(min(header.extra, len(plain) - at - 2) + 1):
            number = header.id + i * header.step
            word = plain[at if i == 0 else at + 1 + i]
            registers[number & 0xFFFF] = word
            if number in _JUMPS and word:
                channel = _JUMPS[number]
                size, address = (PICA[f"CMDBUF_{name}{channel}"] for name in ("SIZE", "ADDR"))
                bytes_ = int(size["size"].decode(int(registers[size.offset]))) & -LIST_ALIGNMENT
                return end, (int(address["address"].decode(int(registers[address.offset]))) & -LIST_ALIGNMENT, bytes_)
        at = end
    return len(plain), None
