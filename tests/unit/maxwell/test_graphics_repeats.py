"""Draws that repeat the one before them are told from others: any order of draws and writes leaves the same bytes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pocketgpu.builder.maxwell import PushBuffer, Surface, shader
from pocketgpu.maxwell.gm20b import GM20B
from pocketgpu.maxwell.graphics.draw.repeats import Repeats

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

    def __init__(self) -> None:
        self.gpu = GM20B()
        self.gpu.drawing.tier = "specialised"  # as long as better code may come, no draw repeats another
        self.gpu.drawing.quick.on = False
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
def test_any_order_of_draws_and_writes(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    found, repeats = [], []
    for on in (True, False):
        original = Repeats.is_one

        def is_one(self: Repeats, draw: object, on: bool = on, original: object = original) -> bool:
            one = on and original(self, draw)  # type: ignore[operator]
            repeats.append(one)
            return one

        with monkeypatch.context() as patch:
            patch.setattr(Repeats, "is_one", is_one)
            guest = Guest()
            pb = random_buffer(guest, seed)
            found.append([guest.submit(pb) for _ in range(2)])
    assert found[0] == found[1]
    assert sum(repeats) >= 5  # or the test would prove nothing


def test_what_makes_a_draw_another_one() -> None:
    """One draw after another, and for each kind of write whether the second is a repeat."""
    guest = Guest()
    guest.submit(guest.begin().draw("TRIANGLES", 3).draw("TRIANGLES", 3))
    repeats = guest.gpu.drawing._repeats
    seen: list[bool] = []
    original = repeats.is_one
    repeats.is_one = lambda draw: seen.append(original(draw)) or seen[-1]  # type: ignore[method-assign, func-returns-value]
    for between, is_one in (
        (lambda pb: pb, True),
        (lambda pb: pb.method("LOAD_CONSTANT_BUFFER", 0, 0.25), False),
        (lambda pb: pb.method("SET_BLEND", 0, 1), False),
        (lambda pb: filled(pb, VERTICES + 0x9000, 1), False),
        (lambda pb: pb.constants("vertex", 1, CONSTANTS + 256, 256), False),
    ):
        seen.clear()
        guest.submit(between(guest.begin().draw("TRIANGLES", 3, 3)).draw("TRIANGLES", 3, 6))
        assert seen[-1] == is_one


def test_indices_of_their_own_make_a_draw_another_one() -> None:
    """A first draw of a strip brings its indices in the pushbuffer; the next one has none."""
    guest = Guest()
    pb = guest.begin().draw_inline("TRIANGLE_STRIP", range(4))
    guest.submit(pb.draw("TRIANGLE_STRIP", 4).draw_inline("TRIANGLE_STRIP", range(4)).draw("TRIANGLE_STRIP", 4, 2))
    assert guest.gpu.stats.draws == 4
