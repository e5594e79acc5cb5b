"""Recorded draws of a command list, for observers that read them before they run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.forced import ForcedWord
from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    GROUP,
    MAX_PACKETS,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    WorkLayout,
    words_of,
)
from pocketgpu.pica.front.plans import GROUP_IDS, GROUP_MASKS

_TRIANGLES = slice(PACKET.FIRST_TRIANGLE // 4, PACKET.LAST_TRIANGLE // 4 + 1)
assert _TRIANGLES.stop - _TRIANGLES.start == 2


class DrawPackets:
    """Consecutive recorded draws of one list; valid only during the call that passes them.

    start: number of the first of them among all recorded packets (as `WorkArea` counts packets).
    registers: (n, 0x300) uint32, a row per draw. kinds: (n,) KIND_ARRAYS, KIND_ELEMENTS or KIND_IMMEDIATE.
    immediate: (n,) attributes sent for immediate vertices. places: (n,) arena offset of the list entry that draws.
    triangles: (n, 2) after a draw ran, numbers of its triangle records: first, and one after the last.
    place: where in the capture ("f0").
    """

    def __init__(self, arena: NDArray[np.uint8], layout: WorkLayout, start: int, end: int, place: str) -> None:
        words = arena[layout.packets : layout.packets + MAX_PACKETS * PACKET_SIZE].view(np.int32)
        packets = words.reshape(MAX_PACKETS, -1)[start:end]
        self.start = start
        first = PACKET_REGISTERS // 4
        self.registers: NDArray[np.uint32] = packets[:, first:].view(np.uint32)
        self.kinds = packets[:, PACKET.KIND // 4]
        self.immediate = packets[:, PACKET.IMMEDIATE_COUNT // 4]
        self.places = packets[:, PACKET.AT // 4]
        self.triangles = packets[:, _TRIANGLES]
        self._versions = packets[:, PACKET.VERSIONS // 4 :]
        self._layout = layout
        self._arena = arena
        self.place = place

    def __len__(self) -> int:
        return len(self.registers)

    def __repr__(self) -> str:
        return f"<DrawPackets: {len(self)} draws of {self.place}>"

    def versions(self, bank: str) -> NDArray[np.int32]:
        """Arena offsets (n,) of the bank version (such as "vs_code") that each draw reads; equal if unchanged."""
        return self._versions[:, BANK_INDEX[bank]]

    def contents(self, offset: int, words: int) -> bytes:
        """`words` 32-bit words of a bank's version."""
        return self._arena[offset : offset + 4 * words].tobytes()

    def force(self, draw: int, word: ForcedWord) -> None:
        """Change a register of one of the draws, which has not run yet; the draws of its group that come later must be
        changed as well, or run after it."""
        self.registers[draw, word.register] = word.of(int(self.registers[draw, word.register]))
        number, layout = self.start + draw, self._layout
        groups = self._arena[layout.groups : layout.groups + MAX_PACKETS * GROUP.size].reshape(MAX_PACKETS, -1)
        spans = groups[:, GROUP.FIRST : GROUP.FIRST + 16].view(np.int64)
        (group,) = np.flatnonzero((spans[:, 0] <= number) & (number < spans[:, 1]))[:1]
        shared = groups.view(np.uint32)[group, GROUP.WORDS // 4 : GROUP.WORDS // 4 + len(GROUP_IDS)]
        shared[:] = self.registers[draw][GROUP_IDS] & GROUP_MASKS

    def seen(self, bank: str, draw: int) -> bytes:
        """All words of a bank (such as "vs_code") as one of the draws reads them."""
        return self.contents(int(self.versions(bank)[draw]), words_of(bank))


__all__ = ["DrawPackets"]
