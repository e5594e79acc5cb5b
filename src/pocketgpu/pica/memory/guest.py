"""Guest memory: every byte that a guest can own, in one arena of the host.

Only this module handles host pointers and unchecked guest addresses. Native code gets one base address and offsets into
it; Python code gets checked reads and writes. Caches of decoded textures, vertices and shader programs compare page
versions to find out whether their source has changed.

Layout of the arena, lowest offset first (all boundaries are multiples of 4096):

=============  ======================================================================================
zero page      4096 bytes that are never written: masked-off lanes may read here
guard          nearly 18 MiB that are never written: reads of unmapped addresses read here; after it video memory is
               at a large page of the host
regions        the memory regions of ``facts.memory_map.MEMORY``, in order of physical address
tail guard     64 KiB: room for the whole vector of a lane that starts inside the last region
work           host scratch, never visible to the guest and never part of a snapshot
=============  ======================================================================================

Page versions, snapshots and the rules for writers are those of :mod:`pocketgpu.arena`.
"""

from __future__ import annotations

from dataclasses import replace

from pocketgpu.arena import ARENA_LIMIT, BLOCK, PAGE_SHIFT, PAGE_SIZE, Arena, Buffer, Bytes, Snapshot, flat
from pocketgpu.displayed import line_of
from pocketgpu.errors import GuestMemoryError, UsageError
from pocketgpu.facts.memory_map import FCRAM, MEMORY, MIB, Region

__all__ = ["ARENA_LIMIT", "GUARD_SIZE", "MIB", "PAGE_SHIFT", "PAGE_SIZE", "Buffer", "Bytes", "GuestMemory", "Snapshot"]

GUARD_SIZE = 18 * MIB - PAGE_SIZE
TAIL_GUARD_SIZE = 64 * 1024


class GuestMemory(Arena):
    """The physical memory of a 3DS and a scratch area, in one anonymous mapping that uses no pages until they are
    touched.

    :param fcram_size: bytes of FCRAM: 128 MiB, or 256 MiB for the new model.
    :param work_size: bytes of host scratch after the guest's memory.
    :raises UsageError: a size is not a positive multiple of 4096, or the arena would reach 2 GiB.
    """

    def __init__(self, fcram_size: int = 128 * MIB, work_size: int = 256 * MIB) -> None:
        for name, size in (("fcram_size", fcram_size), ("work_size", work_size)):
            if size <= 0 or size % PAGE_SIZE:
                raise UsageError(f"{name} must be a positive multiple of {PAGE_SIZE}, not {size}")
        self.guard_offset = PAGE_SIZE
        offset = self.guard_offset + GUARD_SIZE
        self.regions: list[tuple[Region, int]] = []
        for region in MEMORY:
            if region is FCRAM:
                region = replace(region, size=fcram_size)
            self.regions.append((region, offset))
            offset += region.size
        super().__init__(offset, offset + TAIL_GUARD_SIZE, work_size)
        # FCRAM first: nearly all addresses are in it.
        self._spans = tuple((region.base, region.base + region.size, start) for region, start in reversed(self.regions))

    def __repr__(self) -> str:
        regions = [f"{region.name} {region.base:#010x}+{region.size:#x}" for region, _ in self.regions]
        return line_of(self, ", ".join(regions))

    # Addresses

    def offset_of(self, pa: int, size: int) -> int | None:
        """Arena offset of the physical range, or None unless all of it is in one region."""
        if size < 0:
            return None
        for base, end, start in self._spans:
            if base <= pa < end:
                return start + (pa - base) if pa + size <= end else None
        return None

    def extent_of(self, pa: int) -> tuple[int, int] | None:
        """Arena offset of a physical address and the bytes from there to the end of its region; None if unmapped."""
        for base, end, start in self._spans:
            if base <= pa < end:
                return start + (pa - base), end - pa
        return None

    def address_of(self, offset: int) -> int | None:
        """Physical address of an arena offset, None outside the guest's regions (for messages and inspection)."""
        for base, end, start in self._spans:
            if start <= offset < start + (end - base):
                return base + (offset - start)
        return None

    def _require(self, pa: int, size: int) -> int:
        offset = self.offset_of(pa, size)
        if offset is None:
            raise GuestMemoryError(pa, size)
        return offset

    # Contents

    def read(self, pa: int, size: int) -> bytes:
        """A copy of `size` bytes from physical address `pa`.

        :raises GuestMemoryError: the range is not in one region.
        """
        offset = self._require(pa, size)
        return self._map[offset : offset + size]

    def view(self, pa: int, size: int) -> Bytes:
        """A writable uint8 array over guest memory. Call :meth:`touch` after writing through it.

        :raises GuestMemoryError: the range is not in one region.
        """
        offset = self._require(pa, size)
        return self.arena[offset : offset + size]

    def differs(self, pa: int, data: Buffer) -> bool:
        """Whether :meth:`write` of `data` would change anything; if not, a caller can skip the flush before a load.

        :raises GuestMemoryError: the range is not in one region.
        """
        source = flat(data)
        offset = self._require(pa, len(source))
        blocks = ((at, source[at : at + BLOCK]) for at in range(0, len(source), BLOCK))
        return any(self._map[offset + at : offset + at + len(block)] != block for at, block in blocks)

    def write(self, pa: int, data: Buffer) -> bool:
        """Store `data` at `pa`; pages that already hold these bytes are not written and keep their version.

        :returns: whether any byte changed.
        :raises GuestMemoryError: the range is not in one region; nothing is written then.
        """
        source = flat(data)
        return self.store(self._require(pa, len(source)), source)

    # Reset

    def reset(self, keep_pages: bool = False) -> None:
        """Clear all guest memory; its pages are returned to the system where possible, unless keep_pages.

        The work area is unchanged. Pages that were in use get a new version; older snapshots stay valid.
        """
        self._clear(0, keep_pages)
