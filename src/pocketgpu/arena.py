"""The arena: one range of host memory with all bytes of a guest and the host's scratch area.

Both consoles keep their memory in an arena. Native code gets its base address and offsets into it. Every page of guest
memory has a version. Caches of decoded data compare versions to find out whether their source has changed, and the cost
of a snapshot depends on what changed since the last one. Subclasses map guest addresses to offsets.

All writes must be stamped: :meth:`Arena.store` stamps what it changes, and code that writes through the array calls
:meth:`Arena.touch` for the range that it wrote. Snapshots rely on these stamps. One thread at a time.

Somebody may write without stamps: a guest's processor. Its pages are *shared* (:meth:`Arena.share`), and
:meth:`Arena.others_wrote` says that it has run. When the version of a shared page is asked for after that, the page is
compared with a copy from the last question, and stamped if it differs. A page that nobody asks for costs nothing.
"""

from __future__ import annotations

import contextlib
import mmap
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pocketgpu import garbage
from pocketgpu.errors import UsageError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

PAGE_SHIFT = 12
PAGE_SIZE = 1 << PAGE_SHIFT
#: An arena stays below this size, so that a signed 32-bit integer holds every offset.
ARENA_LIMIT = 1 << 31

# Comparisons are done in blocks that fit the second-level cache: twice as fast as one comparison of a large range.
BLOCK = 64 * 1024
_ZERO_PAGE = bytes(PAGE_SIZE)
LARGE_PAGE = 2 << 20
"""Bytes of the large pages of x86-64, and of ARM with pages of 4 KiB."""
_GIVEN = bytes((1,))
# From this number on, it is faster to request pages before they are touched.
_MANY = 4
# Bytes at the start of a page that are compared first.
_GLANCE = 256
_LAST_VERSION = 0xFFFFFFFF
# Linux: 8 bytes for each page of the process. The highest two bits: it is in memory, it was written to disk.
_PAGE_MAP, _ENTRY, _PRESENT_AT = "/proc/self/pagemap", 8, 62
_MADV_POPULATE_WRITE = 23  # mman.h; the mmap module has no name for it

Bytes: TypeAlias = NDArray[np.uint8]
#: Types that memory can be filled from.
Buffer: TypeAlias = "bytes | bytearray | memoryview | NDArray[Any]"


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """The contents of guest memory at one moment; make it with :meth:`Arena.snapshot`.

    Holds the pages that are not zero. Snapshots of one memory share the bytes of pages that did not change in between.
    versions: of the pages at the start that were in use; those of others were 0.
    """

    pages: Mapping[int, bytes]
    versions: NDArray[np.uint32]
    era: int
    owner: object
    #: The subclass's state besides the bytes.
    state: object = None

    def page(self, number: int) -> bytes:
        """The bytes of a page."""
        return self.pages.get(number, _ZERO_PAGE)

    def version(self, number: int) -> int:
        """The version of a page."""
        return int(self.versions[number]) if number < len(self.versions) else 0

    @property
    def size(self) -> int:
        """Bytes of guest memory kept, shared ones counted in full."""
        return len(self.pages) * PAGE_SIZE

    def bytes_beside(self, other: Snapshot) -> int:
        """At most how many bytes it keeps that another snapshot of the same memory does not share."""
        return int(np.count_nonzero(_differ(self.versions, other.versions))) * PAGE_SIZE + self.versions.nbytes


def _differ(one: NDArray[np.uint32], other: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Which versions differ; those that one of them does not have are 0."""
    known = min(len(one), len(other))
    found = one[:known] != other[:known]
    rest = one[known:] if len(one) > known else other[known:]
    return np.concatenate([found, rest != 0]) if len(rest) else found


class Readable(Protocol):
    """Memory of a console that can be read by address."""

    def read(self, address: int, size: int, /) -> bytes:
        """A copy of bytes.

        :raises GuestMemoryError: there is no memory.
        """
        ...

    def offset_of(self, address: int, size: int, /) -> int | None:
        """Arena offset of a range; None unless the whole range is contiguous in the arena."""
        ...


class Arena:
    """Guest memory in [0, guest_end) and scratch after it, in one anonymous mapping that uses memory only when touched.

    :param guest_end: end of the part that has versions and that snapshots keep.
    :param work_offset, work_size: the scratch area, which ends the arena. All three are multiples of 4096.
    :raises UsageError: the arena would reach 2 GiB.
    """

    def __init__(self, guest_end: int, work_offset: int, work_size: int) -> None:
        size = work_offset + work_size
        if size >= ARENA_LIMIT:
            raise UsageError(f"an arena of {counted(size, 'byte')} does not fit below 2 GiB")
        garbage.look()
        self.size, self.guest_end = size, guest_end
        self.work_offset, self.work_size = work_offset, work_size
        if sys.platform == "win32":
            self._map = mmap.mmap(-1, size)
        else:
            # Private: a shared mapping would keep its pages when they are released.
            # Linux aligns the start for large pages where the size is a multiple of them.
            whole = -(-size // LARGE_PAGE) * LARGE_PAGE
            self._map = mmap.mmap(-1, whole, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.arena: Bytes = np.frombuffer(self._map, dtype=np.uint8, count=size)
        #: Host address of byte 0 of the arena, for native code.
        self.address: int = int(self.arena.ctypes.data)
        # For each page of the arena 1 once the system was asked for it: asking again takes time, too.
        self._given = bytearray(size >> PAGE_SHIFT)
        #: One stamp for each page of [0, guest_end); 0 = never written. Compare stamps for inequality, not for order.
        self.page_versions: NDArray[np.uint32] = np.zeros(guest_end >> PAGE_SHIFT, dtype=np.uint32)
        #: The newest stamp in use.
        self.version = 0
        self._era = 0
        self._shared: _SharedPages | None = None
        #: How often others may have written shared pages. While this and `version` are equal, no version has changed.
        self.epoch = 0
        self._token = object()
        self._blank = self._last = self._snapshot_of({})

    # Contents

    def words(self, offset: int, count: int) -> NDArray[np.int32]:
        """Words at an arena offset, as the arena has them: what is written to them is written there."""
        return self.arena[offset : offset + 4 * count].view(np.int32)

    def store(self, offset: int, source: bytes) -> bool:
        """Store bytes in the arena; pages that already hold them are neither written nor stamped.

        The caller checks the range. Returns whether any byte changed.
        """
        end = len(source)
        head = min(-offset & (PAGE_SIZE - 1), end)
        tail = head + ((end - head) & -PAGE_SIZE)
        stamp = self._store_pages(offset + head, source, head, tail) if head < tail else 0
        # The rest at each end belongs to one page.
        for start, stop in ((0, head), (tail, end)):
            if start < stop:
                part = source if stop - start == end else source[start:stop]
                if self._map[offset + start : offset + stop] != part:
                    stamp = stamp or self._next_version()
                    self._map[offset + start : offset + stop] = part
                    self.page_versions[(offset + start) >> PAGE_SHIFT] = stamp
        return stamp != 0

    def _store_pages(self, offset: int, source: bytes, start: int, end: int) -> int:
        """Store whole pages: part of `source`. Returns their new version, 0 if they hold these bytes."""
        first, count = offset >> PAGE_SHIFT, (end - start) >> PAGE_SHIFT
        versions = self.page_versions[first : first + count]
        if count >= _MANY:
            self.populate(offset, end - start)  # some may be new: avoid a page fault for every page
        held, ahead, changed = self._map, offset - start, []
        if self._is_blank(first, count, versions):
            changed = [at for at in range(start, end, PAGE_SIZE) if not source.startswith(_ZERO_PAGE, at)]
        else:  # pages with other data usually differ early; bytes are compared faster than arrays
            for at in range(start, end, PAGE_SIZE):
                place = at + ahead
                for size in (_GLANCE, PAGE_SIZE):
                    if not source.startswith(held[place : place + size], at):
                        changed.append(at)
                        break
        if not changed:
            return 0
        stamp, given = self._next_version(), memoryview(source)
        if len(changed) == count:
            held[offset : offset + end - start] = given[start:end]
            versions[:] = stamp
            return stamp
        for at in changed:
            held[at + ahead : at + ahead + PAGE_SIZE] = given[at : at + PAGE_SIZE]
            versions[(at - start) >> PAGE_SHIFT] = stamp
        return stamp

    def _is_blank(self, first: int, count: int, versions: NDArray[np.uint32]) -> bool:
        """Whether nobody wrote these pages since memory was cleared, so that they are zero. versions: theirs."""
        if self._shared is not None and self._shared.pages[first : first + count].any():
            return False
        return not _differ(versions, self._blank.versions[first : first + count]).any()

    def copied(self, offset: int, size: int) -> list[bytes]:
        """A copy of an arena range in blocks, for `holds`."""
        end = offset + size
        return [self._map[at : min(at + BLOCK, end)] for at in range(offset, end, BLOCK)]

    def holds(self, offset: int, blocks: Sequence[bytes]) -> bool:
        """Whether an arena range has the bytes that `copied` returned."""
        for block in blocks:
            if self._map[offset : offset + len(block)] != block:
                return False
            offset += len(block)
        return True

    # Versions

    def _next_version(self) -> int:
        if self.version == _LAST_VERSION:
            # After 2^32 writes all stamps are used: a new era begins, in which old stamps are invalid.
            self._era += 1
            self.page_versions[self.page_versions != 0] = 1
            self.version = 1
            self._blank = Snapshot({}, np.zeros(0, np.uint32), self._era, self._token)
        self.version += 1
        return self.version

    def touch(self, offset: int, size: int) -> None:
        """Stamp the pages of an arena range with a new version: they were written, or are about to be."""
        if size > 0:
            version = self._next_version()
            self.page_versions[offset >> PAGE_SHIFT : (offset + size + PAGE_SIZE - 1) >> PAGE_SHIFT] = version

    def touch_all(self, ranges: Iterable[tuple[int, int]]) -> None:
        """Stamp several ranges (offset, size), which are not empty, with one new version."""
        version, versions = self._next_version(), self.page_versions
        for offset, size in ranges:
            versions[offset >> PAGE_SHIFT : (offset + size + PAGE_SIZE - 1) >> PAGE_SHIFT] = version

    def newest(self, offset: int, size: int) -> int:
        """The newest version among the pages of an arena range; 0 if nothing ever wrote there (or `size` is 0)."""
        first = offset >> PAGE_SHIFT
        last = (offset + size - 1) >> PAGE_SHIFT
        if self._shared is not None:
            self._look(self._shared.due(first, last + 1, self.page_versions, self.epoch))
        if first == last:
            return int(self.page_versions[first]) if size > 0 and first < len(self.page_versions) else 0
        return int(self.page_versions[first : last + 1].max(initial=0))

    # Shared pages

    def share(self, offset: int, size: int) -> None:
        """From now on somebody else writes the pages of an arena range too, and does not stamp them.

        There is no way back: what was written before may have to be noticed later.
        """
        if size > 0:
            if self._shared is None:
                self._shared = _SharedPages(self.guest_end)
            self._shared.pages[offset >> PAGE_SHIFT : (offset + size + PAGE_SIZE - 1) >> PAGE_SHIFT] = True
            self.touch(offset, size)

    def others_wrote(self) -> None:
        """The shared pages may have other bytes now."""
        self.epoch += 1

    def look(self) -> None:
        """Stamp all shared pages that differ and whose version was ever asked for.

        Call it before a kernel runs that reads or stamps versions itself.
        """
        if self._shared is not None and self._shared.looked_at_all != self.epoch:
            self._look(self._shared.due_of_known(self.epoch))
            self._shared.looked_at_all = self.epoch

    def _look(self, pages: NDArray[np.int64]) -> None:
        assert self._shared is not None
        if len(pages):
            changed = self._shared.compare(self.arena, pages, self.page_versions, self.epoch)
            if len(changed):
                self.page_versions[changed] = self._next_version()
                self._shared.copied[changed] = self.page_versions[changed]

    # Snapshots

    @property
    def _used_pages(self) -> int:
        """How many pages at the start, at least, may have bytes that are not zero."""
        return len(self.page_versions)

    def _snapshot_of(self, pages: Mapping[int, bytes]) -> Snapshot:
        versions = self.page_versions[: self._used_pages].copy()
        return Snapshot(pages, versions, self._era, self._token, self._state())

    def _state(self) -> object:
        """The state that a snapshot keeps besides the bytes."""
        return None

    def _restore_state(self, state: object) -> None:
        """Restore what :meth:`_state` returned."""

    def changed_since(self, snapshot: Snapshot) -> list[int]:
        """Pages whose bytes may differ from those in `snapshot`."""
        pages: list[int] = self._changed_since(snapshot).tolist()
        return pages

    def _changed_since(self, snapshot: Snapshot) -> NDArray[np.int64]:
        """The same as an array: of all that a program may write it has 100,000 pages."""
        then, shared = snapshot.versions, self._shared
        now = self.page_versions if shared is not None else self.page_versions[: max(self._used_pages, len(then))]
        changed = now != 0 if snapshot.era != self._era else _differ(now, then)
        if shared is not None and (snapshot is not self._last or self.epoch != shared.epoch_of_last):
            changed |= shared.pages
        return np.flatnonzero(changed)

    def snapshot(self) -> Snapshot:
        """Keep the contents of all guest memory; costs time and space for pages changed since the previous one."""
        pages = dict(self._last.pages)
        differ = []
        for page in self._not_empty(self._changed_since(self._last), pages):
            start = page << PAGE_SHIFT
            now = self._map[start : start + PAGE_SIZE]
            if pages.get(page, _ZERO_PAGE) == now:
                continue
            differ.append(page)
            if now == _ZERO_PAGE:
                del pages[page]
            else:
                pages[page] = now
        # Others do not stamp what they write, and a snapshot tells by stamps what it shares with the next.
        unstamped = [page for page in differ if self.page_versions[page] == self._last.version(page)]
        if unstamped:
            self.page_versions[unstamped] = self._next_version()
        self._set_last(pages)
        return self._last

    def _set_last(self, pages: Mapping[int, bytes]) -> None:
        """Memory is as in the newest snapshot."""
        self._last = self._snapshot_of(pages)
        if self._shared is not None:
            self._shared.epoch_of_last = self.epoch

    def _not_empty(self, some: NDArray[np.int64], held: Mapping[int, bytes]) -> list[int]:
        """Pages without those that are zero and not held as anything else: most of what a program may write."""
        if self._shared is None or not len(some):
            return list(map(int, some))
        pages = self.used(some)
        rows = self.arena[: self.guest_end].view(np.uint64).reshape(-1, PAGE_SIZE // 8)
        runs = np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1) if len(pages) else []
        found = np.zeros(len(self.page_versions), np.bool_)
        found[list(held)] = True
        for run in runs:
            found[run] |= rows[run[0] : run[-1] + 1].any(axis=1)
        return list(map(int, some[found[some]]))

    def used(self, pages: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of some pages, in order, that the host has memory for. The others are zero, and reading them would take
        the most time of a snapshot or a comparison. All of them where the host does not tell, or says nothing of what
        was just made."""
        first, count = int(pages[0]), int(pages[-1] - pages[0]) + 1
        try:
            with open(_PAGE_MAP, "rb", buffering=0) as file:
                file.seek((int(pages.ctypes.data) >> PAGE_SHIFT) * _ENTRY)
                if int.from_bytes(file.read(_ENTRY), "little") >> _PRESENT_AT == 0:
                    return pages
                file.seek(((self.address >> PAGE_SHIFT) + first) * _ENTRY)
                told = np.frombuffer(file.read(count * _ENTRY), np.uint64)
        except OSError:
            return pages
        if len(told) != count or mmap.PAGESIZE != PAGE_SIZE:
            return pages
        used: NDArray[np.int64] = pages[told[pages - first] >> _PRESENT_AT != 0]
        return used

    def restore(self, snapshot: Snapshot) -> None:
        """Restore the contents of a snapshot of this memory; pages that change get a new version.

        :raises UsageError: the snapshot was taken of another memory.
        """
        if snapshot.owner is not self._token:
            raise UsageError("this snapshot was taken of another memory")
        stamp = 0
        for page in self._not_empty(self._changed_since(snapshot), snapshot.pages):
            start = page << PAGE_SHIFT
            kept = snapshot.page(page)
            if self._map[start : start + PAGE_SIZE] != kept:
                stamp = stamp or self._next_version()
                self._map[start : start + PAGE_SIZE] = kept
                self.page_versions[page] = stamp
        self._restore_state(snapshot.state)
        self._set_last(snapshot.pages)

    def _clear(self, start: int, keep_pages: bool) -> None:
        """Zero [start, guest_end). Its pages are released to the system if possible, unless `keep_pages`."""
        used = self.changed_since(self._blank)
        if sys.platform == "linux" and not keep_pages:
            self._map.madvise(mmap.MADV_DONTNEED, start, self.guest_end - start)
            first, end = start >> PAGE_SHIFT, self.guest_end >> PAGE_SHIFT
            self._given[first:end] = bytes(end - first)
        else:
            self.arena[: self.guest_end].reshape(-1, PAGE_SIZE)[used] = 0
        if used:
            self.page_versions[used] = self._next_version()
        self._blank = self._last = self._snapshot_of({})

    def populate(self, offset: int, size: int) -> None:
        """Let the system provide all pages of an arena range now, instead of one by one at the first access.

        Contents do not change. Only Linux (5.14 and newer) supports it; elsewhere nothing happens.
        """
        start = offset & -mmap.PAGESIZE
        first, end = offset >> PAGE_SHIFT, (offset + size - 1 >> PAGE_SHIFT) + 1
        if sys.platform == "linux" and size > 0 and self._given.find(0, first, end) >= 0:
            with contextlib.suppress(OSError):  # an older kernel
                self._map.madvise(_MADV_POPULATE_WRITE, start, offset + size - start)
            self._given[first:end] = _GIVEN * (end - first)

    def prefer_large_pages(self, offset: int, size: int) -> None:
        """Ask the system for large pages in an arena range that will be used as a whole: memory is reached with fewer
        table walks, and the system gives one large page in the time of some dozens of small ones. Only Linux has them,
        and only for pages that were not touched yet."""
        advice = getattr(mmap, "MADV_HUGEPAGE", None)
        if advice is None or size < LARGE_PAGE:
            return
        start = max((self.address + offset & -LARGE_PAGE) - self.address, 0)
        end = min((self.address + offset + size + LARGE_PAGE - 1 & -LARGE_PAGE) - self.address, self.size)
        with contextlib.suppress(OSError):  # a system without them
            self._map.madvise(advice, start & -mmap.PAGESIZE, end - start)


class _SharedPages:
    """What is known of pages that others write.

    pages: which pages are shared. copied: the version of each page that its copy shows, -1 without a copy. looked: the
    epoch in which it was compared.
    """

    def __init__(self, guest_end: int) -> None:
        count = guest_end >> PAGE_SHIFT
        self.looked_at_all = self.epoch_of_last = 0
        self.pages = np.zeros(count, np.bool_)
        self.copied = np.full(count, -1, np.int64)
        self._looked = np.full(count, -1, np.int64)
        self._known: NDArray[np.int64] = np.zeros(0, np.int64)
        """Pages that have copies, in order: few of all."""
        # Uses host memory only for pages that are copied.
        self._copies: NDArray[np.uint64] = np.frombuffer(mmap.mmap(-1, guest_end), np.uint64).reshape(count, -1)

    def due(self, first: int, end: int, versions: NDArray[np.uint32], epoch: int) -> NDArray[np.int64]:
        """Shared pages of a range that must be compared or copied before their versions count."""
        part = slice(first, end)
        old = self._looked[part] != epoch
        old |= self.copied[part] != versions[part]
        return np.flatnonzero(old & self.pages[part]) + first

    def due_of_known(self, epoch: int) -> NDArray[np.int64]:
        """Those that have copies."""
        known: NDArray[np.int64] = self._known[self._looked[self._known] != epoch]
        return known

    def compare(
        self, arena: Bytes, pages: NDArray[np.int64], versions: NDArray[np.uint32], epoch: int
    ) -> NDArray[np.int64]:
        """Copy pages; which of them have other bytes than their copies had.

        A copy of another version is only replaced: somebody stamped the page since, and nobody has asked for that
        version yet, or the copy would be of it.
        """
        changed = []
        now = arena[: len(self.pages) << PAGE_SHIFT].view(np.uint64).reshape(len(self.pages), -1)
        whole = int(pages[-1]) - int(pages[0]) == len(pages) - 1
        for some in [pages] if whole else np.split(pages, np.flatnonzero(np.diff(pages) != 1) + 1):
            for at in range(int(some[0]), int(some[-1]) + 1, BLOCK // PAGE_SIZE):
                part = slice(at, min(at + BLOCK // PAGE_SIZE, int(some[-1]) + 1))
                differs = (now[part] != self._copies[part]).any(axis=1)
                if differs.any():
                    self._copies[part][differs] = now[part][differs]
                    changed.append(np.flatnonzero(differs & (self.copied[part] == versions[part])) + at)
        new = pages[self.copied[pages] < 0]
        if len(new):
            # Pages without a copy are not known yet. (`np.union1d` imports NumPy's masked arrays, 6 ms.)
            self._known = np.sort(np.concatenate((self._known, new)))
        self.copied[pages] = versions[pages]
        self._looked[pages] = epoch
        return np.concatenate(changed) if changed else pages[:0]


def flat(data: Buffer) -> bytes:
    """The bytes of a buffer in C order."""
    if isinstance(data, bytes):
        return data
    return data.tobytes() if isinstance(data, (memoryview, np.ndarray)) else bytes(data)
