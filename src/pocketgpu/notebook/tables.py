"""What the debugger counts, as tables for notebooks, the same for both consoles.

    run = pocketgpu.debug("scene.pgc")
    tables.costs(run, 0)                 # what each draw of frame 0 costs
    tables.frames(run)                   # what each frame costs
    tables.overdraw(run, "f0/d17")       # how many pixels got how many fragments
    tables.textures(run, 0)              # textures that the draws of frame 0 use
    tables.events(run, 0)                # which unit does what
    tables.funnel(run, "f0/d17")         # what became of a draw
    tables.captures(sweep)               # what a sweep says about each capture
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import numpy as np

from pocketgpu.inspect.model.overdraw import Over
from pocketgpu.late_dataclass import dataclass
from pocketgpu.notebook.rows import Row, Table
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.model.address import Address
    from pocketgpu.inspect.model.inspection import Inspection
    from pocketgpu.sweeps.sweep import Sweep

MOST_FRAMES: Final = 100
"""Frames that `frames` looks at if it is not told which."""
MOST_COUNT: Final = 255
"""Pixels with more fragments than this are counted together."""


@dataclass(frozen=True, repr=False)
class DrawCost(Row):
    """What a draw costs. draw: its number in the frame. `pass_`: the number of its pass; target: what that draws to.
    vertices: that it names. primitives, fragments: as `Inspection.costs` counts them."""

    address: str
    draw: int
    pass_: int | None
    target: str
    title: str
    vertices: int
    primitives: int
    fragments: int


@dataclass(frozen=True, repr=False)
class FrameCost(Row):
    """What a frame costs: the sums of its draws."""

    frame: int
    passes: int
    draws: int
    vertices: int
    primitives: int
    fragments: int


@dataclass(frozen=True, repr=False)
class OverdrawCount(Row):
    """How many pixels got so many fragments. share: of all pixels of the target."""

    fragments: int
    pixels: int
    share: float


@dataclass(frozen=True, repr=False)
class TextureUse(Row):
    """A texture that draws use. bytes: of memory. draws: how many use it; first: the address of the first of them.
    fault: why it cannot be read, or ""."""

    bound: str
    kind: str
    format: str
    width: int
    height: int
    depth: int
    layers: int
    levels: int
    bytes: int | None
    memory: str
    draws: int
    first: str
    fault: str


@dataclass(frozen=True, repr=False)
class EventRow(Row):
    """An event. unit: of the console that does it. reads, writes: bytes of memory that it touches, or may touch."""

    address: str
    kind: str
    unit: str
    pass_: int | None
    title: str
    reads: int
    writes: int


@dataclass(frozen=True, repr=False)
class StageCount(Row):
    """A stage of a draw. of: what `came` counts; the stage's own name, or the vertices before primitives. came, passed:
    how many entered and passed it; stopped: how many did not. stopped_by, register: why, for most of them."""

    stage: str
    of: str
    came: int
    passed: int
    stopped: int
    stopped_by: str
    register: str


@dataclass(frozen=True, repr=False)
class CaptureRow(Row):
    """What a sweep says about a capture. milliseconds: of all its frames together; None if it was not replayed. draws:
    of all frames; None where they were not counted. findings: how many. message: what went wrong, or ""."""

    capture: str
    state: str
    console: str
    frames: int
    milliseconds: float | None
    draws: int | None
    findings: int
    message: str


def costs(run: Inspection, frame: int = 0) -> Table[DrawCost]:
    """What each draw of a frame costs, in order.

    :raises UsageError: there is no such frame.
    """
    found = run.costs(frame)
    targets = {one.number: one.target for one in run.passes(frame)}
    columns = (one.tolist() for one in (found.vertices, found.primitives, found.fragments))
    rows = []
    for event, vertices, primitives, fragments in zip(run.draws(frame), *columns, strict=True):
        assert event.draw is not None
        target = "" if event.pass_ is None else targets.get(event.pass_, "")
        rows.append(DrawCost(
            str(event.address), event.draw, event.pass_, target, event.title, vertices, primitives, fragments
        ))  # fmt: skip
    return Table(DrawCost, rows, str(found), left_text(found.left))


def most_text(most: int) -> str:
    """What a count of MOST_COUNT means; nothing for smaller ones."""
    return f"{MOST_COUNT} means so many or more" if most == MOST_COUNT else ""


def left_text(left: int) -> str:
    """The sentence about shapes whose fragments are not counted."""
    return f"fragments of {counted(left, 'shape')} are not counted, as they are too many" if left else ""


def chosen(run: Inspection, wanted: Iterable[int] | None) -> tuple[list[int], str]:
    """The frames to look at, and a sentence about those that are left out: all that are wanted, or the first of all."""
    if wanted is not None:
        return list(wanted), ""
    count = run.frame_count
    left = f"only the first {MOST_FRAMES} of {count} frames" if count > MOST_FRAMES else ""
    return list(range(min(count, MOST_FRAMES))), left


def sentences(*parts: str) -> str:
    """Those that are there, in one line."""
    return "; ".join(filter(None, parts))


def frames(run: Inspection, wanted: Iterable[int] | None = None) -> Table[FrameCost]:
    """What frames cost. Each is replayed once for this. wanted: their numbers; without them the first `MOST_FRAMES`.

    :raises UsageError: there is no such frame.
    """
    numbers, left_out = chosen(run, wanted)
    rows, shapes = [], 0
    for frame in numbers:
        found = run.costs(frame)
        sums = found.to_json()
        shapes += found.left
        rows.append(FrameCost(
            frame, len(run.passes(frame)), sums["draws"], sums["vertices"], sums["primitives"], sums["fragments"]
        ))  # fmt: skip
    return Table(FrameCost, rows, counted(len(rows), "frame"), sentences(left_out, left_text(shapes)))


def overdraw(run: Inspection, place: Address | str, over: Over = "frame") -> Table[OverdrawCount]:
    """How many pixels of a draw's target got how many fragments; see `Inspection.overdraw`.

    :raises UsageError: there is no such place, or nothing was drawn before it.
    """
    found = run.overdraw(place, over)
    values, pixels = np.unique(np.minimum(found.counts, MOST_COUNT), return_counts=True)
    rows = [
        OverdrawCount(value, number, number / found.counts.size)
        for value, number in zip(values.tolist(), pixels.tolist(), strict=True)
    ]
    more = most_text(int(values[-1])) if values.size else ""
    return Table(OverdrawCount, rows, f"{found}  {found.address}", sentences(more, left_text(found.left)))


def textures(run: Inspection, frame: int = 0) -> Table[TextureUse]:
    """The textures that draws of a frame use, each once; those that take most memory first.

    :raises UsageError: there is no such frame.
    """
    from pocketgpu.notebook.texture_uses import uses_of

    found = uses_of(run, frame)
    rows = []
    for use in found.uses:
        facts = use.facts
        memory = "" if facts.address is None else f"{facts.address:#x}"
        rows.append(TextureUse(
            facts.bound, facts.kind, facts.format, facts.width, facts.height, facts.depth, facts.layers, facts.levels,
            use.size, memory, use.draws, str(use.first), facts.fault,
        ))  # fmt: skip
    return Table(TextureUse, rows, str(found), found.left).sorted("bytes")


def events(run: Inspection, frame: int = 0) -> Table[EventRow]:
    """The events of a frame, in order.

    :raises UsageError: there is no such frame.
    """
    rows = [
        EventRow(
            str(event.address), event.kind, run.unit(event), event.pass_, event.title,
            sum(one.size for one in event.reads), sum(one.size for one in event.writes),
        )
        for event in run.events(frame)
    ]  # fmt: skip
    return Table(EventRow, rows, f"frame {frame}: {counted(len(rows), 'event')}")


def funnel(run: Inspection, place: Address | str) -> Table[StageCount]:
    """What became of a draw, or of one of its triangles, stage by stage; see `Inspection.why`.

    :raises UsageError: there is no such draw.
    """
    from pocketgpu.inspect.model.inspection import as_address, draw_of

    answer = run.why(draw_of(run, as_address(place)))
    rows = []
    for stage in answer.stages:
        worst = max(stage.lost, key=lambda one: one.count, default=None)
        stopped = worst if worst is not None and worst.count else None
        rows.append(StageCount(
            stage.name, stage.source or stage.name, stage.came, stage.passed, sum(one.count for one in stage.lost),
            f"{stopped.count:,} {stopped.reason}" if stopped else "", stopped.register if stopped else "",
        ))  # fmt: skip
    return Table(StageCount, rows, answer.conclusion[0])


def captures(sweep: Sweep) -> Table[CaptureRow]:
    """The rows of a sweep so far, in the order of the captures. Iterate over the sweep first, to run it."""
    rows = []
    for row in sweep.rows:
        times = sweep.store.times.get(row.capture)
        took = sum(times.frames) if times is not None and times.frames else None
        rows.append(CaptureRow(
            row.capture, row.state, row.console or "", row.frames, took, row.counts.get("draws"), len(row.findings),
            row.message,
        ))  # fmt: skip
    todo = len(sweep) - len(rows)
    left = f"{counted(todo, 'capture')} not done yet" if todo else ""
    return Table(CaptureRow, rows, f"{sweep.what.work}: {counted(len(rows), 'capture')}", left)


__all__ = [
    "CaptureRow",
    "DrawCost",
    "EventRow",
    "FrameCost",
    "OverdrawCount",
    "StageCount",
    "TextureUse",
    "captures",
    "costs",
    "events",
    "frames",
    "funnel",
    "overdraw",
    "textures",
]


def __dir__() -> list[str]:
    return [*__all__]
