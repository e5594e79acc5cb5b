"""Recorded draws of a command list, for observers that read them before they run."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pocketgpu.pica.core.layout import (
    BANK_INDEX,
    MAX_PACKETS,
    PACKET,
    PACKET_REGISTERS,
    PACKET_SIZE,
    WorkLayout,
    words_of,
)

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

    def seen(self, bank: str, draw: int) -> bytes:
        """All words of a bank (such as "vs_code") as one of the draws reads them."""
        return self.contents(int(self.versions(bank)[draw]), words_of(bank))


__all__ = ["DrawPackets"]
