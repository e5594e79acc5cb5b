"""Draws that would not end, or only after hours: they are stopped, an event tells, and the next draw is as ever."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from support import switch_draws as draws
from support.switch_draws import EVALUATION, GEOMETRY, PATCHES, PIXEL, VERTEX_A, VERTEX_B, Program

from pocketgpu.builder.maxwell import PushBuffer
from pocketgpu.events import Event
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw import drawing
from pocketgpu.maxwell.graphics.programs.programs import LIMIT
from pocketgpu.maxwell.host import channel
from pocketgpu.maxwell.mme.assembler import assemble

CODE = 0x5_0000_0000
PLAIN = {VERTEX_B: draws.PLAIN, PIXEL: draws.SHADED}
LOOP = "\nendless:\nFADD R0, R0, 0.125\nBRA endless"
ENDLESS = Program(draws.SHADED.text + LOOP, draws.SHADED.fields)
BIG = 0x4000


class Machine:
    """A GPU with the memory that those draws want."""

    def __init__(self, threads: int = 1) -> None:
        self.gpu = GM20B(threads)
        self.gpu.drawing.tier = "general"
        self.gpu.map(CODE, 0x4000)
        for address, size in draws.SIZES.items():
            self.gpu.map(address, size, kind="generic_16bx2" if address == draws.TARGETS else "pitch")

    def draw(
        self, programs: dict[int, Program], op: int = 4, count: int = 24,
        change: Callable[[PushBuffer], Any] = lambda pb: None,
    ) -> tuple[bytes, list[Event], float]:  # fmt: skip
        """The targets after one draw on black, events, seconds."""
        memory = self.gpu.memory
        for address, data in draws.memory().items():
            memory.write(address, data)
        memory.write(draws.TARGETS, bytes(draws.SIZES[draws.TARGETS]))
        for stage, program in programs.items():
            memory.write(draws.PROGRAMS + draws.PROGRAM_ROOM * stage, program.data(stage))
        pb = PushBuffer()
        draws.state(pb)
        draws.stages(pb, programs)
        change(pb)
        pb.method("BEGIN", OP=op).method("DRAW_VERTEX_ARRAY", count).method("END", 0)
        memory.write(CODE, pb.tobytes())
        started = time.perf_counter()
        self.gpu.submit([CODE | 1 << 41 | len(pb) << 42])
        self.gpu.finish()
        took = time.perf_counter() - started
        return memory.read(draws.TARGETS, draws.SIZES[draws.TARGETS]), list(self.gpu.events.drain()), took


def huge(pb: PushBuffer) -> None:
    """Shapes as large as they can be, and nothing to draw to."""
    pb.method("SET_CT_SELECT", TARGET_COUNT=0).method("SET_ZT_SELECT", 0)
    pb.method("SET_SURFACE_CLIP_HORIZONTAL", X=0, WIDTH=BIG).method("SET_SURFACE_CLIP_VERTICAL", Y=0, HEIGHT=BIG)
    pb.method("SET_VIEWPORT_SCALE_X", 0, BIG / 2, BIG / 2, 1.0, BIG / 2, BIG / 2, 0.0)
    pb.method("SET_VIEWPORT_CLIP_HORIZONTAL", 0, X0=0, WIDTH=BIG)
    pb.method("SET_VIEWPORT_CLIP_VERTICAL", 0, Y0=0, HEIGHT=BIG)


def finely(pb: PushBuffer) -> None:
    """Patches of one vertex that become thousands of triangles."""
    pb.method("SET_TESSELLATION_LOD_U0_OR_DENSITY", *[64.0] * 4).method("SET_PATCH", SIZE=1)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("stage", [VERTEX_A, VERTEX_B, EVALUATION, GEOMETRY, PIXEL])
def test_programs_without_end(stage: int, threads: int) -> None:
    """In whichever stage: one warp takes its steps, then the draw is over."""
    machine = Machine(threads)
    before = machine.draw(PLAIN)[0]
    assert any(before)
    programs = dict(PLAIN)
    if stage == VERTEX_A:
        programs[VERTEX_A] = Program(draws.FIRST.text + LOOP, draws.FIRST.fields)
    elif stage == PIXEL:
        programs[PIXEL] = ENDLESS
    else:
        program = {VERTEX_B: draws.PLAIN, EVALUATION: draws.EVALUATING, GEOMETRY: draws.EMITTING}[stage]
        programs[stage] = Program(program.text + LOOP, program.fields)
    patches = stage == EVALUATION
    _, events, _ = machine.draw(programs, PATCHES if patches else 4)  # whatever has to be compiled is there now
    _, again, took = machine.draw(programs, PATCHES if patches else 4)
    for found in (events, again):
        hangs = [event for event in found if event.kind == "hang"]
        assert 1 <= len(hangs) <= threads and {event.id for event in hangs} == {"draw.hang"}
        assert all(f"{LIMIT} instructions and no end" in event.message for event in hangs)
    assert took < 10  # a third of a second where nothing else runs
    assert machine.draw(PLAIN)[:2] == (before, [])


def test_shapes_that_are_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_AREA", 1 << 19)
    programs = {VERTEX_B: draws.PLAIN}

    def streams(pb: PushBuffer) -> None:
        huge(pb)
        draws.stream_out(pb)

    for change in (huge, streams):  # in one call of native code, and stage by stage
        machine = Machine()
        _, events, _ = machine.draw(programs, count=96, change=change)
        (event,) = events
        assert (event.kind, event.id) == ("hang", "draw.hang") and "more than 134217728 pixels" in event.message
        assert event.at.startswith("s0/e0+")
        found, events, _ = machine.draw(PLAIN)
        assert any(found) and not events


def test_primitives_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drawing, "MOST_PRIMITIVES", 10_000)
    machine = Machine()
    programs = {VERTEX_B: draws.PLAIN, EVALUATION: draws.EVALUATING, PIXEL: draws.SHADED}
    assert machine.draw(programs, PATCHES, 1, finely)[1] == []
    _, events, took = machine.draw(programs, PATCHES, 1 << 20, finely)
    (event,) = events
    assert (event.kind, event.id) == ("hang", "draw.hang") and "more than 10000 primitives" in event.message
    assert took < 10


def test_all_warps_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that end, but run for too many pixels."""
    machine = Machine()
    machine.gpu.drawing.programs.budget = 100_000
    looping = draws.LOOPING.text.replace("MOV32I R8, 0x8", "MOV32I R8, 0x800")
    found, events, _ = machine.draw({VERTEX_B: draws.PLAIN, PIXEL: Program(looping, draws.LOOPING.fields)})
    assert any(found)  # what came before is there
    (event,) = events
    assert (event.kind, event.id) == ("hang", "draw.hang") and "more than 100000 instructions" in event.message


def test_macros_that_draw_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """What engines act upon takes longer than instructions of a macro, and counts for more."""
    monkeypatch.setattr(channel, "MOST_EFFECTS_SHIFT", 6)
    machine = Machine()
    machine.gpu.macro_budget = 1 << 20
    code = assemble(f"maddr {B197['DRAW_VERTEX_ARRAY'].word:#x}\nbra .\nsend r0")
    _, events, _ = machine.draw(
        PLAIN, change=lambda pb: pb.upload_macro(0, code, 0).method("BEGIN", OP=4).call_macro(0, 3).method("END", 0)
    )
    (event,) = events
    assert (event.kind, event.id) == ("hang", "mme.endless") and "64 draws" in event.message
    assert 60 <= machine.gpu.stats.draws <= 70 and machine.gpu.stats.macro_steps < 1000
