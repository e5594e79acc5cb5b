"""Captures of a Switch without their textures: noise replaces the bytes that textures come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pocketgpu.capture.formats.pgc.contents import Contents, Event, FrameContents, Store, digest
from pocketgpu.capture.pgc.channel_origins import LOST, Origin, Origins
from pocketgpu.capture.pgc.texture_noise import noise
from pocketgpu.facts.maxwell.formats import PixelLayout
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.memory.page_table import PHYSICAL

if TYPE_CHECKING:
    from pocketgpu.capture.formats.pgc.traces import PgcLog

_BYTES = PixelLayout(0, "bytes", 1)


@dataclass(frozen=True, slots=True)
class Replaced:
    """A capture with noise in it. textures: number of different ones in use. replaced: bytes of stores that are noise
    now, and left: bytes that are unchanged, as they are used for something else, too. lost: bytes of textures that were
    written in a way that is not followed."""

    contents: Contents
    textures: int
    replaced: int
    left: int
    lost: int


def replace_textures(contents: Contents, log: PgcLog, choices: Mapping[str, str] | None = None) -> Replaced:
    """The same events with noise for textures; the pictures are still those of the original."""
    origins = Origins(log, choices)
    origins.watch()
    found = _Noise(origins)
    for use in origins.uses:
        found.fill(use.layout, use.types, use.origins, use.digest)
    data = found.stored.tobytes()
    at = 0

    def event(old: Event) -> Event:
        nonlocal at
        if not isinstance(old, Store):
            return old
        pieces = []
        for piece in old.pieces:
            pieces.append(data[at : at + len(piece)])
            at += len(piece)
        return replace(old, pieces=tuple(pieces))

    frames = [FrameContents(tuple(map(event, frame.events)), frame.pictures) for frame in contents.frames]
    if frames:
        frames[0] = FrameContents((*found.blanks(), *frames[0].events), frames[0].pictures)
    changed = replace(contents, frames=frames, tail=())
    replaced = int(np.count_nonzero(found.changed)) + int(np.count_nonzero(found.blank))
    return Replaced(changed, len(origins.textures), replaced, int(np.count_nonzero(found.left)), found.lost)


class _Noise:
    def __init__(self, origins: Origins) -> None:
        self.origins = origins
        self.stored = origins.stored.copy()
        self.changed = np.zeros(len(self.stored), np.bool_)
        self.left = np.zeros(len(self.stored), np.bool_)
        self.blank = np.zeros(len(origins.origins), np.bool_)
        self._in_blank = np.zeros(len(origins.origins), np.uint8)
        self.lost = 0
        self._known: dict[tuple[bytes, str], int] = {}
        self._converted: set[int] = set()

    def fill(self, layout: PixelLayout | None, types: Sequence[str], origins: Origin, contents: bytes) -> None:
        """Fill the bytes of these origins, which make elements of a format, with noise; the same for contents of one
        digest."""
        layout = layout or _BYTES
        types = types or ("unorm",) * 4
        size = layout.bytes
        whole = len(origins) // size * size
        parts = origins[:whole].reshape(-1, size)
        stored: NDArray[np.bool_] = np.less(parts, self.origins.unwritten)
        kept = np.zeros(parts.shape, np.bool_)
        kept[stored] = self.origins.kept[parts[stored]]
        partly_kept: NDArray[np.bool_] = np.any(kept, axis=1)  # half an element of noise may be invalid
        self.left[parts[stored & partly_kept[:, None]] - 1] = True
        number = self._known.setdefault((contents, layout.name), len(self._known))
        made = noise(np.random.default_rng(number), layout, types, len(parts))
        free = ~partly_kept[:, None]
        take = stored & free
        places = parts[take] - 1
        fresh = ~self.changed[places]
        self.stored[places[fresh]] = made[take][fresh]
        self.changed[places] = True
        end = self.origins.unwritten + len(self.origins.origins)
        blank = (parts >= self.origins.unwritten) & (parts < end) & free
        places = parts[blank] - self.origins.unwritten
        fresh = ~self.blank[places]
        self._in_blank[places[fresh]] = made[blank][fresh]
        self.blank[places] = True
        self.lost += int(np.count_nonzero(parts == LOST))
        for origin in np.unique(parts[(parts >= end) & free]).tolist():
            self._convert(origin)

    def _convert(self, origin: int) -> None:
        found = self.origins.sources_of(origin)
        if found is None or origin in self._converted:
            return
        self._converted.add(origin)
        sources, layout = found
        stored = sources[sources < self.origins.unwritten]
        self.fill(layout, (), sources, digest(self.origins.stored[stored - 1].tobytes(), 16))

    def blanks(self) -> Iterator[Store]:
        """Stores for memory that textures show and nothing writes."""
        places = np.flatnonzero(self.blank)
        if not len(places):
            return
        values = self._in_blank[places]
        cuts = np.flatnonzero(np.diff(places) > 1) + 1
        backings = sorted(self.origins.driver.backings.items(), key=lambda item: item[1].offset)
        for run, bytes in zip(np.split(places, cuts), np.split(values, cuts), strict=True):
            start, end = int(run[0]) + PHYSICAL, int(run[-1]) + 1 + PHYSICAL
            for handle, backing in backings:
                low, high = max(start, backing.offset), min(end, backing.offset + backing.size)
                if low < high:
                    part = bytes[low - start : high - start].tobytes()
                    yield Store(handle, low - backing.offset, 0, (part,))
