"""Minimising captures: keep some frames or one draw, and the memory that these need.

Memory that is needed is found by trial: a page is removed if all pictures stay the same without it. That does not
depend on how a page is read (vertices, textures, lists, shaders), and proves itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from pocketgpu.capture.driver import drive
from pocketgpu.capture.formats.pgc import numbers as F
from pocketgpu.capture.formats.pgc.contents import (
    Contents,
    Event,
    FrameContents,
    Load,
    Present,
    Store,
    Submit,
    bytes_of,
    digest,
)
from pocketgpu.capture.formats.pgc.encoder import encode
from pocketgpu.capture.formats.pgc.traces import PgcLog, PgcTrace, trace_of
from pocketgpu.capture.pgc import snapshot
from pocketgpu.capture.pgc.one_draw import one_draw
from pocketgpu.capture.pgc.verify import pictures_of
from pocketgpu.displayed import line_of
from pocketgpu.errors import NoPictureError, PocketGPUError
from pocketgpu.late_dataclass import dataclass
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.maxwell.gm20b import GM20B
    from pocketgpu.pica.n3ds import N3DS

PAGE = 4096
_QUICK = "zstd"
"""The packing with which sizes are compared."""
REPLAYS = 2000
"""The most replays for finding out what is needed; pages that were not tried by then are kept."""


@dataclass(frozen=True, slots=True)
class Keep:
    """Frames first to last, both included; or one draw of frame `first`."""

    first: int
    last: int
    draw: int | None = None

    def __repr__(self) -> str:
        return line_of(self, str(self))

    def __str__(self) -> str:
        if self.draw is not None:
            return f"f{self.first}/d{self.draw}"
        return f"f{self.first}" if self.first == self.last else f"f{self.first}-f{self.last}"


def parse_keep(text: str) -> Keep:
    """`f3`, `f3-f5` or `f3/d17`. Raises ValueError for anything else."""
    match = re.fullmatch(r"f(\d{1,9})(?:-f?(\d{1,9})|/d(\d{1,9}))?", text.strip())
    if match is None:
        raise ValueError(f"{text!r} names nothing to keep. Write f3 (a frame), f3-f5 (frames) or f3/d17 (a draw).")
    first, last, draw = (int(part) if part is not None else None for part in match.groups())
    assert first is not None
    if last is not None and last < first:
        raise ValueError(f"{text!r} ends before it begins. Write the lower frame first.")
    return Keep(first, first if last is None else last, draw)


@dataclass(frozen=True, slots=True)
class Minimised:
    """A smaller capture. bytes_before, bytes_after: of memory that it stores; replays: how many it took."""

    contents: Contents
    bytes_before: int
    bytes_after: int
    replays: int

    def __repr__(self) -> str:
        return line_of(self, f"{self.bytes_after:,} of {counted(self.bytes_before, 'byte')} of memory")


def minimise(
    contents: Contents,
    keep: Keep | None = None,
    *,
    threads: int = 1,
    switches: Mapping[str, str] | None = None,
    replays: int = REPLAYS,
    progress: Callable[[int], None] = lambda _: None,
) -> Minimised:
    """Leave out the memory that no kept event needs; keep all frames, some of them, or one draw.

    The digests of the result are those of its own pictures. replays: the most that are made; progress is called for
    each. Raises NoPictureError if there is no such frame or draw.
    """
    count = len(contents.frames)
    if keep is not None and keep.last >= count:
        hint = f"It has frames f0 to f{count - 1}." if count else "It has no frame."
        raise NoPictureError(f"there is no frame {keep.last}", location=str(keep), hint=hint)
    from pocketgpu.capture.replay import Capture

    machine = Capture("", trace_of(contents)).machine(threads, switches)
    targets: list[tuple[int, int]] = []
    whole = contents
    if keep is not None:
        contents, targets = _KEEPING[contents.console](contents, keep, machine, switches)
    contents = replace(contents, tail=())
    single = keep is not None and keep.draw is not None
    found = _Search(contents, machine, targets, replays, progress, single).run()
    if keep is None or single or not keep.first:
        return found
    # What earlier frames drew may be larger than the commands that draw it.
    longer = replace(_after_earlier_events(whole, keep), tail=())
    if len(encode(longer, _QUICK)) >= len(encode(found.contents, _QUICK)):
        return found
    second = _Search(longer, machine, targets, max(replays - found.replays, 1), progress)
    if second.show(longer) != [frame.pictures for frame in found.contents.frames]:
        return found
    again = second.run()
    return replace(again, replays=found.replays + again.replays)


def cut(
    contents: Contents, keep: Keep, *, threads: int = 1, switches: Mapping[str, str] | None = None
) -> Contents:
    """Some frames of a capture, or one draw, with all memory that there is before them: quick, and larger than what
    `minimise` makes of it. Raises NoPictureError if there is no such frame or draw.
    """
    count = len(contents.frames)
    if keep.last >= count:
        hint = f"It has frames f0 to f{count - 1}." if count else "It has no frame."
        raise NoPictureError(f"there is no frame {keep.last}", location=str(keep), hint=hint)
    from pocketgpu.capture.replay import Capture

    machine = Capture("", trace_of(contents)).machine(threads, switches)
    found, _ = _KEEPING[contents.console](contents, keep, machine, switches)
    return replace(found, tail=())


def _keep_3ds(
    contents: Contents, keep: Keep, machine: N3DS, choices: Mapping[str, str] | None
) -> tuple[Contents, list[tuple[int, int]]]:
    if keep.draw is not None:
        return one_draw(contents, keep.first, keep.draw, machine)
    frames = contents.frames[keep.first : keep.last + 1]
    if not keep.first:
        return replace(contents, frames=frames), []
    driver = drive(PgcTrace("", contents), machine=machine)
    while driver.frame < keep.first:
        driver.play_frame()
    memory = snapshot.memory_of(machine)
    frames = [FrameContents((*memory, *frames[0].events), frames[0].pictures), *frames[1:]]
    return replace(contents, frames=frames, state=snapshot.state_of(machine)), []


def _keep_switch(
    contents: Contents, keep: Keep, machine: GM20B, choices: Mapping[str, str] | None
) -> tuple[Contents, list[tuple[int, int]]]:
    if keep.draw is None:
        return _keep_frames(contents, keep, machine), []
    from pocketgpu.capture.pgc import channel_one_draw

    return channel_one_draw.one_draw(
        contents, keep.first, keep.draw, cast(PgcLog, trace_of(contents)), choices
    )  # fmt: skip


_KEEPING: Mapping[str, Callable[..., tuple[Contents, list[tuple[int, int]]]]] = {
    "3DS": _keep_3ds,
    "Switch": _keep_switch,
}
"""How each console's captures are cut, by the name of the console: contents, what to keep, a machine, choices."""


def _keep_frames(contents: Contents, keep: Keep, machine: GM20B) -> Contents:
    """The kept frames, preceded by the machine's state before them, if they show the same then; otherwise preceded by
    all earlier events. (Queries continue to count, and a channel may stop inside a packet: neither is in the state of a
    capture.)"""
    if not keep.first:
        return replace(contents, frames=contents.frames[: keep.last + 1])
    from pocketgpu.capture.pgc.channel_snapshot import begin_at
    from pocketgpu.capture.replay import Capture

    log = cast(PgcLog, trace_of(contents))
    capture, kept = Capture("", log), range(keep.first, keep.last + 1)
    size = contents.digest_size
    expected = [pictures_of(frame, "Switch", size) for frame in capture.render(kept, machine=machine, pictures=False)]
    short = begin_at(log, keep.first, keep.last, machine)
    if short is not None:
        short.digest_size, short.check_size = size, contents.check_size
        again = Capture("", trace_of(short)).render(machine=machine, pictures=False)
        if [pictures_of(frame, "Switch", size) for frame in again] == expected:
            return short
    return _after_earlier_events(contents, keep)


def _after_earlier_events(contents: Contents, keep: Keep) -> Contents:
    """The kept frames; the events of all earlier ones come first in the first of them."""
    before = [
        event for frame in contents.frames[: keep.first] for event in frame.events if not isinstance(event, Present)
    ]
    first, *others = contents.frames[keep.first : keep.last + 1]
    return replace(contents, frames=[FrameContents((*before, *first.events), first.pictures), *others])


class _Search:
    """Leaves out parts as long as the pictures, and the final contents of `targets`, stay the same.

    single: it is about one draw, which stays even if it changes no pixel.
    """

    def __init__(
        self,
        contents: Contents,
        machine: N3DS | GM20B,
        targets: Sequence[tuple[int, int]],
        most: int,
        progress: Callable[[int], None],
        single: bool = False,
    ) -> None:
        self.contents, self.machine, self.targets = contents, machine, targets
        self.most, self.progress, self.single = most, progress, single
        self.replays = 0
        self.parts: list[list[Event]] = []
        self.frames = [[list(_cut(event)) for event in frame.events] for frame in contents.frames]
        self.units: list[tuple[int, int, int]] = [
            (f, e, p)
            for f, events in enumerate(self.frames)
            for e, parts in enumerate(events)
            for p, part in enumerate(parts)
            if isinstance(part, Load | Store)
            or (isinstance(part, Submit) and f == 0 and len(self.frames) == 1 and not single)
        ]
        self.dropped: set[tuple[int, int, int]] = set()
        self.goal: list[object] = []

    def run(self) -> Minimised:
        contents = self.contents
        before = _stored(contents)
        self.goal = self.show(contents)
        self.reduce([unit for unit in self.units if isinstance(self.part(unit), Load | Store)])
        self.reduce([unit for unit in self.units if isinstance(self.part(unit), Submit)])
        small = self.without(self.dropped)
        pictures = cast("list[dict[int, bytes]]", self.goal[: len(small.frames)])
        small.frames = [FrameContents(frame.events, shown) for frame, shown in zip(small.frames, pictures, strict=True)]
        small.coverage |= F.PICTURES_COVERED
        return Minimised(small, before, _stored(small), self.replays)

    def part(self, unit: tuple[int, int, int]) -> Event:
        frame, event, part = unit
        return self.frames[frame][event][part]

    def reduce(self, units: Sequence[tuple[int, int, int]]) -> None:
        """Leave out as many of some units as possible: all, or else each half separately."""
        waiting = [list(units)]
        while waiting and self.replays < self.most:
            some = waiting.pop()
            if not some:
                continue
            if self.same(self.dropped | set(some)):
                self.dropped |= set(some)
            elif len(some) > 1:
                middle = len(some) // 2
                waiting += [some[:middle], some[middle:]]

    def same(self, dropped: set[tuple[int, int, int]]) -> bool:
        try:
            return self.show(self.without(dropped)) == self.goal
        except PocketGPUError:
            return False  # it does not even replay without them

    def without(self, dropped: set[tuple[int, int, int]]) -> Contents:
        frames = []
        for f, events in enumerate(self.frames):
            kept = [part for e, parts in enumerate(events) for p, part in enumerate(parts) if (f, e, p) not in dropped]
            frames.append(FrameContents(tuple(_joined(kept))))
        return replace(self.contents, frames=frames)

    def show(self, contents: Contents) -> list[object]:
        """Digests of all pictures by frame, then those of the targets after the last."""
        from pocketgpu.capture.replay import Capture

        self.replays += 1
        self.progress(self.replays)
        capture = Capture("", trace_of(contents))
        shown: list[object] = []
        drawn = 0
        for frame in capture.render(machine=self.machine, pictures=False):
            shown.append(pictures_of(frame, contents.console, contents.digest_size))
            drawn += frame.draws
        memory = self.machine.memory
        shown += (digest(memory.read(address, size), 32) for address, size in self.targets)
        if self.single:
            shown.append(drawn)
        return shown


def _cut(event: Event) -> Sequence[Event]:
    """A load or store split into parts of a page each; other events unchanged."""
    if not isinstance(event, Load | Store):
        return (event,)
    data = bytes_of(event.pieces)
    start = event.address if isinstance(event, Load) else event.gpu_va if event.handle is None else event.offset
    cuts = [0, *range(-start % PAGE or PAGE, len(data), PAGE)]
    parts = ((at, data[at:end]) for at, end in zip(cuts, [*cuts[1:], len(data)], strict=True))
    if isinstance(event, Load):
        return [Load(event.address + at, (part,)) for at, part in parts]
    return [Store(event.handle, event.offset + at, event.gpu_va + at, (part,)) for at, part in parts]


def _joined(events: Sequence[Event]) -> list[Event]:
    """Join loads that are adjacent in order and address."""
    found: list[Event] = []
    for event in events:
        last = found[-1] if found else None
        if isinstance(event, Load) and isinstance(last, Load):
            if last.address + sum(map(len, last.pieces)) == event.address:
                found[-1] = Load(last.address, last.pieces + event.pieces)
                continue
        elif isinstance(event, Store) and isinstance(last, Store) and event.handle == last.handle:
            size = sum(map(len, last.pieces))
            if (last.offset + size, last.gpu_va + size) == (event.offset, event.gpu_va) or (
                event.handle is None and last.gpu_va + size == event.gpu_va
            ):
                found[-1] = Store(last.handle, last.offset, last.gpu_va, last.pieces + event.pieces)
                continue
        found.append(event)
    for i, event in enumerate(found):
        if isinstance(event, Load):
            found[i] = Load(event.address, (bytes_of(event.pieces),))
        elif isinstance(event, Store):
            found[i] = Store(event.handle, event.offset, event.gpu_va, (bytes_of(event.pieces),))
    return found


def _stored(contents: Contents) -> int:
    return sum(len(piece) for event in contents.memory_events() for piece in event.pieces)


__all__ = ["Keep", "Minimised", "minimise"]


def __dir__() -> list[str]:
    return [*__all__]
