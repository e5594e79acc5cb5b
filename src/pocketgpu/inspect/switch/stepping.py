"""Steps of programs in a Switch recording: of a vertex, of what later programs do with a primitive, of a fragment, of
a thread of a launch.

The draw or launch is replayed with an observer of one lane. Programs run on the interpreter for that. Afterwards the
machine continues from a checkpoint, so the replay leaves no trace.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from pocketgpu.errors import UsageError
from pocketgpu.inspect.model.address import Address
from pocketgpu.inspect.model.steppable import Part, Steppable
from pocketgpu.inspect.stepping.company import ALONE, Company
from pocketgpu.inspect.stepping.forced_registers import Forced
from pocketgpu.inspect.stepping.machines import (
    Words,
    pixel_of,
    point_of_patch,
    run_of_geometry,
    thread_of_patch,
    vertex_of,
    watch_launches,
    watch_stage,
)
from pocketgpu.inspect.stepping.switch import warp_of
from pocketgpu.inspect.stepping.trace import Trace
from pocketgpu.inspect.stepping.warps import MOST, Choose
from pocketgpu.inspect.switch.primitives.later import LATE_PROGRAMS, late_programs
from pocketgpu.inspect.switch.threads import check_thread, first_of_row
from pocketgpu.inspect.switch.vertices import fresh
from pocketgpu.maxwell.engines.compute.queue_metadata import Launch
from pocketgpu.maxwell.engines.threed.draws import STAGES, Draw
from pocketgpu.maxwell.graphics.draw.plans import PIXEL
from pocketgpu.maxwell.graphics.stages.chain import CONTROL, EVALUATION
from pocketgpu.maxwell.graphics.stages.late_stages import LateStages
from pocketgpu.wording import counted

if TYPE_CHECKING:
    from pocketgpu.inspect.switch.inspection import SwitchInspection

_HINT = "Such as f1/d17/v5, f1/d17/t3/gs0, f1/d17/px8,9 or f0/e9/b0,0,0/t3,0,0."
_MOST_FRAGMENTS = 64
"""Most fragments on one pixel that are traced; the last of them is returned."""


def trace_of(
    inspection: SwitchInspection, address: Address, most: int | None = None, overrides: Forced | None = None,
    company: Company = ALONE,
) -> Trace:  # fmt: skip
    """See `SwitchInspection.trace`."""
    most = MOST if most is None else most
    if not address.names_event:
        raise UsageError("this address names no draw or launch", location=str(address), hint=_HINT)
    tick = inspection.tick_of(address.place)
    what = inspection.recorder.traces[tick - 1].what
    if isinstance(what, Launch):
        return _thread(inspection, what, address, tick, most, overrides, company)
    if not isinstance(what, Draw):
        raise UsageError("this event runs no program", location=str(address), hint=_HINT)
    if sum(one is not None for one in (address.vertex, address.primitive, address.pixel)) != 1:
        raise UsageError(
            "this address names no vertex, primitive or pixel of the draw", location=str(address), hint=_HINT
        )
    return _lane(inspection, what, address, tick, most, overrides, company)


def programs_at(inspection: SwitchInspection, address: Address) -> list[Steppable]:
    """See `Inspection.programs_at`, for the address of an event."""
    event = inspection.event(address)
    trace = inspection.recorder.traces[inspection.tick_of(event.address) - 1]
    place, what = event.address, trace.what
    if isinstance(what, Launch):
        parts = Part("b", "block", tuple(what.grid)), Part("t", "thread", tuple(what.block))
        return [Steppable(f"program {what.program:#x}", place, parts)]
    if not isinstance(what, Draw):
        return []
    found, stages = [], {one.stage for one in what.shaders}
    first = min(stages, default=PIXEL)
    if first != PIXEL:
        found.append(Steppable(f"{STAGES[first]} program", place, (Part("v", "vertex", (what.count,)),)))
    for stage, (letter, name) in late_programs(stages).items():
        parts = Part("t", "primitive", (None,)), Part(letter, name, (None,))
        found.append(Steppable(f"{STAGES[stage]} program", place, parts))
    if PIXEL in stages:
        sizes = [(one.width // one.grid[0], one.height // one.grid[1]) for one, _ in trace.surfaces[:1]]
        limits = sizes[0] if sizes else (None, None)
        found.append(Steppable(f"{STAGES[PIXEL]} program", place, (Part("px", "pixel", limits),)))
    return found


def lanes_at(inspection: SwitchInspection, address: Address) -> list[Address]:
    """See `Inspection.lanes_at`."""
    if address.names_event and address.pixel is not None:
        x, y = (number & ~1 for number in address.pixel)
        return [address.at(pixel=(x + n % 2, y + n // 2)) for n in range(4)]
    if not address.names_event or address.thread is None:
        return [address]
    what = inspection.recorder.traces[inspection.tick_of(address.place) - 1].what
    if not isinstance(what, Launch):
        return [address]
    _, thread = check_thread(what, address)
    return [address.at(thread=one) for one in warp_of(what.block, thread)]


def _thread(
    inspection: SwitchInspection, launch: Launch, address: Address, tick: int, most: int,
    overrides: Forced | None, company: Company,
) -> Trace:  # fmt: skip
    if address.block is None and address.thread is None:
        raise UsageError("this address names no thread of the launch", location=str(address), hint=_HINT)
    block, thread = check_thread(launch, address)
    player = inspection.player
    start = first_of_row(inspection, launch, tick)
    player.go(player.at(start))
    try:
        with watch_launches(
            player.machine.grids.launcher, (block, thread), number=tick - 1 - start, most=most,
            overrides=overrides, company=company,
        ) as watch:  # fmt: skip
            player.play_to(player.at(tick))
    finally:
        player.diverged = True  # blocks ran in another order than usual
    if not watch.traces:
        raise UsageError("the thread never ran: an earlier one hangs, or the launch was refused", location=str(address))
    (trace,) = watch.traces
    trace.name, trace.address = f"program {launch.program:#x}", str(address)
    if company.near:
        own = _near(inspection, address, company)
        places = (",".join(map(str, one)) for one in (block, own.thread or thread))
        trace.lane, trace.address = "block {}, thread {}".format(*places), str(own)
    return trace


def _near(inspection: SwitchInspection, address: Address, company: Company) -> Address:
    """The address of the lane that was traced for another one."""
    lanes = lanes_at(inspection, address)
    return lanes[lanes.index(address) + company.near]


def _lane(
    inspection: SwitchInspection, draw: Draw, address: Address, tick: int, most: int,
    overrides: Forced | None, company: Company,
) -> Trace:  # fmt: skip
    stages = [one.stage for one in draw.shaders]
    player = inspection.player
    machine = player.machine
    words = machine.memory.arena.view(np.uint32)
    if address.vertex is not None:
        pipeline = min(stages, default=PIXEL)
        player.go(player.at(tick))
        numbers = fresh(draw).vertex_numbers
        if pipeline == PIXEL:
            raise UsageError("the draw has no vertex program", location=str(address))
        if address.vertex >= len(numbers):
            raise UsageError(f"the draw has {counted(len(numbers), 'vertex', 'vertices')}", location=str(address))
        choose, lane, runs = vertex_of(words, int(numbers[address.vertex])), f"vertex {address.vertex}", 1
    elif address.primitive is not None:
        pipeline, number = _late_of(address, stages)
        choose, runs = _late_lane(machine.drawing.late, words, pipeline, address.primitive, number), 1
        lane = f"primitive {address.primitive}, {LATE_PROGRAMS[pipeline][1]} {number}"
    else:
        assert address.pixel is not None
        pipeline = PIXEL
        if PIXEL not in stages:
            raise UsageError("the draw has no pixel program", location=str(address))
        x, y = address.pixel
        choose, lane, runs = pixel_of(words, x, y), f"pixel ({x}, {y})", _MOST_FRAGMENTS
    player.go(player.at(tick - 1))
    drawing = machine.drawing
    before = drawing.tier
    drawing.tier = "general"
    name = f"{STAGES[pipeline]} program"
    try:
        with watch_stage(
            drawing.programs, pipeline, choose, name=name, lane=lane, most=most, runs=runs,
            overrides=overrides, company=company,
        ) as watch:  # fmt: skip
            player.play_to(player.at(tick))
    finally:
        drawing.tier = before
        player.diverged = True
    if watch.traces:
        trace = watch.traces[-1]
        trace.address = str(address)
        if company.near:
            own = _near(inspection, address, company)
            trace.lane, trace.address = f"pixel {own.pixel}", str(own)
        return trace
    if address.primitive is not None:
        what = "the program has no such run for this primitive"
    else:
        vertex = address.vertex is not None
        what = "the vertex was never shaded" if vertex else "no fragment of the draw is on this pixel"
    raise UsageError(what, location=str(address), hint=f"'why {address.place}' shows what happened to the draw.")


def _late_of(address: Address, stages: Collection[int]) -> tuple[int, int]:
    """The stage that an address names, and the number of its run. A primitive alone names the last stage's first run.

    :raises UsageError: the draw has no such program.
    """
    programs = late_programs(stages)
    letter, number = address.late or ("", 0)
    found = [stage for stage, (own, _) in programs.items() if letter in ("", own)]
    if not found:
        what = next((STAGES[stage] for stage, (own, _) in LATE_PROGRAMS.items() if own == letter), "later")
        raise UsageError(
            f"the draw has no {what} program", location=str(address),
            hint=f"'{address.place}' has {', '.join(STAGES[stage] for stage in sorted(stages)) or 'no'} programs.",
        )  # fmt: skip
    return found[-1], number


def _late_lane(late: LateStages, words: Words, stage: int, primitive: int, number: int) -> Choose:
    if stage == CONTROL:
        return thread_of_patch(words, primitive, number)
    if stage == EVALUATION:
        return point_of_patch(words, late.tessellation.room.record, primitive, number)
    return run_of_geometry(words, late.geometry.room.record, primitive, number)


__all__ = ["lanes_at", "programs_at", "trace_of"]
