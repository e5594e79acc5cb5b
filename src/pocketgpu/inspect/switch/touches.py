"""Which events touched some bytes of a surface: found in the recorder's traces, without replaying.

The traces of clears, draws, blits and copies give the pixel or byte that they wrote there; those of blits and copies
also give the source bytes. So a pixel is followed back to the surfaces that were drawn to before anything is replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

import numpy as np

from pocketgpu.inspect.model.event import Event
from pocketgpu.inspect.model.touching import any_overlap
from pocketgpu.inspect.switch.recorder import Recorder, TickTrace
from pocketgpu.inspect.switch.surfaces import Surface
from pocketgpu.late_dataclass import dataclass
from pocketgpu.maxwell.engines.common.action_log import Blit, Clear, Copy
from pocketgpu.maxwell.engines.threed.draws import Draw

Spot = tuple[int, int]
"""(arena offset, size in bytes)."""
MOST_TOUCHES = 4096
MOST_LOOKED = 16
MOST_DEPTH = 4
"""Most blits and copies in a row that a pixel is followed through."""


class BytesInArena:
    """Bytes that events of a recorder can be asked about, by their places in the arena: see `Bytes`."""

    def __init__(self, recorder: Recorder, spots: Sequence[Spot]) -> None:
        self._recorder, self._spots = recorder, spots

    def written_by(self, event: Event) -> bool:
        return any_overlap(self._spots, self._trace(event).writes)

    def read_by(self, event: Event) -> bool:
        return any_overlap(self._spots, [(at, size) for _, at, size in self._trace(event).sources])

    def _trace(self, event: Event) -> TickTrace:
        return self._recorder.traces[self._recorder.tick_of(event) - 1]


@dataclass(frozen=True)
class Tap:
    """Bytes of a source that a pixel is made from. weight: their share; all shares add up to 1.0."""

    address: int
    spot: Spot
    weight: float


@dataclass
class Candidate:
    """An event that may have written the bytes. x, y: the pixel of `surface` that they belong to, if that is known.
    defines: whether it overwrote all of the bytes. taps: the bytes that it copied; source: the track of those."""

    tick: int
    trace: TickTrace
    surface: Surface | None = None
    x: int = 0
    y: int = 0
    defines: bool = False
    taps: tuple[Tap, ...] = ()
    source: Track | None = None


@dataclass
class Track:
    """The bytes of a pixel (`spots`: the requested samples) and the events that touched them, up to a tick."""

    spots: tuple[Spot, ...]
    until: int
    touches: list[Candidate] = field(default_factory=list)


def overlaps(spot: Spot, spans: Sequence[Spot]) -> bool:
    """Whether bytes are among those of some ranges."""
    return any(spot[0] < at + size and at < spot[0] + spot[1] for at, size in spans)


class Finder:
    """Finds tracks in a recorder's traces."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._found: dict[tuple[int, int], tuple[int, int] | None] = {}

    def track(self, spots: tuple[Spot, ...], until: int, depth: int = 0) -> Track:
        """The events that touched these bytes in the ticks up to `until`: all of the last frame, and earlier ones back
        to an event that overwrote all of the bytes."""
        found = Track(spots, until)
        traces = self._recorder.traces
        if not until:
            return found
        frame = traces[until - 1].event.frame
        for tick in range(until, 0, -1):
            trace = traces[tick - 1]
            if trace.event.frame < frame and found.touches and found.touches[-1].defines:
                break
            touch = self._touch(tick, trace, spots[0])
            if touch is not None:
                found.touches.append(touch)
                if len(found.touches) >= MOST_TOUCHES:
                    break
        found.touches.reverse()
        if depth < MOST_DEPTH:
            for touch in found.touches:
                if touch.taps and (touch is found.touches[-1] or not depth):
                    heaviest = max(touch.taps, key=lambda tap: tap.weight)
                    others = [tap.spot for tap in touch.taps if tap is not heaviest and tap.weight]
                    touch.source = self.track((heaviest.spot, *others), touch.tick - 1, depth + 1)
        return found

    def touches(self, tick: int, spots: Sequence[Spot]) -> bool:
        """Whether a tick writes any of some bytes, by its rectangles; at most MOST_LOOKED bytes a spot are tested."""
        trace = self._recorder.traces[tick - 1]
        for at, size in spots:
            step = -(-size // MOST_LOOKED)
            if any(self._touch(tick, trace, (place, 1)) is not None for place in range(at, at + size, step)):
                return True
        return False

    def _touch(self, tick: int, trace: TickTrace, spot: Spot) -> Candidate | None:
        if not overlaps(spot, trace.writes):
            return None
        what = trace.what
        if isinstance(what, Copy):
            return self._copied(tick, trace, spot)
        if isinstance(what, Draw | Clear | Blit):
            for surface, base in trace.surfaces:
                if base <= spot[0] < base + surface.size:
                    found = self._find(surface, surface.address + spot[0] - base)
                    if found is not None:
                        x, y = found[0] // surface.grid[0], found[1] // surface.grid[1]
                        return self._of_surface(Candidate(tick, trace, surface, x, y))
            return None
        return Candidate(tick, trace, defines=what == "load" or type(what).__name__ == "Upload")

    def _find(self, surface: Surface, address: int) -> tuple[int, int] | None:
        """`Surface.find`; consecutive draws share their surfaces, which the traces keep."""
        key = id(surface), address
        if key not in self._found:
            self._found[key] = surface.find(address)
        return self._found[key]

    def _of_surface(self, touch: Candidate) -> Candidate | None:
        what, x, y = touch.trace.what, touch.x, touch.y
        if isinstance(what, Clear):
            left, top, right, bottom = what.rectangle
            if not (left <= x < right and top <= y < bottom):
                return None
            slot = touch.surface.slot if touch.surface is not None else None
            touch.defines = set(what.channels) >= (set("rgba") if slot is not None else set("zs"))
        elif isinstance(what, Blit):
            left, top, width, height = what.rectangle
            if not (left <= x < left + width and top <= y < top + height):
                return None
            touch.taps = _blit_taps(touch, what)
            touch.defines = what.operation == "SRCCOPY"
        return touch

    @staticmethod
    def _copied(tick: int, trace: TickTrace, spot: Spot) -> Candidate | None:
        """A transfer of the copy engine, if it writes the byte."""
        plan = trace.plan
        touch = Candidate(tick, trace, defines=True)
        if plan is None:
            return touch
        source, target = plan.source, plan.target
        base = next((at for at, size in trace.writes if at <= spot[0] < at + size), None)
        if base is None:
            return touch
        # Ranges of memory begin where the rectangle's first blocks do.
        low = trace.event.writes[0].address
        offset = low + spot[0] - base - target.plane.va
        rows = target.plane.rows(np.arange(target.y, target.y + plan.rows, dtype=np.int64))
        columns = target.plane.columns(np.arange(plan.columns * target.element, dtype=np.int64) + target.x)
        hits = np.flatnonzero(np.isin(offset - rows, columns))
        if not len(hits):
            return None
        line = int(hits[0])
        byte = int(np.flatnonzero(columns == offset - rows[line])[0])
        if plan.kind == "fill" or not trace.sources:
            return touch
        from_byte = source.x + byte // target.element * source.element + min(byte % target.element, source.element - 1)
        address = source.plane.va + int(source.plane.columns(np.array([from_byte], np.int64))[0])
        address += int(source.plane.rows(np.array([source.y + line], np.int64))[0])
        tap = _tap(trace, address, spot[1], 1.0)
        touch.taps = () if tap is None else (tap,)
        return touch


def _tap(trace: TickTrace, address: int, size: int, weight: float) -> Tap | None:
    for va, at, length in trace.sources:
        if va <= address < va + length:
            return Tap(address, (at + address - va, size), weight)
    return None


def _blit_taps(touch: Candidate, blit: Blit) -> tuple[Tap, ...]:
    """The source pixels of a blit's target pixel, with their weights."""
    plan, trace = touch.trace.plan, touch.trace
    assert touch.surface is not None
    size = touch.surface.format.bytes
    i, j = touch.x - blit.rectangle[0], touch.y - blit.rectangle[1]
    if plan.copy is not None:
        side = plan.copy[0]
        column = side.x + i * size
        plane = plan.source
        address = plane.va + int(plane.columns(np.array([column], np.int64))[0])
        address += int(plane.rows(np.array([side.y + j], np.int64))[0])
        taps = [_tap(trace, address, size, 1.0)]
        return tuple(tap for tap in taps if tap is not None)
    if plan.columns is None or plan.rows is None:
        return ()
    start = plan.source.va + plan.reads[0]
    across = float(plan.columns[3, i : i + 1].view(np.float32)[0])
    down = float(plan.rows[j, 3:4].view(np.float32)[0])
    parts = [
        (1, 1, (1 - across) * (1 - down)), (2, 1, across * (1 - down)),
        (1, 2, (1 - across) * down), (2, 2, across * down),
    ]  # fmt: skip
    taps = [
        _tap(trace, start + int(plan.columns[c, i]) + int(plan.rows[j, r]), size, weight)
        for c, r, weight in parts
        if weight
    ]
    return tuple(tap for tap in taps if tap is not None)
