"""Captures that may be shared: noise of the same format and size replaces textures.

Textures are found by observing draws. They often come from the transfer engine, so the source of a transfer that makes
one is a texture as well. Bytes that are also used as vertices, indices or commands are not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Load, bytes_of
from pocketgpu.capture.formats.pgc.traces import PgcLog, PgcTrace, trace_of
from pocketgpu.capture.pgc.convert import contents_of
from pocketgpu.capture.pgc.verify import with_pictures
from pocketgpu.facts.external import EXTERNAL
from pocketgpu.facts.formats import EXTERNAL_FORMATS
from pocketgpu.facts.pica import PICA
from pocketgpu.late_dataclass import dataclass
from pocketgpu.pica.core.layout import KIND_ARRAYS, KIND_ELEMENTS
from pocketgpu.pica.core.observer import Run, Undrawn
from pocketgpu.pica.front.packets import DrawPackets

if TYPE_CHECKING:
    from pocketgpu.capture.replay import Capture

Span = tuple[int, int]
"""An arena offset and a count of bytes."""

_LINE_UNIT = 16
"""Widths and gaps of texture copies are in units of so many bytes."""
_UNITS = 3
_BUFFERS = 12


@dataclass(frozen=True, slots=True)
class Redacted:
    """textures: number of different ones that draws use. replaced: bytes of the file's memory that are noise now; left:
    those of textures that are unchanged, as they are used for something else too. lost: bytes of textures that were
    written in a way that is not followed, and so may still be in the file."""

    contents: Contents
    textures: int
    replaced: int
    left: int
    lost: int = 0


def redact(capture: Capture, *, threads: int = 1, switches: Mapping[str, str] | None = None) -> Redacted:
    """A capture with noise for textures; its digests are those of its new pictures. The same bytes become the same
    noise. switches: as for `Capture.render`."""
    contents = contents_of(capture.trace)
    found = _REDACTING[contents.console](contents, switches)
    from pocketgpu.capture.replay import Capture

    changed = replace(found.contents, about={**contents.about, "redacted": "textures"})
    changed = with_pictures(changed, Capture(capture.path, trace_of(changed)), threads=threads, switches=switches)
    return replace(found, contents=changed)


def _redact_switch(contents: Contents, choices: Mapping[str, str] | None) -> Redacted:
    from pocketgpu.capture.pgc.channel_redact import replace_textures

    made = replace_textures(contents, cast(PgcLog, trace_of(contents)), choices)
    return Redacted(made.contents, made.textures, made.replaced, made.left, made.lost)


def _redact_3ds(contents: Contents, choices: Mapping[str, str] | None) -> Redacted:
    found = _TextureNotes(contents)
    noise = _TextureNoise(found)
    frames = [FrameContents(tuple(map(noise.event, frame.events))) for frame in contents.frames]
    return Redacted(replace(contents, frames=frames, tail=()), len(found.textures), noise.replaced, noise.left)


_REDACTING = {"3DS": _redact_3ds, "Switch": _redact_switch}
"""How each console's captures get noise, by the name of the console: contents, choices."""


class _TextureNotes(Undrawn):
    """Records during a replay which bytes of memory are textures, and which must stay."""

    def __init__(self, contents: Contents) -> None:
        self.textures: set[Span] = set()
        self.kept: set[Span] = set()
        self.moves: set[tuple[Span, Span]] = set()
        self._seen: set[bytes] = set()

        driver = drive(PgcTrace("", contents))
        driver.machine.observe(self)
        driver.play_rest()

    # Notifications of the machine

    def list_starts(self, offset: int, size: int) -> None:
        self.kept.add((offset, size))

    def draws(self, packets: DrawPackets, run: Run) -> None:
        for registers, kind in zip(packets.registers, packets.kinds.tolist(), strict=True):
            key = registers.tobytes()
            if key not in self._seen:
                self._seen.add(key)
                self._note_textures(registers)
            if kind in (KIND_ARRAYS, KIND_ELEMENTS):
                self.kept.update(self._vertices(registers, kind == KIND_ELEMENTS))

    def unit_starts(self, unit: str, words: Mapping[str, int]) -> None:
        if unit != "PPF":
            return
        written = self.machine.transfer_of(words).written
        source = self.machine.memory.offset_of(words["PPF_INPUT_ADDRESS"] << 3, _bytes_read(words))
        if source is not None and written[1]:
            self.moves.add(((source, _bytes_read(words)), written))

    def _note_textures(self, registers: NDArray[np.uint32]) -> None:
        config = PICA["TEXUNIT_CONFIG"]
        word = int(registers[config.offset])
        for unit in range(_UNITS):
            if config[f"unit{unit}_enable"].raw(word):
                source = self.machine.textures.describe(registers, unit)
                if source is not None:
                    self.textures.update(source.ranges)

    def _vertices(self, registers: NDArray[np.uint32], indexed: bool) -> Iterable[Span]:
        """Addresses of vertices and indices of a draw."""

        def get(name: str, part: str) -> int:
            return int(PICA[name][part].raw(int(registers[PICA[name].offset])))

        memory = self.machine.memory
        base, count = get("ATTRIBBUFFERS_LOC", "base") << 4, get("NUMVERTICES", "count")
        first, last = get("VERTEX_OFFSET", "first"), -1
        if indexed:
            wide = get("INDEXBUFFER_CONFIG", "type")
            start, size = base + get("INDEXBUFFER_CONFIG", "offset"), count << wide
            if (offset := memory.offset_of(start, size)) is None or not count:
                return
            yield offset, size
            indices = np.frombuffer(memory.read(start, size), np.uint16 if wide else np.uint8)
            first, last = int(indices.min()), int(indices.max())
        else:
            last = first + count - 1
        for number in range(_BUFFERS):
            stride = get(f"ATTRIBBUFFER{number}_CONFIG2", "stride")
            if not get(f"ATTRIBBUFFER{number}_CONFIG2", "count") or last < first:
                continue
            start = base + get(f"ATTRIBBUFFER{number}_OFFSET", "offset") + first * stride
            size = (last - first + 1) * max(stride, 1)
            if (offset := memory.offset_of(start, size)) is not None:
                yield offset, size

    def all_textures(self) -> NDArray[np.bool_]:
        """For each byte of the arena's guest part, whether it is in a texture, or in the source of one, and not used
        for something else."""
        marked = np.zeros(self.machine.memory.work_offset, np.bool_)
        for offset, size in self.textures:
            marked[offset : offset + size] = True
        waiting = set(self.moves)
        while used := {move for move in waiting if marked[move[1][0] : sum(move[1])].any()}:
            for source, _ in used:
                marked[source[0] : sum(source)] = True
            waiting -= used
        return marked


def _bytes_read(words: Mapping[str, int]) -> int:
    """The extent that a transfer may read from its input address."""

    def part(name: str, field: str) -> int:
        return int(EXTERNAL[name][field].raw(words[name]))

    if part("PPF_FLAGS", "texture_copy"):
        size, width, gap = part("PPF_COPY_SIZE", "size"), part("PPF_COPY_INPUT", "width"), part("PPF_COPY_INPUT", "gap")
        lines = -(-size // (width * _LINE_UNIT)) if width and gap else 1
        return size + (lines - 1) * gap * _LINE_UNIT
    format = EXTERNAL_FORMATS[min(part("PPF_FLAGS", "input_format"), 4)]
    return part("PPF_INPUT_SIZE", "width") * part("PPF_INPUT_SIZE", "height") * format.bits // 8


class _TextureNoise:
    def __init__(self, found: _TextureNotes) -> None:
        self.memory = found.machine.memory
        self.textures = found.all_textures()
        self.free = self.textures.copy()
        for offset, size in found.kept:
            self.free[offset : offset + size] = False
        self.known: dict[bytes, bytes] = {}
        self.replaced = self.left = 0

    def event(self, event: Event) -> Event:
        """The same event, with noise instead of the bytes of textures."""
        if not isinstance(event, Load):
            return event
        data = bytearray(bytes_of(event.pieces))
        for region, start in self.memory.regions:
            low, high = max(event.address, region.base), min(event.address + len(data), region.base + region.size)
            if low < high:
                self._fill(data, low - event.address, start + low - region.base, high - low)
        return Load(event.address, (bytes(data),))

    def _fill(self, data: bytearray, at: int, offset: int, size: int) -> None:
        """Write noise to `size` bytes of `data` at `at`, which are stored at `offset` of the arena."""
        free = self.free[offset : offset + size]
        self.left += int(np.count_nonzero(self.textures[offset : offset + size] & ~free))
        edges = np.flatnonzero(np.diff(free.astype(np.int8), prepend=0, append=0))
        for start, end in edges.reshape(-1, 2).tolist():
            part = slice(at + start, at + end)
            data[part] = self._noise(bytes(data[part]))
            self.replaced += end - start

    def _noise(self, original: bytes) -> bytes:
        """Noise for some bytes; the same for the same bytes. It depends only on how many different ones came before."""
        if original not in self.known:
            self.known[original] = np.random.default_rng(len(self.known)).bytes(len(original))
        return self.known[original]


__all__ = ["redact"]


def __dir__() -> list[str]:
    return [*__all__]
