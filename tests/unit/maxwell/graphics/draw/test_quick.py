"""Quick draws: which are, which are not, and that nobody can tell; tests/fuzz/quick_draws.py has any order of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from support import switch_draws as draws
from support.fuzz import load
from support.switch_draws import PIXEL, VERTEX_B

from pocketgpu.builder.maxwell import PushBuffer, Surface
from pocketgpu.lanes import I32
from pocketgpu.maxwell.engines.threed.draws import Draw
from pocketgpu.maxwell.graphics.draw import quick_table
from pocketgpu.maxwell.graphics.draw.crew import CREW, Crew, serve
from pocketgpu.maxwell.graphics.draw.native import WALK
from pocketgpu.maxwell.graphics.raster.pixel_blocks import raster_shapes
from pocketgpu.maxwell.host import channel
from pocketgpu.maxwell.host.log import Log
from pocketgpu.maxwell.mme.assembler import assemble

fuzz = load("quick_draws")
PLAIN, NUMBERED = range(2)
COUNTING, SHADED, TEXTURED, MANY, LOADING, HANGING, KILLING = range(7)
Build = Callable[[PushBuffer], object]


@cache
def stages(evaluator: str = "llvm", threads: int = 1) -> tuple[Any, Any]:
    """A machine with quick draws, one that prepares each draw again."""
    return fuzz.Stage("quick", evaluator, threads), fuzz.Stage("prepared", evaluator, threads)


def begin(pb: PushBuffer) -> None:
    draws.state(pb)
    draws.stages(pb, {VERTEX_B, PIXEL})
    pb.method("SET_DEPTH_TEST", 0).method("SET_ZPASS_PIXEL_COUNT", 0)
    pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 0x100)
    pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", draws.CONSTANTS + 0x100)


def draw(pb: PushBuffer, count: int = 12, first: int = 0, **fields: int) -> None:
    pb.method("BEGIN", **{"OP": 4, **fields}).method("SET_VERTEX_ARRAY_START", first)
    pb.method("DRAW_VERTEX_ARRAY", count).method("END", 0)


def indexed(pb: PushBuffer, count: int = 12, first: int = 0) -> None:
    pb.method("BEGIN", OP=4).method("SET_INDEX_BUFFER_F", first).method("DRAW_INDEX_BUFFER", count).method("END", 0)


def inline(pb: PushBuffer) -> None:
    """Python's business."""
    pb.method("BEGIN", OP=4).method("DRAW_INLINE_INDEX2X16", 1 << 16, 2 | 3 << 16, 4 | 5 << 16, form="non_inc")
    pb.method("END", 0)


def program(pb: PushBuffer, stage: int, number: int) -> None:
    n = number if stage == VERTEX_B else len(fuzz.VERTEX) + number
    pb.method("SET_PIPELINE_PROGRAM", stage, fuzz.SPARE - draws.PROGRAMS + draws.PROGRAM_ROOM * n)


def same(
    *builds: Build, programs: tuple[int, int] = (PLAIN, SHADED), machines: tuple[Any, Any] | None = None,
    at_once: bool = True, remap: bool = False,
) -> tuple[int, Any]:  # fmt: skip
    """Submissions on a machine with quick draws and on one without: the same. Returns how many were quick, and the
    machine."""
    steps = []
    for n, build in enumerate(builds):
        pb = PushBuffer()
        if n == 0:
            begin(pb)
        build(pb)
        steps.append(fuzz.Step(pb.words, remap=remap and n > 0))
    found = [stage.run(fuzz.Case(steps, programs, at_once)) for stage in machines or stages()]
    assert [key for key in found[1] if found[0][key] != found[1][key]] == []
    gpu = (machines or stages())[0].gpu
    return gpu.drawing.quick.made, gpu


def test_the_third_draw_in_a_state_is_quick() -> None:
    def three(pb: PushBuffer) -> None:
        for n in range(5):
            draw(pb, 3, 3 * n)

    made, gpu = same(three, at_once=False)
    assert made == 3 and gpu.stats.draws == 5 and [d.first for d in gpu.log] == [0, 3, 6, 9, 12]
    assert same(three)[0] == 4


def test_states_come_back() -> None:
    """Programs, indices, topologies, bindings, and Python's own draws between them."""

    def some(pb: PushBuffer) -> None:
        for n in range(24):
            program(pb, VERTEX_B, n % 2)
            pb.method("SET_BLEND", 0, n // 2 % 2)
            (draw, indexed)[n // 4 % 2](pb, 6, n % 3)
            if n % 5 == 4:
                program(pb, VERTEX_B, n // 5 % 2)
                inline(pb)

    def again(pb: PushBuffer) -> None:
        for n in range(6):
            # Kernels leave one program set up; Python's next draw has another, in a state of its own.
            for which in (0, 1):
                program(pb, VERTEX_B, which)
                pb.method("SET_BLEND", 0, 0)
                draw(pb, 6, n)
            program(pb, VERTEX_B, n % 2)
            pb.method("SET_BLEND_CONST_RED", n / 4)
            draw(pb, 6, 1)
            program(pb, VERTEX_B, n % 2)
            inline(pb)

    made, gpu = same(some, again)
    assert made >= 16 and gpu.stats.draws == 52


def test_constants_that_change() -> None:
    def some(pb: PushBuffer) -> None:
        for n in range(8):
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 4).method("LOAD_CONSTANT_BUFFER", 0, 0.01 * n)
            draw(pb)

    assert same(some, programs=(NUMBERED, SHADED))[0] == 7


def test_constants_without_any_target() -> None:
    """Even then later words are newer than what was copied."""

    def some(pb: PushBuffer) -> None:
        pb.method("SET_CT_SELECT", TARGET_COUNT=0).method("SET_ZT_SELECT", 0).method("SET_ZPASS_PIXEL_COUNT", 1)
        for n in range(8):
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 4).method("LOAD_CONSTANT_BUFFER", 0, 0.05 * n)
            draw(pb)
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 4).method("LOAD_CONSTANT_BUFFER", 0, 0.5)
            draw(pb)

    assert same(some, programs=(NUMBERED, SHADED))[0] == 15


def test_bindings_of_other_sizes() -> None:
    def some(pb: PushBuffer) -> None:
        for n in range(12):
            size = (0x100, 4, 0x100, 0)[n % 4]
            pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", size)
            pb.method("BIND_GROUP_CONSTANT_BUFFER", 0, VALID=int(size > 0), SHADER_SLOT=1)
            draw(pb)

    assert same(some, programs=(NUMBERED, SHADED))[0] == 11


def test_programs_that_are_written_to() -> None:
    """And are the same again later."""

    def some(pb: PushBuffer) -> None:
        for n in (0, 1, 0, 1):
            pb.bind("b0b5").copy(fuzz.SPARE + draws.PROGRAM_ROOM * n, draws.PROGRAMS + draws.PROGRAM_ROOM, 0x400)
            pb.bind("3D")
            for first in range(4):
                draw(pb, 6, first)

    assert same(some)[0] == 12


@pytest.mark.parametrize("topology", [4, draws.PATCHES])
def test_rooms_of_programs_that_move(topology: int) -> None:
    """A geometry program that takes room moves the pixel program, between draws in one walk, also if it is refused."""
    program = draws.EMITTING.data(draws.GEOMETRY)
    where = draws.PROGRAMS + draws.PROGRAM_ROOM * draws.GEOMETRY

    def some(pb: PushBuffer) -> None:
        for n in range(8):
            on = n == 3
            draws.stages(pb, {VERTEX_B, PIXEL, *([draws.GEOMETRY] if on else [])})
            draw(pb, 6, n % 3, OP=topology if on else 4)

    pb = PushBuffer()
    begin(pb)
    some(pb)
    case = fuzz.Case([fuzz.Step(pb.words, ((where, program),))], (PLAIN, SHADED), True)
    found, expected = (stage.run(case) for stage in stages())
    assert [key for key in expected if found[key] != expected[key]] == []
    gpu = stages()[0].gpu
    assert gpu.drawing.programs.moves and gpu.drawing.quick.made == 5


def test_textures_that_change() -> None:
    """By the copy engine, as a target of the draws themselves, and by other pools."""

    def some(pb: PushBuffer) -> None:
        for n in range(6):
            draw(pb)
            draw(pb, 6)
            if n == 2:
                pb.bind("b0b5").copy(draws.TARGETS, draws.TEXELS, 0x400).bind("3D")
            pb.method("SET_TEX_HEADER_POOL_C", (63, 62)[n // 2 % 2])
        pb.render_target(0, Surface(draws.TEXELS & -0x200, 16, 16, block_height_log2=0))
        for n in range(4):
            draw(pb, 6, n)

    made, _ = same(some, programs=(PLAIN, TEXTURED))
    assert 2 <= made <= 10


def test_mappings_that_change() -> None:
    def some(pb: PushBuffer) -> None:
        pb.render_target(0, Surface(fuzz.ALIAS, draws.WIDTH, draws.HEIGHT, block_height_log2=1))
        for n in range(3):
            draw(pb, 6, n)

    assert same(some, some, some, remap=True)[0] == 6


@pytest.mark.parametrize("which", [LOADING, HANGING])
def test_programs_that_fail(which: int) -> None:
    """They are reported where they fail, and others go on."""

    def some(pb: PushBuffer) -> None:
        for n in range(6):
            bad = n in (2, 3)
            pb.inline(draws.CONSTANTS, np.array([0x3400000 if bad else draws.OUT & 0xFFFFFFFF], np.uint32))
            pb.inline(draws.CONSTANTS + 0x120, np.array([1 << 20 if bad else 2], np.uint32))
            draw(pb, 3 + 3 * n)

    made, gpu = same(some, programs=(PLAIN, which))
    assert made == 5 and list(gpu.events)


def test_numbers_of_primitives_and_instances() -> None:
    def some(pb: PushBuffer) -> None:
        for n in range(12):
            draw(pb, 6, 0, INSTANCE_ID=min(n % 3, 1), PRIMITIVE_ID=int(n in (5, 6)))
        pb.method("BEGIN", OP=4)
        for n in range(3):
            pb.method("SET_VERTEX_ARRAY_START", 3 * n).method("DRAW_VERTEX_ARRAY", 6)
        pb.method("END", 0).method("DRAW_VERTEX_ARRAY", 3)

    made, gpu = same(some, programs=(NUMBERED, COUNTING))
    assert [d.first_primitive for d in gpu.log][-3:] == [0, 2, 4] and made == 10


def test_indices_in_the_pushbuffer() -> None:
    """What BEGIN resets, and a repeat that is none."""

    def some(pb: PushBuffer) -> None:
        for _ in range(3):
            draw(pb)
            pb.method("SET_INLINE_INDEX2X16_ALIGN", START_ODD=1, COUNT=3)
            draw(pb)
            inline(pb)
            draw(pb)
            pb.method("SET_INLINE_INDEX2X16_ALIGN", START_ODD=1, COUNT=3).method("BEGIN", OP=4)
            pb.method("SET_VERTEX_ARRAY_START", 3).method("DRAW_VERTEX_ARRAY", 3)
            pb.method("DRAW_INLINE_INDEX2X16", 0, 1 << 16, form="non_inc").method("END", 0)

    assert same(some)[0] >= 8


def test_conditions_and_counters() -> None:
    def some(pb: PushBuffer) -> None:
        pb.address("SET_RENDER_ENABLE_A", draws.OUT + 0x800)
        for n in range(8):
            pb.semaphore_release(draws.OUT + 0x800, n & 1)
            pb.method("SET_RENDER_ENABLE_C", 2 if n < 4 else 1)
            pb.method("SET_STATISTICS_COUNTER", 0xFFFF if n == 5 else 0).method("SET_ZPASS_PIXEL_COUNT", n >> 1 & 1)
            draw(pb, 6)
            pb.report(draws.OUT + 0xC00 + 16 * n, 0, four_words=True, REPORT="ZPASS_PIXEL_CNT64")

    assert same(some)[0] >= 1


def test_macros_pay_for_quick_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that draws forever ends when it ended before."""
    monkeypatch.setattr(channel, "MOST_EFFECTS_SHIFT", 6)
    endless = """
        maddr @BEGIN
        send r1
    again:
        maddr @DRAW_VERTEX_ARRAY
        bra again
        send r1
    """
    several = """
    again:
        maddr @BEGIN
        send r1
        maddr @DRAW_VERTEX_ARRAY
        send r1
        maddr @END
        bra again
        send r0
    """
    for text in (endless, several):

        def some(pb: PushBuffer, text: str = text) -> None:
            pb.upload_macro(0, assemble(text), 0)
            draw(pb)
            pb.call_macro(0, 4)
            draw(pb)

        made, gpu = same(some)
        assert [event.id for event in gpu.events] == ["mme.endless"] and gpu.stats.draws > 15
    assert made > 10


def test_logs_of_draws_that_differ_much() -> None:
    """Files of registers are kept whole where many words differ; there is no room for all of them."""

    def some(pb: PushBuffer) -> None:
        scratch = fuzz.PushBuffer().find("SET_MME_SHADOW_SCRATCH")
        for n in range(140):
            pb.packet("inc", scratch.word + 4, [n + 1] * 100)
            draw(pb, 3, n % 8)

    assert same(some)[0] > 120


def test_states_beyond_what_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_table, "MOST_ENTRIES", 3)

    def some(pb: PushBuffer) -> None:
        for n in range(30):
            pb.method("SET_GLOBAL_BASE_VERTEX_INDEX", n)
            pb.address("SET_VERTEX_STREAM_A_LOCATION_A", 0, draws.VERTICES + 32 * (n % 5))
            draw(pb, 3)
            draw(pb, 3, 1)

    assert same(some)[0] >= 20


def test_threads_share_what_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz.drawing, "SHARE_VERTICES", 8)
    monkeypatch.setattr(fuzz.drawing, "SHARE_AREA", 2)

    def some(pb: PushBuffer) -> None:
        pb.method("SET_ZPASS_PIXEL_COUNT", 1)
        for n in range(8):
            draw(pb, (3, 12)[n & 1], n)
            pb.report(draws.OUT + 0xC00 + 16 * n, 0, four_words=True, REPORT="ZPASS_PIXEL_CNT64")

    assert same(some, machines=stages(threads=2))[0] == 7


@pytest.mark.parametrize("pixel", [COUNTING, TEXTURED, LOADING, HANGING])
def test_a_helper_draws_half(pixel: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes every second job, in this thread, before the other half is drawn; the rest come too late for it."""
    machines = stages(threads=2)[0], stages()[1]
    engine, jobs = machines[0].gpu.engine, []
    def words(crew: Crew) -> Any:
        return crew.memory.words(crew.at, CREW.size // 4)

    def draw_part(raster: int, region: int, slot: int, fragments: int, part: int, parts: int) -> None:
        if part == 0 and parts == 2:
            jobs.append(slot)
            if len(jobs) & 1:
                record = words(machines[0].gpu.drawing.crew)
                record[CREW.STOP // 4] = 1
                engine.get(serve)(machines[0].gpu.drawing.crew.at, 1)
                record[CREW.THERE // 4] = 1
        engine.get(raster_shapes, multi=False)(raster, region, slot, fragments, part, parts)

    handle, make = engine.callback(draw_part, *[I32] * 6), fuzz.drawing.Drawing._walk_record

    def record(drawing: Any, *key: Any) -> Any:
        found = make(drawing, *key)
        if drawing.crew.able:
            found[WALK.RASTER_SHAPES // 4 :][:2].view(np.int64)[0] = handle
        return found

    def come(crew: Crew) -> None:
        if crew.able:
            words(crew)[CREW.THERE // 4] = 1

    monkeypatch.setattr(fuzz.drawing, "HELP_AREA", 1)
    monkeypatch.setattr(fuzz.drawing.Drawing, "_walk_record", record)
    monkeypatch.setattr(Crew, "come", come)
    monkeypatch.setattr(Crew, "run", lambda crew: None)  # a real helper would take jobs, too

    def some(pb: PushBuffer) -> None:
        pb.method("SET_ZPASS_PIXEL_COUNT", 1)
        for n in range(8):
            draw(pb, 12, n)
            pb.report(draws.OUT + 0xC00 + 16 * n, 0, four_words=True, REPORT="ZPASS_PIXEL_CNT64")

    made, _ = same(some, programs=(NUMBERED, pixel), machines=machines)
    assert made == 7 or pixel in (LOADING, HANGING)
    assert len(jobs) >= (7 if made else 1)


def test_the_oracle_does_it_too() -> None:
    def some(pb: PushBuffer) -> None:
        for n in range(3):
            pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 4).method("LOAD_CONSTANT_BUFFER", 0, 0.01 * n)
            (draw, indexed)[n == 2](pb, 3, n)

    assert same(some, programs=(NUMBERED, SHADED), machines=stages("numpy"))[0] == 1


def test_two_channels() -> None:
    """Each has registers, bindings and states of its own, though they look alike."""
    steps = []
    for n in range(6):
        pb = PushBuffer()
        if n < 2:
            begin(pb)
            pb.address("SET_CONSTANT_BUFFER_SELECTOR_B", draws.CONSTANTS + 0x100 - 0x40 * n)
            pb.method("BIND_GROUP_CONSTANT_BUFFER", 0, VALID=1, SHADER_SLOT=1)
        for first in range(3):
            draw(pb, 6, first)
        steps.append(fuzz.Step(pb.words, channel=n % 2))
    one, other = (stage.run(fuzz.Case(steps, (NUMBERED, SHADED), True)) for stage in stages())
    assert [key for key in other if one[key] != other[key]] == []
    assert stages()[0].gpu.drawing.quick.made == 16 and len(stages()[0].gpu.channels) == 2


def test_it_can_be_turned_off() -> None:
    stage = stages()[0]
    same(lambda pb: [draw(pb) for _ in range(3)])
    quick = stage.gpu.drawing.quick
    made = quick.made
    pb = PushBuffer()
    for _ in range(3):
        draw(pb)
    stage.gpu.memory.write(fuzz.CODE, pb.words.tobytes())
    for on, more in ((True, 3), (False, 0)):
        quick.on, made = on, quick.made
        for _ in range(2):
            stage.gpu.submit([fuzz.CODE | len(pb.words) << 42])
        assert (quick.made - made >= more) if more else quick.made == made


def test_a_log_is_a_list() -> None:
    _, gpu = same(lambda pb: [draw(pb, 3, n) for n in range(6)])
    log = gpu.log
    assert len(log) == 6 and isinstance(log[-1], Draw) and [d.first for d in reversed(log)] == [5, 4, 3, 2, 1, 0]
    assert log[1] is log[1] and [d.first for d in log[1:3]] == [1, 2]
    del log[0]
    log.insert(0, "x")
    log[1] = "y"
    assert log.pop(0) == "x" and log[0] == "y" and len(log) == 5
    log.clear()
    assert log == [] and not log and log == Log() and log != [1] and repr(Log([1])) == "Log([1])"
