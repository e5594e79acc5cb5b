"""Which guest memory was written, and which of it may still be in the processor's cache."""

from __future__ import annotations

import numpy as np

from pocketgpu.pica.memory.guest import GuestMemory

GRANULE = 16
"""Bytes with a common mark. A range that begins or ends inside of 16 bytes counts as all of them, to be safe."""


class WrittenMemory:
    """Two marks for each 16 bytes of the guest's memory. Offsets and sizes are those of the arena, in bytes."""

    def __init__(self, memory: GuestMemory) -> None:
        count = -(-memory.guest_end // GRANULE)
        self._written = np.zeros(count, bool)
        self._dirty = np.zeros(count, bool)

    @staticmethod
    def _part(offset: int, size: int) -> slice:
        return slice(offset // GRANULE, -(-(offset + size) // GRANULE))

    def write(self, offset: int, size: int, by_processor: bool = False) -> None:
        """Mark bytes as written. Those that the processor writes are in its cache until `flush`."""
        part = self._part(offset, size)
        self._written[part] = True
        self._dirty[part] = by_processor

    def flush(self, offset: int, size: int) -> None:
        """Mark bytes as written back from the processor's cache."""
        self._dirty[self._part(offset, size)] = False

    def missing(self, offset: int, size: int) -> int:
        """How many bytes of a range nothing has written."""
        part = self._written[self._part(offset, size)]
        return min((len(part) - int(np.count_nonzero(part))) * GRANULE, size)

    def stale(self, offset: int, size: int) -> int:
        """How many bytes of a range were not written back since the processor wrote them."""
        return min(int(np.count_nonzero(self._dirty[self._part(offset, size)])) * GRANULE, size)


__all__ = ["GRANULE", "WrittenMemory"]
