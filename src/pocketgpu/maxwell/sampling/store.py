"""The host's side of textures: pools of headers and samplers, records of handles, copies of texels.

    textures = Textures(memory, engine, (offset, size))      # a part of the work area
    textures.pools = Pools(headers, last_header, samplers, last_sampler)
    textures.begin()                                         # before each launch or draw
    launch record: TEXTURES = textures.book, TEXTURE_BANK = the constant bank with handles,
                   TEXTURE + 8 * n = textures.kernel(n) for the kernels that the program calls

Kernels find handles in the book's table and call `resolve` for others. A resolved handle is valid until the next
`begin`, which resolves it again if a page of the header, the sampler or the texels has been written since; the texels
are decoded again only if their bytes have changed. Unused copies are removed to make room for others.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from typing import Any

import numpy as np

from pocketgpu.errors import PocketGPUError, UsageError
from pocketgpu.facts.choices import DEFAULTS
from pocketgpu.facts.maxwell.headers import numbers_of
from pocketgpu.lanes import I32, Engine, late
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.formats.srgb import CODES, linear_words
from pocketgpu.maxwell.formats.texture_header import TextureHeader
from pocketgpu.maxwell.host.observer import Observer, TextureRead
from pocketgpu.maxwell.memory.gpu_memory import GpuMemory
from pocketgpu.maxwell.sampling import records as r
from pocketgpu.maxwell.sampling.records import BOOK, ENTRIES, ENTRY_WORDS, HASH, PROBES, RECORD, RECORD_ROOM, TABLE_BITS
from pocketgpu.maxwell.sampling.texel_copies import TexelCopies, TexelCopy
from pocketgpu.maxwell.sampling.texture_copies import storage_of
from pocketgpu.maxwell.sampling.texture_records import NOTHING, describe
from pocketgpu.observer import Observed

HEADER_BYTES = SAMPLER_BYTES = 32
MAX_RECORDS = 4096
KERNELS = tuple(
    late(f"pocketgpu.maxwell.sampling.{module}", name)
    for module, name in (
        ("sample", "sample"), ("fetch", "fetch"), ("fetch", "gather"), ("fetch", "query"), ("surface", "surface"),
        ("sample", "sample_quick"), ("sample", "sample_rare"),
    )
)  # fmt: skip
CHOICES = (
    "texture.fraction", "texture.gradient_order", "texture.fetch_outside", "texture.anisotropy",
    "memory.block_depth_base",
)  # fmt: skip
"""The choices that affect textures."""
_OF_KERNELS = ("texture.fraction", "texture.gradient_order", "texture.fetch_outside")


def kernel_choices(choices: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """The static value `choices` of KERNELS."""
    return tuple((name, choices[name]) for name in _OF_KERNELS)


MIN_AREA = 1 << 20


@dataclass(frozen=True)
class Pools:
    """The pools of headers and samplers: GPU addresses, and the last valid number (-1: none).

    joined: samplers have the numbers of headers (SET_SAMPLER_BINDING), not those of handles.
    """

    headers: int = 0
    last_header: int = -1
    samplers: int = 0
    last_sampler: int = -1
    joined: bool = False


@lru_cache(maxsize=MAX_RECORDS)
def _parsed(header: bytes) -> TextureHeader:
    """Cached, because programs have the same headers in every frame."""
    return TextureHeader.parse(header)


@dataclass
class _HandleUse:
    """The result for a handle: a record, and the stretches of the arena that it was made from with their newest
    version.

    sure: whether any change of them will show in the version.
    """

    at: int
    spans: list[tuple[int, int]]
    stamp: int
    sure: bool
    copy: TexelCopy | None


class Textures:
    """Records and copies of the textures in use.

    :param area: arena offset and size, at least 1 MiB, of a part of the work area for its exclusive use.
    :param machine: its observers are notified of textures that are looked up.
    :raises UsageError: the area is too small.
    """

    def __init__(
        self,
        memory: GpuMemory,
        engine: Engine,
        area: tuple[int, int],
        choices: Mapping[str, str] = DEFAULTS,
        machine: Observed[Observer] | None = None,
    ) -> None:
        self.memory, self.engine, self.choices = memory, engine, choices
        self._machine: Observed[Observer] = Observed() if machine is None else machine
        self.book = (area[0] + 63) & -64
        end = area[0] + area[1]
        self._records = (self.book + BOOK.size + 63) & -64
        count = min(MAX_RECORDS, (area[1] >> 3) // RECORD_ROOM)
        self._texels = (self._records + count * RECORD_ROOM + 127) & -64
        if area[1] < MIN_AREA:
            raise UsageError(f"textures need {MIN_AREA} bytes of work area, not {area[1]}")
        room = end - self._texels - 64  # vectors may read a little beyond the last texel
        linear = self.book + BOOK.LINEAR
        self.copies = TexelCopies(memory, engine, (self._texels, room), choices, linear)
        self._free_records = list(range(self._records + (count - 1) * RECORD_ROOM, self._records, -RECORD_ROOM))
        self.pools = Pools()
        self.generation = 0
        self._found: dict[tuple[int, int], _HandleUse] = {}
        self._found_in: tuple[Pools, int] = (self.pools, -1)
        self._reasons: dict[int, str] = {}
        self._known: dict[tuple[bytes, bytes, int], int] = {}
        self._lock = threading.RLock()
        self.errors: list[BaseException] = []
        self._static: dict[str, Any] = {"choices": kernel_choices(choices)}
        self._write_book()

    def _write_book(self) -> None:
        words = self.memory.words(self.book, BOOK.size // 4)
        words[:] = 0
        self._book = words
        handle = self.engine.callback(self.resolve, I32, I32, I32)
        words[BOOK.RESOLVE // 4 : BOOK.RESOLVE // 4 + 2].view(np.int64)[0] = handle
        at = BOOK.LINEAR // 4
        words[at : at + CODES] = linear_words()
        # The record of bad handles: one texel of zeros, which is before the other texels.
        self._bad = self._records
        self._put_record(self._bad, {**NOTHING, "LEVEL": self._texels - 64})
        self.memory.arena[self._texels - 64 : self._texels] = 0

    # -- for launches -----------------------------------------------------------------------------------------------
    def kernel(self, number: int, engine: Engine | None = None) -> int:
        """The handle of a kernel, `records.SAMPLE` to `SURFACE`. engine: the one that runs it, if another on the same
        arena."""
        return (engine or self.engine).handle(KERNELS[number], **self._static)

    @contextmanager
    def resolved_by(self, handle: int) -> Iterator[None]:
        """Let kernels of another engine resolve textures in this context. handle: its callback that calls `resolve`."""
        words = self._book[BOOK.RESOLVE // 4 : BOOK.RESOLVE // 4 + 2].view(np.int64)
        kept = int(words[0])
        words[0] = handle
        try:
            yield
        finally:
            words[0] = kept

    def later(self, number: int) -> None:
        """Compile a kernel in the background."""
        self.engine.later(KERNELS[number], **self._static)

    def ready(self, number: int) -> bool:
        """Whether a kernel can be used without compiling."""
        return self.engine.has(KERNELS[number], **self._static)

    def begin(self) -> None:
        """Start a launch or draw: it uses headers, samplers and texels as they are now."""
        with self._lock:
            self.generation += 1
            self._note_change()
            now = (self.pools, self.memory.map_changes)
            kept = {key: use for key, use in self._found.items() if now == self._found_in and self._is_as_before(use)}
            # It is unknown which records are in use: if there are many, all are resolved again.
            if self._is_full(len(kept)):
                kept = {}
            self._found_in = now
            self._reasons.clear()
            for use in kept.values():
                if use.copy is not None:
                    use.copy.used = self.generation
            if len(kept) < len(self._found):
                self.memory.words(self.book + BOOK.TABLE, ENTRIES * ENTRY_WORDS)[:] = 0
                self._found = kept
                for key, use in kept.items():
                    self._enter(*key, use.at)

    def unchanged(self) -> tuple[int, list[tuple[int, int]]] | None:
        """The conditions under which `begin` need not be called: BOOK.CHANGES, and the stretches of the arena (offset,
        bytes) that must not get newer versions. None if it must be called."""
        with self._lock:
            found, now = self._found.values(), (self.pools, self.memory.map_changes)
            if now != self._found_in or self._is_full(len(found)) or not all(map(self._is_as_before, found)):
                return None
            return int(self._book[BOOK.CHANGES // 4]), [span for use in found for span in use.spans]

    def _note_change(self) -> None:
        """Give BOOK.CHANGES another value, which is never 0."""
        self._book[BOOK.CHANGES // 4] = int(self._book[BOOK.CHANGES // 4]) % 0x7FFFFFFF + 1

    def _is_full(self, handles: int) -> bool:
        """Whether there are so many records that unused ones must be found."""
        return handles > ENTRIES // 4 or self.copies.size > self.copies.room // 2

    def forget(self) -> None:
        """Resolve every handle again from the next `begin` on, so that `used` lists the textures of one draw or
        launch."""
        self._found_in = (self.pools, -1)
        self._note_change()  # draws that kernels could set up begin, too

    @property
    def used(self) -> list[tuple[int, int]]:
        """The texels of sampled handles that were found since `begin`: (GPU address, bytes)."""
        return [use.copy.span for use in self._found.values() if use.copy is not None]

    def _is_as_before(self, use: _HandleUse) -> bool:
        newest = self.memory.newest
        return use.sure and max((newest(*span) for span in use.spans), default=0) == use.stamp

    def check(self) -> None:
        """Raise the error of a call from kernels, which cannot raise it themselves."""
        with self._lock:
            if self.errors:
                raise self.errors.pop()

    def reason(self, handle: int) -> str:
        """Why a handle is bad, "" if it is not."""
        return self._reasons.get(handle & 0xFFFFFFFF, "")

    # -- handles ----------------------------------------------------------------------------------------------------
    def resolve(self, answer: int, handle: int, use: int) -> None:
        """Called by kernels: writes the arena offset of a handle's record to `answer`."""
        try:
            at = self.record(handle & 0xFFFFFFFF, use)
        except BaseException as error:  # none may pass through compiled code
            at = self._bad
            self.errors.append(error)
        self.memory.words(answer, 1)[0] = at

    def record(self, handle: int, use: int = r.SAMPLED) -> int:
        """Arena offset of the record of a handle, made if it does not exist; that of bad handles for a bad one."""
        with self.copies.joint.waiting_for(self._lock):
            key = (handle, use)
            if key not in self._found:
                self._note_change()
                try:
                    self._found[key] = self._make(handle, use)
                except PocketGPUError as error:
                    self._found[key] = _HandleUse(self._bad, [], 0, False, None)
                    self._reasons[handle] = error.message
                self._enter(handle, use, self._found[key].at)
            return self._found[key].at

    def _enter(self, handle: int, use: int, at: int) -> None:
        """Add a record to the table, if there is a place for it."""
        first = ((handle * HASH & 0xFFFFFFFF) >> (32 - TABLE_BITS)) + use
        table = self.memory.words(self.book + BOOK.TABLE, ENTRIES * ENTRY_WORDS).reshape(ENTRIES, ENTRY_WORDS)
        for n in range(PROBES):
            row = table[(first + n) % ENTRIES]
            if row[1] == 0:
                # Other threads search the table: the word that makes the entry valid is written last.
                row[2], row[0] = at, np.uint32(handle).view(np.int32)
                row[1] = use + 1
                return

    def _make(self, handle: int, use: int) -> _HandleUse:
        pools = self.pools
        number, which = numbers_of(handle, pools.joined)
        header = self._entry(pools.headers, pools.last_header, number, HEADER_BYTES, "texture header")
        sampler = bytes(SAMPLER_BYTES)
        places = [(pools.headers + number * HEADER_BYTES, HEADER_BYTES)]
        if use == r.SAMPLED or which <= pools.last_sampler:
            places.append((pools.samplers + which * SAMPLER_BYTES, SAMPLER_BYTES))
            sampler = self._entry(pools.samplers, pools.last_sampler, which, SAMPLER_BYTES, "sampler")
        texture = _parsed(header)
        key = (header, sampler, use)
        copy = self.copies.get(header, texture, self.generation) if use == r.SAMPLED else None
        if key not in self._known:
            if not self._free_records:
                self._drop_records()
            self._known[key] = self._free_records.pop()
            values = describe(texture, header, sampler, self.choices)
            self._put_record(self._known[key], values)
        at = self._known[key]
        if copy is not None:
            words = self.memory.words(at, RECORD.size // 4)
            words[RECORD.KIND // 4] = copy.kind
            words[RECORD.LEVEL // 4 : RECORD.LEVEL // 4 + len(copy.levels)] = copy.levels
            places.append(copy.span)
        if self._machine.observers:
            self._notify_observers(texture, tuple(places if copy is None else places[:-1]))
        pieces = [piece for place in places for piece in self.memory.spans(*place)]
        spans = [(offset, size) for offset, size in pieces if offset is not None]
        stamp = max((self.memory.newest(*span) for span in spans), default=0)
        return _HandleUse(at, spans, stamp, stamp < self.memory.version and (copy is None or copy.sure), copy)

    def _notify_observers(self, texture: TextureHeader, entries: tuple[tuple[int, int], ...]) -> None:
        """Notify observers of a texture that was looked up."""
        texels = None
        with suppress(UsageError):  # of those that are too large, nothing is read
            texels = storage_of(texture, self.choices)
        found = TextureRead(texture, entries, texels)
        for one in self._machine.observers:
            one.texture_read(found)

    def _entry(self, base: int, last: int, number: int, size: int, name: str) -> bytes:
        if number > last:
            raise UsageError(
                f"there is no {name} {number}, the last one is {last}" if last >= 0 else f"there is no {name}"
            )
        data, missed = self.memory.try_read(base + number * size, size)
        if missed:
            raise UsageError(f"{name} {number} at {base + number * size:#x} is not mapped")
        return data

    def _drop_records(self) -> None:
        """Remove the records that were not found since `begin`."""
        used = {use.at for use in self._found.values()}
        for key, at in list(self._known.items()):
            if at not in used:
                del self._known[key]
                self._free_records.append(at)
        if not self._free_records:
            raise UsageError("more textures in one launch than there is room for")

    def _put_record(self, at: int, values: Mapping[str, Any]) -> None:
        words = self.memory.words(at, RECORD.size // 4)
        words[:] = 0
        for name, value in values.items():
            place = RECORD.offsets[name] // 4
            items = value if isinstance(value, list | tuple) else [value]
            for n, item in enumerate(items):
                if isinstance(item, float):
                    words[place + n : place + n + 1].view(np.float32)[0] = item
                else:
                    words[place + n] = np.uint32(item & 0xFFFFFFFF).view(np.int32)


__all__ = ["MIN_AREA", "Pools", "Textures"]
