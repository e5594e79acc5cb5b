"""Draws find what was prepared for earlier ones exactly while all that was read for it is the same."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support import reads
from support.fuzz import load
from support.output_case import Case

from pocketgpu.builder.maxwell import PushBuffer, Surface, shader
from pocketgpu.errors import UsageError
from pocketgpu.facts.choices import choose
from pocketgpu.facts.maxwell import B197
from pocketgpu.maxwell.engines.common.state import RecordingState, State
from pocketgpu.maxwell.engines.threed.draws import shaders_of
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.input.vertex_input import InputShape
from pocketgpu.maxwell.graphics.output.state import OutputState
from pocketgpu.maxwell.graphics.programs.headers import PERSPECTIVE, layout_of
from pocketgpu.maxwell.graphics.raster.raster_state import RasterEncoder, left_out, pixel_inputs
from pocketgpu.maxwell.graphics.records import ATTRIBUTE_SPACE, RASTER, VIEWPORT, VIEWPORT_COUNT
from pocketgpu.maxwell.host.dispatch import CODE

fuzz = load("quick_draws")

WIDTH, HEIGHT = 64, 32
PROGRAMS, VERTICES, CONSTANTS, COLOUR, WORDS = (0x5_0000_0000 + n * 0x10_0000 for n in range(5))
VERTEX = """
    ALD.128 R0, a[0x80]
    FADD R0, R0, c[0x1][0x0]
    AST.128 a[0x70], R0
    ALD.128 R4, a[0x90]
    ALD R8, a[0x2f8]
    I2F.F32.S32 R8, R8
    FFMA R4, R8, c[0x1][0x4], R4
    AST.128 a[0x80], R4
    EXIT
"""
PIXEL = """
    IPA.PASS R4, a[0x7c], RZ
    MUFU.RCP R4, R4
    IPA R0, a[0x80], R4
    IPA R1, a[0x84], R4
    FADD R2, R0, c[0x2][0x0]
    MOV32I R3, 0x3f800000
    EXIT
"""


class Guest:
    """A machine and what its draws need."""

    def __init__(self, always_prepared: bool = False) -> None:
        self.gpu = fuzz.AlwaysPrepared() if always_prepared else GM20B()
        self.gpu.drawing.tier = "specialised"  # as long as better code may come, nothing is found
        self.gpu.drawing.quick.on, self.gpu.drawing.quick.at_once = False, True
        for address in (PROGRAMS, VERTICES, CONSTANTS, COLOUR, WORDS):
            self.gpu.map(address, 0x10_0000)
        self.programs = {}
        for n, (stage, text) in enumerate((("vertex", VERTEX), ("pixel", PIXEL))):
            self.programs[stage] = PROGRAMS + n * 0x1000
            self.gpu.memory.write(self.programs[stage], shader(stage, text, inputs=[0x2F8] if n == 0 else ()).image)
        rng = np.random.default_rng(3)
        vertices = rng.random((64, 8)).astype(np.float32)
        vertices[:, :2] = vertices[:, :2] * 2.4 - 1.2
        vertices[:, 2], vertices[:, 3] = 0.5, 1
        self.gpu.memory.write(VERTICES, vertices.tobytes())
        self.gpu.memory.write(VERTICES + 0x8000, np.arange(64, dtype=np.uint16)[::-1].tobytes())

    def begin(self) -> PushBuffer:
        pb = PushBuffer().bind("3D").render_target(0, Surface(COLOUR, WIDTH, HEIGHT)).viewport(0, 0, WIDTH, HEIGHT)
        pb.method("SET_RASTER_ENABLE", 1).method("SET_CT_SELECT", TARGET_COUNT=1).method("SET_CT_WRITE", 0, 0x1111)
        pb.shaders(self.programs).constants("vertex", 1, CONSTANTS, 256).constants("pixel", 2, CONSTANTS, 256)
        pb.stream(0, VERTICES, 32).attribute(0, 0, 0, "R32_G32_B32_A32").attribute(1, 0, 16, "R32_G32_B32_A32")
        return pb.method("SET_CONSTANT_BUFFER_SELECTOR_A", 256).address("SET_CONSTANT_BUFFER_SELECTOR_B", CONSTANTS)

    def submit(self, pb: PushBuffer) -> bytes:
        self.gpu.memory.write(WORDS, pb.words.tobytes())
        self.gpu.submit([WORDS | len(pb.words) << 42])
        self.gpu.finish()
        assert not list(self.gpu.events)
        return self.gpu.memory.read(COLOUR, 0x4000)


def filled(pb: PushBuffer, target: int, value: int) -> PushBuffer:
    """A word written by the copy engine."""
    return pb.bind("b0b5").fill(target, value, 1).bind("3D")


def random_buffer(guest: Guest, seed: int) -> PushBuffer:
    """Draws, most of them alike, with all kinds of writes between."""
    r = random.Random(seed)
    pb = guest.begin()
    for _ in range(60):
        match r.randrange(14):
            case 0:
                pb.method("LOAD_CONSTANT_BUFFER_OFFSET", 4 * r.randrange(2))
                pb.method("LOAD_CONSTANT_BUFFER", 0, r.uniform(-0.3, 0.3))
            case 1:
                pb.clear((r.random(), 0, 1, 1))
            case 2:
                filled(pb, CONSTANTS, int(np.float32(r.uniform(-0.3, 0.3)).view(np.uint32)))
            case 3:
                pb.method("SET_BLEND", 0, r.randrange(2))
            case 4:
                pb.draw_indexed("TRIANGLES", VERTICES + 0x8000, 3 * r.randrange(1, 4), r.randrange(8))
            case 5:
                pb.inline(VERTICES + 32 * r.randrange(8), np.array([r.uniform(-1, 1)], np.float32))
            case 6:
                pb.method("SET_GLOBAL_BASE_VERTEX_INDEX", r.randrange(4))
            case 7:
                pb.draw("TRIANGLES", 3, r.randrange(8), instances=3)
            case _:
                pb.draw(r.choice(["TRIANGLES", "TRIANGLES", "TRIANGLE_STRIP"]), 3 * r.randrange(1, 4), r.randrange(8))
    return pb


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_draws_and_writes(seed: int) -> None:
    shown = []
    for guest in (Guest(), Guest(always_prepared=True)):
        pb = random_buffer(guest, seed)
        shown.append([guest.submit(pb) for _ in range(2)])
        if len(shown) == 1:
            assert guest.gpu.drawing.quick.found >= 20  # or the test would prove nothing
    assert shown[0] == shown[1] and guest.gpu.drawing.quick.found == 0


def test_what_makes_a_draw_another_one() -> None:
    """One draw after another, and for each kind of write whether the second finds what is prepared."""
    guest = Guest()
    quick = guest.gpu.drawing.quick
    guest.submit(guest.begin().draw("TRIANGLES", 3).draw("TRIANGLES", 3))
    for between, found in (
        (lambda pb: pb, True),
        (lambda pb: pb.method("LOAD_CONSTANT_BUFFER", 0, 0.25), True),
        (lambda pb: filled(pb, VERTICES + 0x9000, 1), True),
        (lambda pb: pb.method("SET_STENCIL_FUNC", 3), True),  # no stencil test is on
        (lambda pb: pb.method("SET_BLEND", 0, 1), False),
        (lambda pb: pb.method("SET_BLEND_COLOR_OP", 2), False),  # blending is on
        (lambda pb: pb.method("SET_BLEND", 0, 0), True),
        (lambda pb: pb.method("SET_BLEND_COLOR_OP", 1), True),
        (lambda pb: pb.constants("vertex", 1, CONSTANTS + 256, 256), True),
        (lambda pb: pb.stream(0, VERTICES + 32, 32), False),
    ):
        before = quick.found
        guest.submit(between(guest.begin()).draw("TRIANGLES", 3, 6))
        assert quick.found - before == found


def test_indices_of_their_own_are_never_found() -> None:
    """A first draw of a strip brings its indices in the pushbuffer; the next one has none."""
    guest = Guest()
    pb = guest.begin().draw_inline("TRIANGLE_STRIP", range(4))
    guest.submit(pb.draw("TRIANGLE_STRIP", 4).draw_inline("TRIANGLE_STRIP", range(4)).draw("TRIANGLE_STRIP", 4, 2))
    assert guest.gpu.stats.draws == 4 and guest.gpu.drawing.quick.found == 1


def test_draws_of_one_method_are_found() -> None:
    """Those that are BEGIN, draw and END in one always come to Python."""
    guest = Guest()
    guest.gpu.drawing.quick.on = True
    pb = guest.begin().draw("TRIANGLES", 3)
    for n in range(4):
        fields = {"START_INDEX": 3 * n, "COUNT": 3, "TOPOLOGY": 4}
        pb.method("DRAW_VERTEX_ARRAY_BEGIN_END_INSTANCE_FIRST", **fields)
    guest.submit(pb)
    quick = guest.gpu.drawing.quick
    assert (quick.made, quick.found) == (0, 4)


def _fixed(found: object) -> object:
    """A result in a form that compares."""
    if isinstance(found, np.ndarray):
        return found.tobytes()
    if isinstance(found, list | tuple):
        return [_fixed(one) for one in found]
    return _fixed(list(vars(found).values())) if isinstance(found, OutputState | InputShape) else found


@pytest.mark.parametrize("seed", range(8))
def test_what_is_not_read_does_not_count(seed: int) -> None:
    """Parts of a plan, from registers of any value: words that were not read may hold anything."""
    choices, header = choose(), Case({}, outputs=(15,) * 8, kills=True, gives_mask=True).header()
    inputs = dict.fromkeys(range(0x80, 0x3A0, 4), PERSPECTIVE)
    read_by = layout_of(range(0, ATTRIBUTE_SPACE, 4)).read
    vertex_input = GM20B().drawing.vertex_input

    def raster(state: State) -> object:
        record, viewports = (
            np.zeros(RASTER.size // 4, np.int32),
            np.zeros(VIEWPORT.size // 4 * VIEWPORT_COUNT, np.int32),
        )
        RasterEncoder(choices).encode(state, read_by, record, viewports)
        return record, viewports, pixel_inputs(state, inputs, read_by).table, left_out(state)

    def vertex(state: State) -> object:
        plan = vertex_input.plan(state, 4, 2, True, InputShape.of(state), 0, 1, 0)
        return plan.words, plan.entries, plan.uses_start, plan.adds_base

    r = random.Random(seed)
    for make in (
        shaders_of,
        raster,
        vertex,
        InputShape.of,
        lambda state: OutputState.of(state, header, choices, True),
    ):
        for _ in range(6):
            registers = reads.wild_registers(r)
            state = RecordingState(B197, registers)
            try:
                found = _fixed(make(state))
            except UsageError:
                continue
            assert 0 < state.read.sum() < 1500
            other = np.where(state.read, registers, reads.wild_registers(r))
            again = RecordingState(B197, other)
            assert _fixed(make(again)) == found and (again.read == state.read).all()


@pytest.mark.parametrize("seed", range(4))
def test_a_quick_draw_does_not_mind_what_was_not_read(seed: int) -> None:
    """All registers that no draw has read get other values: the next draw is quick and equals a prepared one."""
    r = random.Random(seed)
    switched = [("SET_BLEND", r.randrange(2)), ("SET_DEPTH_TEST", r.randrange(2)), ("SET_STENCIL_TEST", r.randrange(2))]
    quick, prepared = fuzz.Stage("quick"), fuzz.Stage("prepared")
    programs = fuzz.draws.VERTEX_B, fuzz.draws.PIXEL

    def draw(pb: PushBuffer) -> PushBuffer:
        return pb.method("BEGIN", OP=4).method("DRAW_VERTEX_ARRAY", 12).method("END", 0)

    first = PushBuffer()
    fuzz.draws.state(first)
    fuzz.draws.stages(first, set(programs))
    for name, value in switched:
        first.method(name, 0, value) if name == "SET_BLEND" else first.method(name, value)
    draw(first)
    quick.run(fuzz.Case([fuzz.Step(first.words)], (1, 1), True))
    assert quick.gpu.drawing.quick.reads, "the draw has no entry"
    kept = np.zeros(0xE00, bool)
    kept[np.concatenate(quick.gpu.drawing.quick.reads)] = True
    stored = np.isin(quick.gpu.codes[0, :0xE00], (CODE["plain"], CODE["tracked"]))
    wild, second = reads.wild_registers(r), PushBuffer()
    second.bind("3D")
    for method in B197:
        # These are taken by each draw, or written by the test itself.
        if method.name in ("SET_VERTEX_ARRAY_START", "SET_MME_SHADOW_RAM_CONTROL"):
            continue
        for word in method.words():
            if word < 0xE00 and stored[word] and not kept[word]:
                second.write(word, int(wild[word]))
    case = fuzz.Case([fuzz.Step(first.words), fuzz.Step(draw(second).words)], (1, 1), True)
    one, other = quick.run(case), prepared.run(case)
    assert [key for key in other if one[key] != other[key]] == []
    assert quick.gpu.drawing.quick.made == 1
