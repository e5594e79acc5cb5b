"""The memory of a GM20B: physical bytes in one arena, and the 40-bit virtual address space of the GPU.

Bytes are in *backings* (what a driver allocates and names by a handle). A *mapping* maps a range of a backing to a GPU
virtual address, with a *kind*; any number of mappings can show the same bytes. Where mappings overlap the newest
counts, and the older ones are visible again when it is unmapped.

Python looks up a sorted list of extents, kernels the page table (`page_table.py`); only this module changes them.
Source: the public class headers and libnx for the address space and kinds. The chip's own page table belongs to the
driver and is not modelled.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import NamedTuple, Protocol

import numpy as np

from pocketgpu.arena import PAGE_SHIFT, PAGE_SIZE, Arena, Buffer, Bytes, flat
from pocketgpu.displayed import line_of
from pocketgpu.errors import GuestMemoryError, UsageError
from pocketgpu.facts.maxwell import page_kinds
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory import page_table
from pocketgpu.maxwell.memory.page_table import ADDRESS_SPACE, TABLE_SHIFT, TABLE_SIZE, TABLE_WORDS
from pocketgpu.maxwell.memory.runs import Runs
from pocketgpu.wording import counted

MIB = 1 << 20
TAIL_GUARD_SIZE = 64 * 1024
DEFAULT_CAPACITY = 1 << 30
#: Unmapping may have to look at every mapping, so their number is limited to several times what programs have.
MAX_MAPPINGS = 1 << 15
#: The largest single read or write.
MAX_ACCESS = 1 << 31


def _kind_number(kind: str | int) -> int:
    try:
        return page_kinds.kind_number(kind)
    except ValueError as error:
        names = ", ".join(page_kinds.KINDS)
        raise UsageError(str(error), hint=f"Kinds are 0..{page_kinds.HIGHEST} or {names}.") from None


@dataclass(frozen=True, slots=True)
class Backing:
    """Bytes of physical memory: `size` of them at `offset` of the arena, both multiples of 4096."""

    id: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Mapping:
    """`size` bytes of a backing from its byte `offset`, mapped to `address`; numbered in the order of mapping."""

    number: int
    address: int
    size: int
    backing: Backing
    offset: int
    kind: int
    #: Whether it covered other mappings when it was made.
    covers: bool = False

    @property
    def end(self) -> int:
        return self.address + self.size


class _Extent(NamedTuple):
    """A range of addresses that shows one stretch of the arena through one mapping."""

    start: int
    end: int
    offset: int
    mapping: Mapping


class _MappingState(NamedTuple):
    """The part of a snapshot that is not the bytes."""

    backings: tuple[Backing, ...]
    free: tuple[tuple[int, int], ...]
    top: int
    mappings: tuple[Mapping, ...]
    extents: tuple[_Extent, ...]
    reach: dict[int, int]


class PartlyReadable(Protocol):
    """Memory that is only partly mapped."""

    def try_read(self, va: int, size: int, /) -> tuple[bytes, int]:
        """See `GpuMemory.try_read`."""
        ...


class GpuMemory(Arena):
    """Backings, mappings and their bytes.

    :param work_size: bytes of host scratch after the guest's memory.
    :param capacity: bytes of all backings together. Costs nothing until touched.
    :raises UsageError: a size is not a positive multiple of 4096, or the arena would reach 2 GiB.
    """

    def __init__(self, work_size: int = 64 * MIB, capacity: int = DEFAULT_CAPACITY) -> None:
        for name, size in (("work_size", work_size), ("capacity", capacity)):
            if size <= 0 or size % PAGE_SIZE:
                raise UsageError(f"{name} must be a positive multiple of {PAGE_SIZE}, not {size}")
        self.capacity = capacity
        end = page_table.PHYSICAL + capacity
        self._backings: dict[int, Backing] = {}
        self._free: list[tuple[int, int]] = []  # (offset, size), by offset, never adjacent
        self._top = page_table.PHYSICAL
        self._numbers = 0
        self._mappings: dict[int, Mapping] = {}
        self._extents: list[_Extent] = []
        self._starts: list[int] = []
        self._reach: dict[int, int] = {}
        """Mappings by number of which threads of programs do not reach all bytes, and how many they reach."""
        self._spare_tables: list[int] = []
        #: How often the mapping of addresses has changed: caches of their offsets compare it.
        self.map_changes = 0
        self._tables_top = page_table.TABLES
        super().__init__(end, end + TAIL_GUARD_SIZE, work_size)
        # In the arena, where kernels can write it; a fresh arena is zero, too.
        self.page_versions = self.arena[page_table.VERSIONS :][: 4 * (end >> PAGE_SHIFT)].view(np.uint32)
        self._open = self.arena[page_table.VERSION :][:4].view(np.uint32).data
        self._root = self.arena[page_table.ROOT :][:TABLE_SIZE].view(np.uint32)
        self._runs = Runs(self.arena)
        self._books = self.arena[page_table.BOOKS :][:64].view(np.int64)

    def __repr__(self) -> str:
        return line_of(self, f"{counted(len(self._mappings), 'mapping')}, {counted(len(self._backings), 'backing')}")

    # Physical memory

    def allocate(self, size: int) -> Backing:
        """New physical memory, all zero, of `size` bytes rounded up to whole pages.

        :raises UsageError: the size is not positive or the capacity is used up.
        """
        if size <= 0:
            raise UsageError(f"no memory has {size} bytes")
        size += -size % PAGE_SIZE
        for i, (offset, space) in enumerate(self._free):
            if space >= size:
                self._free[i : i + 1] = [(offset + size, space - size)] if space > size else []
                break
        else:
            offset = self._top
            if offset + size > self.guest_end:
                left = self.guest_end - offset
                raise UsageError(f"{size} bytes more than the {self.capacity} of this GPU's memory ({left} are left)")
            self._top += size
        self._numbers += 1
        self.prefer_large_pages(offset, size)
        backing = self._backings[self._numbers] = Backing(self._numbers, offset, size)
        return backing

    def release(self, backing: Backing) -> None:
        """Free a backing; its bytes are zero when they are allocated again.

        :raises UsageError: it is not one of this memory's, or something still maps it.
        """
        if self._backings.get(backing.id) is not backing:
            raise UsageError(f"backing {backing.id} is none of this memory's")
        if any(m.backing is backing for m in self._mappings.values()):
            raise UsageError(f"backing {backing.id} is still mapped")
        del self._backings[backing.id]
        self.arena[backing.offset : backing.offset + backing.size] = 0
        self.touch(backing.offset, backing.size)
        self._free.append((backing.offset, backing.size))
        merged: list[tuple[int, int]] = []
        for offset, size in sorted(self._free):
            if merged and sum(merged[-1]) == offset:
                merged[-1] = (merged[-1][0], merged[-1][1] + size)
            else:
                merged.append((offset, size))
        if merged and sum(merged[-1]) == self._top:
            self._top = merged.pop()[0]
        self._free = merged

    @property
    def backings(self) -> list[Backing]:
        """All backings in the order in which they were allocated."""
        return list(self._backings.values())

    # The address space

    @property
    def mappings(self) -> list[Mapping]:
        """All mappings in the order in which they were made: where they overlap the newest counts."""
        return list(self._mappings.values())

    def map(
        self, gpu_va: int, size: int, backing: Backing | None = None, offset: int = 0, kind: str | int = "pitch"
    ) -> Mapping:
        """Map `size` bytes of a backing, from its byte `offset`, to `gpu_va`; without a backing, of a new one.

        The size is rounded up to whole pages of 4096 bytes. Older mappings there are covered until this one is
        unmapped.

        :param kind: a page kind by number or name (`facts.maxwell.page_kinds`, "kind_0xNN").
        :raises UsageError: an address or offset is no multiple of 4096, the range leaves the 40-bit address space or
            the backing, the kind is unknown, or memory or mappings are used up.
        """
        size += -size % PAGE_SIZE
        if size <= 0 or gpu_va < 0 or gpu_va + size > ADDRESS_SPACE:
            raise UsageError(f"no {size} bytes at {gpu_va:#x} in a 40-bit address space")
        if (gpu_va | offset) % PAGE_SIZE:
            raise UsageError(f"mapping {gpu_va:#x}, offset {offset:#x}: pages have {PAGE_SIZE} bytes")
        number = _kind_number(kind)
        if len(self._mappings) >= MAX_MAPPINGS:
            raise UsageError(f"more than {MAX_MAPPINGS} mappings")
        if backing is not None:
            if self._backings.get(backing.id) is not backing:
                raise UsageError(f"backing {backing.id} is none of this memory's")
            if offset < 0 or offset + size > backing.size:
                raise UsageError(f"bytes {offset:#x}..{offset + size:#x} of a backing of {backing.size:#x} bytes")
        elif offset:
            raise UsageError("an offset without a backing")
        self._need_tables(gpu_va, size)
        try:
            fresh = backing or self.allocate(size)
        except UsageError:
            self._drop_tables(gpu_va, size)
            raise
        self._numbers += 1
        mapping = Mapping(self._numbers, gpu_va, size, fresh, offset, number, bool(self._overlapping(gpu_va, size)))
        self._mappings[mapping.number] = mapping
        self._show(mapping, gpu_va, gpu_va + size)
        return mapping

    def unmap(self, mapping: Mapping | int) -> None:
        """Remove a mapping (by address: the newest that begins there); what it covered is visible again.

        :raises UsageError: there is no such mapping.
        """
        found = self._find(mapping)
        del self._mappings[found.number]
        self._reach.pop(found.number, None)
        shown = [e for e in self._overlapping(found.address, found.size) if e.mapping is found]
        covered = [m for m in self._mappings.values() if found.covers and m.number < found.number]
        for extent in shown:
            self._hide(extent.start, extent.end)
            for other in covered:
                start, end = max(extent.start, other.address), min(extent.end, other.end)
                if start < end:
                    self._show(other, start, end)
        self._drop_tables(found.address, found.size)

    def set_kind(self, mapping: Mapping | int, kind: str | int) -> Mapping:
        """Change the kind of a mapping; returns the changed mapping.

        :raises UsageError: there is no such mapping or kind.
        """
        found = self._find(mapping)
        changed = replace(found, kind=_kind_number(kind))
        self.map_changes += 1
        self._mappings[found.number] = changed
        for i, extent in enumerate(self._extents):
            if extent.mapping is found:
                self._extents[i] = extent._replace(mapping=changed)
        return changed

    def close_after(self, mapping: Mapping, size: int) -> None:
        """Let threads of programs reach only the first `size` bytes through a mapping: what lies after is a fault.

        The host still reaches all of it. A program's stray access in a page with an end is found by the byte.

        :raises UsageError: there is no such mapping.
        """
        found = self._find(mapping)
        self._reach[found.number] = max(0, min(size, found.size))
        for extent in self._overlapping(found.address, found.size):
            if extent.mapping is found:
                self._enter(extent)

    def mapping_at(self, gpu_va: int) -> Mapping | None:
        """The mapping that counts at an address."""
        extent = self._extent(gpu_va)
        return extent.mapping if extent else None

    def _find(self, mapping: Mapping | int) -> Mapping:
        if isinstance(mapping, int):
            known = [m for m in self._mappings.values() if m.address == mapping]
            if not known:
                raise UsageError(f"nothing is mapped from {mapping:#x} on")
            return known[-1]
        found = self._mappings.get(mapping.number)
        if found is not mapping:
            raise UsageError(f"mapping {mapping.number} at {mapping.address:#x} is gone")
        return found

    def _extent(self, va: int) -> _Extent | None:
        i = bisect_right(self._starts, va) - 1
        if i >= 0 and va < self._extents[i].end:
            return self._extents[i]
        return None

    def _overlapping(self, va: int, size: int) -> list[_Extent]:
        first = bisect_right(self._starts, va) - 1
        if first < 0 or self._extents[first].end <= va:
            first += 1
        return self._extents[first : bisect_right(self._starts, va + size - 1)]

    def _show(self, mapping: Mapping, start: int, end: int) -> None:
        """Make a part of a mapping the one that counts at its addresses."""
        self._hide(start, end)
        offset = mapping.backing.offset + mapping.offset + start - mapping.address
        at = bisect_right(self._starts, start)
        extent = _Extent(start, end, offset, mapping)
        self._extents.insert(at, extent)
        self._starts.insert(at, start)
        self.map_changes += 1
        self._enter(extent)

    def _hide(self, start: int, end: int) -> None:
        """Make a range unmapped."""
        cut = self._overlapping(start, end - start)
        if not cut:
            return
        first = bisect_right(self._starts, cut[0].start) - 1
        left: list[_Extent] = []
        if cut[0].start < start:
            left.append(cut[0]._replace(end=start))
        if cut[-1].end > end:
            left.append(cut[-1]._replace(start=end, offset=cut[-1].offset + end - cut[-1].start))
        self._extents[first : first + len(cut)] = left
        self._starts[first : first + len(cut)] = [e.start for e in left]
        self.map_changes += 1
        self._fill(start, end, 0, 0)

    # The page table

    def _enter(self, extent: _Extent) -> None:
        """Write an extent's words into the lower tables."""
        self._fill(extent.start, extent.end, extent.offset, PAGE_SIZE)
        mapping = extent.mapping
        reach = self._reach.get(mapping.number, mapping.size)
        if reach == mapping.size:
            return
        end = mapping.address + reach
        page, rest = end & -PAGE_SIZE, end % PAGE_SIZE
        if rest and extent.start <= page < extent.end:
            self._fill(page, page + PAGE_SIZE, extent.offset + page - extent.start + PAGE_SIZE - rest, 0)
        closed = max(extent.start, page + PAGE_SIZE if rest else page)
        if closed < extent.end:
            self._fill(closed, extent.end, 0, 0)

    def _fill(self, start: int, end: int, word: int, step: int) -> None:
        """Write words into the lower tables: `word` for the first page, increasing by `step` for each further page."""
        self._runs.forget()
        for at in range(start >> TABLE_SHIFT, ((end - 1) >> TABLE_SHIFT) + 1):
            table = int(self._root[at])
            if table == 0:
                continue
            low, high = max(start, at << TABLE_SHIFT), min(end, (at + 1) << TABLE_SHIFT)
            first, count = (low >> PAGE_SHIFT) & (TABLE_WORDS - 1), (high - low) >> PAGE_SHIFT
            words = self.arena[table : table + TABLE_SIZE].view(np.uint32)
            if step:
                begin = word + ((low - start) >> PAGE_SHIFT) * step
                words[first : first + count] = np.arange(begin, begin + count * step, step, dtype=np.uint32)
            else:
                words[first : first + count] = word

    def _need_tables(self, va: int, size: int) -> None:
        """Allocate lower tables for a range, or raise before anything is changed."""
        first, last = va >> TABLE_SHIFT, (va + size - 1) >> TABLE_SHIFT
        missing = (np.flatnonzero(self._root[first : last + 1] == 0) + first).tolist()
        fresh = len(missing) - len(self._spare_tables)
        if fresh > 0 and self._tables_top + fresh * TABLE_SIZE > page_table.PHYSICAL:
            raise UsageError(f"mapping {va:#x}: addresses are too far apart for {page_table.MAX_TABLES} page tables")
        for at in missing:
            if self._spare_tables:
                self._root[at] = self._spare_tables.pop()
            else:
                self._root[at] = self._tables_top
                self._tables_top += TABLE_SIZE

    def _drop_tables(self, va: int, size: int) -> None:
        """Free the lower tables of a range where nothing is mapped any more; they are all zero then."""
        for at in range(va >> TABLE_SHIFT, ((va + size - 1) >> TABLE_SHIFT) + 1):
            if self._root[at] and not self._overlapping(at << TABLE_SHIFT, 1 << TABLE_SHIFT):
                self._spare_tables.append(int(self._root[at]))
                self._root[at] = 0

    # Addresses

    def offset_of(self, va: int, size: int) -> int | None:
        """Arena offset of a range, or None unless it is completely mapped and contiguous in the arena."""
        extent = self._extent(va)
        if extent is None or size < 0:
            return None
        if va + size <= extent.end:
            return extent.offset + va - extent.start
        spans = self.spans(va, size)
        return spans[0][0] if len(spans) == 1 else None

    def spans(self, va: int, size: int) -> list[tuple[int | None, int]]:
        """The pieces of a range in order, as (arena offset, bytes); the offset is None where nothing is mapped."""
        pieces: list[tuple[int | None, int]] = []
        end, at = va + size, va
        for extent in self._overlapping(va, size) if size > 0 else ():
            if extent.start > at:
                pieces.append((None, extent.start - at))
                at = extent.start
            stop = min(end, extent.end)
            offset, length = extent.offset + at - extent.start, stop - at
            before, long = pieces[-1] if pieces else (None, 0)
            if before is not None and before + long == offset:
                pieces[-1] = (before, long + length)
            else:
                pieces.append((offset, length))
            at = stop
        if at < end:
            pieces.append((None, end - at))
        return pieces

    def reached(self, va: int, size: int) -> list[tuple[int, int, int]]:
        """The parts of a range that threads of programs reach, in order, as (address, arena offset, bytes)."""
        found = []
        for extent in self._overlapping(va, size) if size > 0 else ():
            mapping = extent.mapping
            start = max(va, extent.start)
            end = min(va + size, extent.end, mapping.address + self._reach.get(mapping.number, mapping.size))
            if start < end:
                found.append((start, extent.offset + start - extent.start, end - start))
        return found

    def unmapped(self, va: int, size: int) -> list[tuple[int, int]]:
        """The holes of a range, as (address, bytes)."""
        holes, at = [], va
        for offset, length in self.spans(va, size):
            if offset is None:
                holes.append((at, length))
            at += length
        return holes

    def addresses_of(self, offset: int) -> list[int]:
        """Every address that shows a byte of the arena, lowest first (for messages and inspection)."""
        return [e.start + offset - e.offset for e in self._extents if e.offset <= offset < e.offset + e.end - e.start]

    # Contents

    def read(self, va: int, size: int) -> bytes:
        """A copy of `size` bytes from address `va`.

        :raises GuestMemoryError: not all of it is mapped.
        """
        offset = self.offset_of(va, size)
        if offset is not None:
            return self._map[offset : offset + size]
        data, missed = self.try_read(va, size)
        if missed:
            raise self._hole(va, size)
        return data

    def write(self, va: int, data: Buffer) -> bool:
        """Store `data` at `va`; pages that already contain these bytes are neither written nor stamped.

        :returns: whether any byte changed.
        :raises GuestMemoryError: not all of the range is mapped; nothing is written then.
        """
        source = flat(data)
        offset = self.offset_of(va, len(source))
        if offset is not None:
            return self.store(offset, source)
        if self.unmapped(va, len(source)):
            raise self._hole(va, len(source))
        return self._store_spans(va, source)[0]

    def try_read(self, va: int, size: int) -> tuple[bytes, int]:
        """`size` bytes from `va`, zero where nothing is mapped, and the number of unmapped bytes.

        :raises GuestMemoryError: the range has more than 2^31 bytes.
        """
        if not 0 <= size <= MAX_ACCESS:
            raise GuestMemoryError(va, size)
        pieces, missed = [], 0
        for offset, length in self.spans(va, size):
            pieces.append(bytes(length) if offset is None else self._map[offset : offset + length])
            missed += length if offset is None else 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces), missed

    def try_write(self, va: int, data: Buffer) -> int:
        """Store `data` at `va` where it is mapped; returns how many bytes are lost."""
        return self._store_spans(va, flat(data))[1]

    def _store_spans(self, va: int, source: bytes) -> tuple[bool, int]:
        changed, missed, at = False, 0, 0
        for offset, length in self.spans(va, len(source)):
            if offset is None:
                missed += length
            else:
                changed |= self.store(offset, source[at : at + length])
            at += length
        return changed, missed

    def view(self, va: int, size: int) -> Bytes:
        """A writable uint8 array over mapped memory. After writing through it, call :meth:`touch` with `offset_of`.

        :raises GuestMemoryError: not all of it is mapped, or it is not contiguous in the arena.
        """
        offset = self.offset_of(va, size)
        if offset is None:
            raise self._hole(va, size)
        return self.arena[offset : offset + size]

    def touch_spans(self, va: int, size: int) -> None:
        """:meth:`touch` for a range of addresses."""
        for offset, length in self.spans(va, size):
            if offset is not None:
                self.touch(offset, length)

    def _hole(self, va: int, size: int) -> GuestMemoryError:
        holes = self.unmapped(va, size) if size > 0 else []
        if not holes:
            return GuestMemoryError(va, size, hint="These pages are not contiguous in memory.")
        at, length = holes[0]
        return GuestMemoryError(va, size, hint=f"Nothing is mapped in {at:#x}..{at + length:#x}.")

    # What kernels share

    @property
    def used_end(self) -> int:
        """Arena offset of the end of the highest backing since the last reset."""
        return self._top

    @property
    def _used_pages(self) -> int:
        return self._top >> PAGE_SHIFT

    def open_version(self) -> int:
        """Begin a new version, with which kernels stamp their writes from now on (`page_table.stamp`)."""
        self.look()  # stamps of what others wrote must be older
        version = self._next_version()
        self._open[0] = version
        return version

    def list_runs(self) -> None:
        """List the runs of addresses for kernels (`runs.py`), before they look up many."""
        if not self._runs.listed:
            reach = lambda e: min(e.end, e.mapping.address + self._reach.get(e.mapping.number, e.mapping.size))
            self._runs.set((e.start, reach(e) - e.start, e.offset) for e in self._extents)

    def take_missed(self) -> int:
        """Bytes since the last call that kernels could not access because nothing was mapped there."""
        missed = int(self._books[1])
        self._books[1] = 0
        return missed

    # Snapshots and reset

    def _state(self) -> _MappingState:
        mappings, extents = tuple(self._mappings.values()), tuple(self._extents)
        backings, free = tuple(self._backings.values()), tuple(self._free)
        return _MappingState(backings, free, self._top, mappings, extents, dict(self._reach))

    def _restore_state(self, state: object) -> None:
        assert isinstance(state, _MappingState)
        self._backings = {b.id: b for b in state.backings}
        self._free, self._top = list(state.free), state.top
        same = self._reach == state.reach and tuple(self._mappings.values()) == state.mappings
        if same and self._extents == list(state.extents):
            return
        self._forget_mappings()
        self._reach = dict(state.reach)
        self._mappings = {m.number: m for m in state.mappings}
        for extent in state.extents:
            self._need_tables(extent.start, extent.end - extent.start)
            self._enter(extent)
        self._extents, self._starts = list(state.extents), [e.start for e in state.extents]

    def _forget_mappings(self) -> None:
        self.map_changes += 1
        self._runs.forget()
        self.arena[page_table.TABLES : self._tables_top] = 0
        self._root[:] = 0
        self._spare_tables, self._tables_top = [], page_table.TABLES
        self._mappings, self._extents, self._starts, self._reach = {}, [], [], {}

    def reset(self, keep_pages: bool = False) -> None:
        """Remove all backings and mappings, zero all bytes. The work area stays, and older snapshots stay valid."""
        self._forget_mappings()
        self._backings, self._free = {}, []
        self._clear(page_table.PHYSICAL, keep_pages)
        self._top = page_table.PHYSICAL  # now that all that was used is zero
